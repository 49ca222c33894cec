/**
 * What a series of returns says. A return is a fraction (0.02: two per cent) of what was staked. A ratio that is not
 * defined (too few returns, nothing lost, no variation) is null, never infinite.
 */

/** A deviation this small beside its mean is rounding: equal returns do not sum to exactly equal means. */
const ROUNDING = 1e-14;

/**
 * Fewest returns that give an interval, an annualised Sharpe ratio and a deflated Sharpe ratio. With fewer, the normal
 * approximations behind them fail and let worthless strategies pass.
 */
export const RETURNS_MIN = 30;

/** Mean, deviation with n - 1, and the shape with n: what Sharpe's distribution depends on. */
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

/** @returns Null with fewer than two returns, or where all are equal. */
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
 * @param periodsPerYear 1 for the ratio a return.
 */
export function sharpeRatio(returns: readonly number[], periodsPerYear = 1): number | null {
  const moments = momentsOf(returns);
  return moments === null ? null : (moments.mean / moments.deviation) * Math.sqrt(periodsPerYear);
}

/** Root of the mean square of what fell below 0, over all returns; null over none. */
export function downsideDeviation(returns: readonly number[], periodsPerYear = 1): number | null {
  if (returns.length === 0) return null;
  const squares = sumOf(returns, (value) => Math.min(value, 0) ** 2);
  return Math.sqrt(squares / returns.length) * Math.sqrt(periodsPerYear);
}

/** Sortino ratio: mean over downside deviation, both a year. Null where nothing was lost. */
export function sortinoRatio(returns: readonly number[], periodsPerYear = 1): number | null {
  const downside = downsideDeviation(returns, periodsPerYear);
  if (downside === null || downside === 0 || returns.length < 2) return null;
  return (sumOf(returns, (value) => value) / returns.length) * (periodsPerYear / downside);
}

/** Deepest fall of compounded wealth below its highest so far, as a fraction, <= 0. */
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
 * Growth a year of compounded returns. Every return counts as one period; some libraries also count the point before
 * the first.
 * @returns Null over no returns.
 */
export function annualGrowth(returns: readonly number[], periodsPerYear: number): number | null {
  if (returns.length === 0) return null;
  const wealth = returns.reduce((product, value) => product * (1 + value), 1);
  return wealth ** (periodsPerYear / returns.length) - 1;
}

/** Calmar ratio: growth a year over the deepest drawdown. Null where there was none. */
export function calmarRatio(returns: readonly number[], periodsPerYear: number): number | null {
  const growth = annualGrowth(returns, periodsPerYear);
  const drawdown = maxDrawdownOfReturns(returns);
  return growth === null || drawdown === 0 ? null : growth / -drawdown;
}

/** What was won over what was lost, both in any one unit. Null where nothing was lost. */
export function profitFactor(results: readonly number[]): number | null {
  const won = sumOf(results, (value) => Math.max(value, 0));
  const lost = sumOf(results, (value) => Math.max(-value, 0));
  return lost === 0 ? null : won / lost;
}

/** Deepest fall of a running sum below its highest so far (which starts at 0), <= 0, in the unit of the results. */
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
