/**
 * Statistics of a series of returns. A return is a fraction (0.02: two per cent) of the stake. An undefined ratio (too
 * few returns, no loss, no variation) is null, never infinite.
 */

/** A deviation this small relative to its mean is rounding: equal returns do not sum to exactly equal means. */
const ROUNDING = 1e-14;

/**
 * Minimum number of returns for an interval, an annualised Sharpe ratio and a deflated Sharpe ratio. With fewer, the
 * normal approximations behind them fail and let worthless strategies pass.
 */
export const RETURNS_MIN = 30;

/** Mean, deviation (divisor n - 1) and shape (divisor n): the inputs of Sharpe's distribution. */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation (divisor n - 1). */
  readonly deviation: number;
  /** Third standardised moment (divisor n); 0 for the normal. */
  readonly skewness: number;
  /** Fourth standardised moment (divisor n); 3 for the normal. */
  readonly kurtosis: number;
}

/** @returns Null with fewer than two returns, or if all are equal. */
export function momentsOf(returns: readonly number[]): Moments | null {
  const count = returns.length;
  if (count < 2) return null;
  const mean = sumOf(returns, (value) => value) / count;
  const squares = sumOf(returns, (value) => (value - mean) ** 2);
  const variance = squares / count;
  if (Math.sqrt(variance) <= ROUNDING * Math.abs(mean)) return null;
  return {
    count,
    mean,
    deviation: Math.sqrt(squares / (count - 1)),
    skewness: sumOf(returns, (value) => (value - mean) ** 3) / count / variance ** 1.5,
    kurtosis: sumOf(returns, (value) => (value - mean) ** 4) / count / variance ** 2,
  };
}

/**
 * Sharpe ratio: mean over sample deviation (divisor n - 1), times the root of the periods in a year.
 * @param periodsPerYear 1 for the ratio per return.
 */
export function sharpeRatio(returns: readonly number[], periodsPerYear = 1): number | null {
  const moments = momentsOf(returns);
  return moments === null ? null : (moments.mean / moments.deviation) * Math.sqrt(periodsPerYear);
}

/** Root mean square of the negative returns, over all returns; null over none. */
export function downsideDeviation(returns: readonly number[], periodsPerYear = 1): number | null {
  if (returns.length === 0) return null;
  const squares = sumOf(returns, (value) => Math.min(value, 0) ** 2);
  return Math.sqrt(squares / returns.length) * Math.sqrt(periodsPerYear);
}

/** Sortino ratio: mean over downside deviation, both annualised. Null without a loss. */
export function sortinoRatio(returns: readonly number[], periodsPerYear = 1): number | null {
  const downside = downsideDeviation(returns, periodsPerYear);
  if (downside === null || downside === 0 || returns.length < 2) return null;
  return (sumOf(returns, (value) => value) / returns.length) * (periodsPerYear / downside);
}

/** Maximum drawdown of compounded wealth, as a fraction, <= 0. */
export function maxDrawdownOfReturns(returns: readonly number[]): number {
  let [wealth, peak, deepest] = [1, 1, 0];
  for (const value of returns) {
    wealth *= 1 + value;
    peak = Math.max(peak, wealth);
    deepest = Math.min(deepest, wealth / peak - 1);
  }
  return deepest;
}

/**
 * Annual growth of compounded returns. Every return counts as one period; some libraries also count the point before
 * the first.
 * @returns Null over no returns.
 */
export function annualGrowth(returns: readonly number[], periodsPerYear: number): number | null {
  if (returns.length === 0) return null;
  const wealth = returns.reduce((product, value) => product * (1 + value), 1);
  return wealth ** (periodsPerYear / returns.length) - 1;
}

/** Calmar ratio: annual growth over the maximum drawdown. Null without a drawdown. */
export function calmarRatio(returns: readonly number[], periodsPerYear: number): number | null {
  const growth = annualGrowth(returns, periodsPerYear);
  const drawdown = maxDrawdownOfReturns(returns);
  return growth === null || drawdown === 0 ? null : growth / -drawdown;
}

/** Sum of the gains over the sum of the losses, both in any one unit. Null without a loss. */
export function profitFactor(results: readonly number[]): number | null {
  const won = sumOf(results, (value) => Math.max(value, 0));
  const lost = sumOf(results, (value) => Math.max(-value, 0));
  return lost === 0 ? null : won / lost;
}

/** Maximum drawdown of a running sum that starts at 0, <= 0, in the unit of the results. */
export function maxDrawdownOfResults(results: readonly number[]): number {
  let [sum, peak, deepest] = [0, 0, 0];
  for (const value of results) {
    sum += value;
    peak = Math.max(peak, sum);
    deepest = Math.min(deepest, sum - peak);
  }
  return deepest;
}

function sumOf(values: readonly number[], of: (value: number) => number): number {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum;
}
