import { expect, test } from 'vitest';
import { exponentialMean } from './twoScaleVariance.ts';

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
