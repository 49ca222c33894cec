import { expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { JsonBodyParser } from './jsonBody.ts';
import { RequestRefusedError } from './refusal.ts';

const parseJsonBody = (text: string) => new JsonBodyParser().parse(text, 'a user');

test('reads JSON', async () => {
  expect(await parseJsonBody('{"a":[1,"é"]}')).toEqual({ a: [1, 'é'] });
});

test.each(['/v1/paper/strategies/ps_none', '/v1/backtest/bt_none'])(
  'DELETE %s declares no body, and one that is nested too deeply is 400 as everywhere',
  async (url) => {
    const request = { method: 'DELETE', url, payload: '['.repeat(65), headers: KEY } as const;
    const response = await testApi({ store: stubStore() }).inject(request);
    expect([response.statusCode, response.json()]).toEqual([400, { detail: 'JSON is nested too deeply' }]);
  },
);

test('a long body is parsed in parts, with the result of JSON.parse', async () => {
  const texts = [
    '',
    'short',
    'longer than a slice',
    '\\"\n\u00e9😀',
    '\ud800',
    '\u0000',
    '__proto__',
    '7',
    '07',
  ];
  const numbers = [0, -0, 1, -1.5, 1e21, 1e-7, 2 ** 53, 5e-324, 0.1, 123456789012345680000];
  const leaves = [...texts, ...numbers, null, true, false, [], {}];
  const members = leaves.map(
    (leaf, at) => `${JSON.stringify(String(texts[at % texts.length]))}: ${JSON.stringify(leaf)}`,
  );
  const item = `{${members.join(' ,\t')}, "again":[\r\n${leaves.map((leaf) => JSON.stringify(leaf)).join(' , ')}]}`;
  const text = ` [${new Array(200).fill(item).join(',')},-0,1E+5,1e400,-1E-400]\n`;
  expect(text.length).toBeGreaterThan(100_000);
  const read = await parseJsonBody(text);
  expect(read).toStrictEqual(JSON.parse(text));
  expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
  expect(Object.getPrototypeOf((read as object[])[0])).toBe(Object.prototype);
});

test('other work runs while a long body is parsed', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await parseJsonBody(`[${'1,'.repeat(20_000)}1]`);
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(9);
});

// Positions and messages are those of Python 3.11's json module.
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
])('%j fails at %i: %s', async (text, at, error) => {
  const refused = await parseJsonBody(text).catch((reason: unknown) => reason);
  expect(refused).toBeInstanceOf(RequestRefusedError);
  expect(refused).toMatchObject({
    status: 422,
    detail: [
      { type: 'json_invalid', loc: ['body', at], msg: 'JSON decode error', input: {}, ctx: { error } },
    ],
  });
});

const arrays = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);

test.each([
  ['arrays', arrays(65)],
  ['arrays within a member', `{"a":${arrays(64)}}`],
  ['objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['arrays far deeper than the stack', arrays(100_000)],
  ['arrays that never end', '['.repeat(100_000)],
  ['an error after the arrays', `${arrays(65)} x`],
])('%s nested deeper than 64 levels are refused', async (_what, text) => {
  const refusal = { status: 400, detail: 'JSON is nested too deeply' };
  await expect(parseJsonBody(text)).rejects.toMatchObject(refusal);
});

test('64 levels are accepted, and brackets inside a string do not count', async () => {
  const text = arrays(64, JSON.stringify('['.repeat(100)));
  expect(JSON.stringify(await parseJsonBody(text))).toBe(text);
});
