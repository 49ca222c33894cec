/**
 * Variance from prices at even steps. Every observed price has noise (the tick, the bounce between bid and ask):
 * squared differences of neighbours accumulate it, two scales cancel it.
 */

/** Sums of squared log differences of one stretch of prices at two lags. */
interface TwoScaleSums {
  /** Number of prices, one more than neighbouring differences. */
  readonly prices: number;
  /** The slow lag K and the fast lag J, in steps; J < K < prices. */
  readonly slowLag: number;
  readonly fastLag: number;
  /** Sum over all (overlapping) differences of that lag. */
  readonly slowSquares: number;
  readonly fastSquares: number;
}

/**
 * Two-scale realised variance over a whole stretch, linear in the two sums. Unbiased by noise that is independent from
 * step to step; about (K - 1) / prices low, because the ends are in fewer differences. May be negative if noise
 * outweighs the moves.
 * @see Zhang, Mykland, Aït-Sahalia 2005, https://doi.org/10.1198/016214505000000169
 */
export function twoScaleFromSums(sums: TwoScaleSums): number {
  const { prices, slowLag, fastLag } = sums;
  const slowSize = (prices - slowLag + 1) / slowLag;
  const fastSize = (prices - fastLag + 1) / fastLag;
  const ratio = slowSize / fastSize;
  return (sums.slowSquares / slowLag - (ratio * sums.fastSquares) / fastLag) / (1 - ratio);
}

/** Sum of squared differences `lag` steps apart among `count` values that begin at `from`. */
export function sumOfSquares(
  values: Float64Array,
  { from, count, lag }: { from: number; count: number; lag: number },
): number {
  let sum = 0;
  for (let i = from + lag; i < from + count; i++) {
    const step = (values[i] as number) - (values[i - lag] as number);
    sum += step * step;
  }
  return sum;
}

/**
 * Exponentially weighted mean, v(t) = λ v(t-1) + (1 - λ) x(t), starting with the first value.
 * @param values Oldest first.
 * @returns Null without values.
 */
export function exponentialMean(values: readonly number[], lambda: number): number | null {
  let mean: number | null = null;
  for (const value of values) mean = mean === null ? value : lambda * mean + (1 - lambda) * value;
  return mean;
}
