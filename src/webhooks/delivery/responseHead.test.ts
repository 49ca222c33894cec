import { expect, test } from 'vitest';
import { escapeHead, HEAD_BYTES_MAX } from './responseHead.ts';

const headOf = (text: string) => escapeHead(Buffer.from(text));

test.each([
  ['of one byte', 'x'],
  ['of three bytes', '€'],
])('of a reply 500 characters are kept, %s each', (_, character) => {
  expect(headOf(character.repeat(501))).toBe(character.repeat(500));
  expect(headOf(character.repeat(HEAD_BYTES_MAX))).toBe(character.repeat(500));
});

test('lines and tabs stay, other control and direction characters are replaced', () => {
  expect(headOf('a\n\tb\r\0\u001b[1m\u202ec')).toBe('a\n\tb\ufffd\ufffd\ufffd[1m\ufffdc');
});

test('markup is escaped, also where the text is cut', () => {
  expect(headOf(`${'x'.repeat(499)}<b>`)).toBe(`${'x'.repeat(499)}&lt;`);
  expect(headOf('')).toBe('');
});
