import { describe, expect, test } from 'vitest';
import { isProtocolVersion, normalMarketId, shortMarketId, unknownVersion } from './protocol.ts';

/** The documentation's example of a V2 market. */
const SHORT = '0x017089ce3ba22aaa0a4cba8250b8c8e1eb0000000000000000000000000000';
const LONG = `0x${'ab'.repeat(32)}`;

describe('normalMarketId', () => {
  test.each([
    ['appends the zero byte to 62 digits', SHORT, `${SHORT}00`],
    ['keeps 64 digits', LONG, LONG],
    ['writes digits in lower case', LONG.toUpperCase().replace('0X', '0x'), LONG],
    ['does both', `0x${'AB'.repeat(31)}`, `0x${'ab'.repeat(31)}00`],
    ['leaves 63 digits', `0x${'a'.repeat(63)}`, `0x${'a'.repeat(63)}`],
    ['leaves an id without 0x', 'ab'.repeat(32), 'ab'.repeat(32)],
    ['leaves another text', 'Unknown', 'Unknown'],
  ])('%s', (_shows, text, id) => {
    expect(normalMarketId(text)).toBe(id);
  });
});

test.each([
  ['a padded id', `${SHORT}00`, SHORT],
  ['an id of 64 other digits', LONG, null],
  ['a short id', SHORT, null],
  ['another text that ends in zeros', 'market00', null],
])('shortMarketId of %s', (_shows, id, short) => {
  expect(shortMarketId(id)).toBe(short);
});

test.each([
  ['v1', true, null],
  ['v2', true, null],
  ['v3', false, 'v3'],
  ['V2', false, 'V2'],
  [2, false, '2'],
  ['x'.repeat(50), false, 'x'.repeat(40)],
  ['', false, null],
  [null, false, null],
  [undefined, false, null],
])('the version %j', (value, isKnown, unknown) => {
  expect(isProtocolVersion(value)).toBe(isKnown);
  expect(unknownVersion(value)).toBe(unknown);
});
