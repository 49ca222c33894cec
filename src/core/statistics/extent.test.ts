import { expect, test } from 'vitest';
import { extentOf } from './extent.ts';

test('the extent of numbers is from the least to the greatest, also of more than a call takes arguments', () => {
  expect([extentOf([3, -2, 7]), extentOf([7, 3, -2])]).toEqual([
    [-2, 7],
    [-2, 7],
  ]);
  expect(extentOf([])).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  expect(extentOf(Array.from({ length: 300_000 }, (_, value) => value))).toEqual([0, 299_999]);
});
