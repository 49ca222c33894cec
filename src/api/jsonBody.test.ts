import { expect, test } from 'vitest';
import { parseJsonBody } from './jsonBody.ts';
import { RequestRefusedError } from './refusal.ts';

test('reads JSON', () => {
  expect(parseJsonBody('{"a":[1,"é"]}')).toEqual({ a: [1, 'é'] });
});

// Positions and words are those of Python 3.11's json module.
test.each([
  ['{"name": ', 9, 'Expecting value'],
  ['', 0, 'Expecting value'],
  ['  ', 2, 'Expecting value'],
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ['[1,]', 3, 'Expecting value'],
  ['{"a":1, }', 8, 'Expecting property name enclosed in double quotes'],
  ['{a:1}', 1, 'Expecting property name enclosed in double quotes'],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['{"a":1 "b"}', 7, "Expecting ',' delimiter"],
  ['[1 2]', 3, "Expecting ',' delimiter"],
  ['"abc', 0, 'Unterminated string starting at'],
  ['"\\', 0, 'Unterminated string starting at'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['"\\x"', 1, 'Invalid \\escape'],
  ['"\\u12"', 2, 'Invalid \\uXXXX escape'],
  ['"\\u1234', 2, 'Invalid \\uXXXX escape'],
  ['{"a":"\\ud83d\\ude00', 13, 'Invalid \\uXXXX escape'],
  ['"\\u12345', 0, 'Unterminated string starting at'],
  ['{"😀":1,}', 7, 'Expecting property name enclosed in double quotes'],
  ['["😀", "😀\\x"]', 8, 'Invalid \\escape'],
  ['{"é": x}', 6, 'Expecting value'],
  ['{"\\u00e9\\n": tru}', 13, 'Expecting value'],
  ['{} x', 3, 'Extra data'],
  ['01', 1, 'Extra data'],
  ['-', 0, 'Expecting value'],
  [`${'['.repeat(64)}`, 64, 'Expecting value'],
  [`x${'['.repeat(100_000)}`, 0, 'Expecting value'],
])('%j fails at %i: %s', (text, at, error) => {
  expect(() => parseJsonBody(text.slice(0, 200_000))).toThrow(RequestRefusedError);
  try {
    parseJsonBody(text);
  } catch (refused) {
    expect(refused).toMatchObject({
      status: 422,
      detail: [
        { type: 'json_invalid', loc: ['body', at], msg: 'JSON decode error', input: {}, ctx: { error } },
      ],
    });
  }
});

const arrays = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);

test.each([
  ['arrays', arrays(65)],
  ['arrays within a member', `{"a":${arrays(64)}}`],
  ['objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['arrays far beyond the stack', arrays(100_000)],
  ['arrays that never end', '['.repeat(100_000)],
  ['a fault that comes after them', `${arrays(65)} x`],
])('%s in more than 64 levels are refused', (_what, text) => {
  const refusal = { status: 400, detail: 'JSON is nested too deeply' };
  expect(() => parseJsonBody(text)).toThrow(expect.objectContaining(refusal));
});

test('64 levels are read, and brackets within a text are none', () => {
  const text = arrays(64, JSON.stringify('['.repeat(100)));
  expect(JSON.stringify(parseJsonBody(text))).toBe(text);
});
