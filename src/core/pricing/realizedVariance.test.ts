import { expect, test } from 'vitest';
import { exponentialMean, realizedVariance, twoScaleVariance } from './realizedVariance.ts';

const PRICES = [
  100, 100.02, 99.98, 100.05, 100.01, 100.06, 100.03, 100.1, 100.04, 100.12, 100.08, 100.15, 100.11,
];

test('realised variance is the sum of squared log returns', () => {
  expect(realizedVariance(PRICES)).toBeCloseTo(3.485471069277316e-6, 20);
});

test('two scales on a toy series, K 3 and J 1', () => {
  expect(twoScaleVariance(PRICES, { slowLag: 3, fastLag: 1 })).toBeCloseTo(4.2055254052543735e-7, 21);
});

test('the exponential mean of squared returns, begun with the first', () => {
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
