import { expect, test } from 'vitest';
import { depthOf } from './depth.ts';

// A cell of a sweep reads by its whole micro-USD, so a backtest must too.
test.each([
  [1, 15],
  [100, 15],
  [100.0000004, 15],
  [100.000001, 40],
  [100.01, 40],
  [1_000, 40],
  [1_000.01, 200],
])('an order of %d USD reads %i levels', (sizeUsd, levels) => {
  expect(depthOf(sizeUsd)).toBe(levels);
});
