import { expect, test } from 'vitest';
import { realizedVariance, twoScaleVariance } from './realizedVariance.ts';

const PRICES = [
  100, 100.02, 99.98, 100.05, 100.01, 100.06, 100.03, 100.1, 100.04, 100.12, 100.08, 100.15, 100.11,
];

test('realised variance is the sum of squared log returns', () => {
  expect(realizedVariance(PRICES)).toBeCloseTo(3.485471069277316e-6, 20);
});

test('two scales on a toy series, K 3 and J 1', () => {
  expect(twoScaleVariance(PRICES, { slowLag: 3, fastLag: 1 })).toBeCloseTo(4.2055254052543735e-7, 21);
});
