/** Dependence between neighbouring returns: a run of good markets proves less than as many independent ones. */
import { momentsOf } from './returns.ts';

/**
 * Number of neighbours that a return may depend on: the cube root of the count, the usual rule for the length of a
 * bootstrap's blocks. It is the longest dependence that the autocorrelations and the bootstrap account for.
 */
export function dependenceLength(count: number): number {
  return Math.max(1, Math.round(Math.cbrt(count)));
}

/**
 * Sharpe ratio of `periods` returns together, corrected for serial correlation: the ratio of one return times
 * `q / sqrt(q + 2 sum((q - k) w(k) rho(k)))`, q the periods and rho(k) the autocorrelation at lag k. Without correlation
 * that is the root of q. Lags reach `dependenceLength`; their weights w(k) fall linearly (Bartlett), so that the root
 * is always of a positive number.
 * @param periods Returns that the ratio is scaled to, such as those of a year; > 0, need not be whole.
 * @returns Null with fewer than two returns, or if all are equal.
 * @see Lo 2002, https://doi.org/10.2469/faj.v58.n4.2453; Newey, West 1987, https://doi.org/10.2307/1913610 (weights)
 */
export function scaledSharpe(returns: readonly number[], periods: number): number | null {
  const moments = momentsOf(returns);
  if (moments === null) return null;
  const lags = dependenceLength(returns.length);
  let variance = periods;
  for (let lag = 1; lag <= lags; lag++) {
    const weight = 1 - lag / (lags + 1);
    variance += 2 * Math.max(0, periods - lag) * weight * autocorrelation(returns, moments.mean, lag);
  }
  return (moments.mean / moments.deviation) * (periods / Math.sqrt(variance));
}

function autocorrelation(returns: readonly number[], mean: number, lag: number): number {
  let [products, squares] = [0, 0];
  returns.forEach((value, at) => {
    squares += (value - mean) ** 2;
    if (at >= lag) products += (value - mean) * ((returns[at - lag] as number) - mean);
  });
  return products / squares;
}
