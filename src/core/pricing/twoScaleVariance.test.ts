import { expect, test } from 'vitest';
import { exponentialMean, sumOfSquares } from './twoScaleVariance.ts';

test('the exponential mean of squared returns, starting with the first', () => {
  const variance = exponentialMean(
    [0.01, -0.02, 0.015, 0, -0.005].map((r) => r * r),
    0.94,
  );
  expect(variance?.toExponential(9)).toBe('1.114375120e-4');
  expect(Math.sqrt(variance ?? 0).toFixed(11)).toBe('0.01055639673');
});

test('the exponential mean of nothing is unknown', () => {
  expect(exponentialMean([], 0.5)).toBeNull();
});

test.each([
  [1, 4 + 9 + 16],
  [2, 25 + 49],
  [3, 81],
  [4, 0],
])(
  'the squared differences %i apart are those inside the stretch, its first and last value included',
  (lag, sum) => {
    const values = Float64Array.of(99, 1, 3, 6, 10, -99);
    expect(sumOfSquares(values, { from: 1, count: 4, lag })).toBe(sum);
  },
);
