/** Variance of a whole stretch of prices at once, which the running estimator of the service is checked against. */
import { sumOfSquares, twoScaleFromSums } from '../../src/core/pricing/twoScaleVariance.ts';

/** Realised variance over the whole stretch: the sum of squared log returns. */
export function realizedVariance(prices: readonly number[]): number {
  return sumOfSquares(Float64Array.from(prices, Math.log), { from: 0, count: prices.length, lag: 1 });
}

/** Two-scale realised variance of a whole stretch, summed afresh: what the running estimator has to agree with. */
export function twoScaleVariance(
  prices: readonly number[],
  { slowLag, fastLag }: { slowLag: number; fastLag: number },
): number {
  const logs = Float64Array.from(prices, Math.log);
  const whole = { from: 0, count: logs.length };
  return twoScaleFromSums({
    ...{ prices: logs.length, slowLag, fastLag },
    slowSquares: sumOfSquares(logs, { ...whole, lag: slowLag }),
    fastSquares: sumOfSquares(logs, { ...whole, lag: fastLag }),
  });
}
