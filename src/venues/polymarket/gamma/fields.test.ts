import { expect, test } from 'vitest';
import { numberOf, positive, textList, timeOf } from './fields.ts';

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  ['["a"]', ['a']],
  ['[]', []],
  ['["a",1]', null],
  [[1], null],
  ['{"a":1}', null],
  ['a', null],
  [null, null],
  [undefined, null],
])('the list of texts in %j is %j', (value, list) => {
  expect(textList(value)).toEqual(list);
});

test.each([
  ['2026-07-24T00:00:16Z', '2026-07-24T00:00:16.000Z'],
  ['2026-07-24T00:00:16.328428Z', '2026-07-24T00:00:16.328Z'],
  ['2026-07-24 00:00:16+00', '2026-07-24T00:00:16.000Z'],
  ['2026-07-24 00:00:16+00:00', '2026-07-24T00:00:16.000Z'],
  ['2026-07-24 00:00:16+0000', '2026-07-24T00:00:16.000Z'],
])('the time %s is %s', (text, iso) => {
  expect(timeOf(text)).toBe(Date.parse(iso));
});

test.each([
  ...['', 'soon', '2026-07-24', '2026-07-24T00:00:16', '2026-07-24T00:00:16+01', '2026-13-24T00:00:16Z'],
  ...['x2026-07-24T00:00:16Z', '2026-07-24T00:00:16Zx', '2026-07-24T00:00:16.Z', '20261-07-24T00:00:16Z'],
  ...[null, undefined],
])('%j is no time', (text) => {
  expect(timeOf(text)).toBeNull();
});

test.each([
  [1.5, 1.5, 1.5],
  ['1.5', 1.5, 1.5],
  [0, 0, null],
  ['0', 0, null],
  [-1, -1, null],
  ['', null, null],
  [' ', null, null],
  ['x', null, null],
  [Number.NaN, null, null],
  [Number.POSITIVE_INFINITY, null, null],
  [null, null, null],
  [undefined, null, null],
])('the number in %j is %j, the price %j', (value, number, price) => {
  expect(numberOf(value)).toBe(number);
  expect(positive(value)).toBe(price);
});

test.each([true, {}, [1], [[1]]])('%j is no price', (value) => {
  expect(positive(value)).toBeNull();
});
