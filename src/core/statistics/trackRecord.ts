/**
 * How much of a Sharpe ratio is luck: of a short record, of a one-sided one, and of many trials. All ratios here are
 * per observation, not per year: divide an annual one by the root of the observations in a year.
 * @see Bailey, López de Prado 2012, https://doi.org/10.2139/ssrn.1821643 (PSR, MinTRL); 2014,
 * https://doi.org/10.3905/jpm.2014.40.5.094 (DSR); Bailey et al. 2014, https://doi.org/10.1090/noti1105 (MinBTL)
 */
import { normalCdf } from '../pricing/normal.ts';
import { normalQuantile } from './normalQuantile.ts';

const EULER_MASCHERONI = 0.5772156649015329;
export const CONFIDENCE = 0.95;

/** An observed Sharpe ratio and the shape of its returns. */
export interface TrackRecord {
  readonly sharpe: number;
  /** Number of returns it was computed from. */
  readonly count: number;
  readonly skewness: number;
  /** 3 for the normal. */
  readonly kurtosis: number;
}

/**
 * Probability that the true ratio exceeds `benchmark`.
 * @returns Null with fewer than two returns, or an impossible shape.
 */
export function probabilisticSharpe(record: TrackRecord, benchmark: number): number | null {
  const variance = estimateVariance(record);
  if (record.count < 2 || variance === null) return null;
  return normalCdf(((record.sharpe - benchmark) * Math.sqrt(record.count - 1)) / Math.sqrt(variance));
}

/**
 * Observations needed before the ratio is above `benchmark` with the given confidence, if it stays unchanged.
 * @returns Null if it is not above it at all.
 */
export function minTrackRecord(
  record: Omit<TrackRecord, 'count'>,
  benchmark: number,
  confidence = CONFIDENCE,
): number | null {
  const variance = estimateVariance(record);
  if (variance === null || record.sharpe <= benchmark) return null;
  return 1 + variance * (normalQuantile(confidence) / (record.sharpe - benchmark)) ** 2;
}

/** Expected maximum of `trials` independent standard normal draws; 0 for one trial. */
export function expectedMaximum(trials: number): number {
  if (trials < 2) return 0;
  return (
    (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / trials) +
    EULER_MASCHERONI * normalQuantile(1 - 1 / (trials * Math.E))
  );
}

/**
 * Probability that the best of `trials` ratios exceeds the best that as many worthless trials would show by chance.
 * @param sharpeVariance Variance of the trials' ratios, per observation.
 */
export function deflatedSharpe(
  record: TrackRecord,
  { trials, sharpeVariance }: { trials: number; sharpeVariance: number },
): number | null {
  return probabilisticSharpe(record, Math.sqrt(sharpeVariance) * expectedMaximum(trials));
}

/** Years of data below which the best of `trials` worthless strategies is expected to show `annualSharpe`. */
export function minBacktestYears(trials: number, annualSharpe: number): number {
  return (expectedMaximum(trials) / annualSharpe) ** 2;
}

/** Variance of the ratio's estimate, times the number of observations. */
function estimateVariance({ sharpe, skewness, kurtosis }: Omit<TrackRecord, 'count'>): number | null {
  const variance = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
  return variance > 0 ? variance : null;
}
