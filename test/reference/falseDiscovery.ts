/**
 * How often a Sharpe ratio that looks good belongs to a strategy that is worth nothing, given how rare good ones are.
 * All ratios are per observation. Here the estimate's variance is taken under each hypothesis, not at the ratio seen.
 * @see López de Prado, Lipton, Zoonekynd 2025, "How to use the Sharpe ratio", https://doi.org/10.2139/ssrn.5520741
 */
import { normalCdf } from '../../src/core/pricing/normal.ts';
import { normalQuantile } from '../../src/core/statistics/normalQuantile.ts';
import type { TrackRecord } from '../../src/core/statistics/trackRecord.ts';

/** What a ratio is under the two hypotheses, and how likely the better one is beforehand. */
interface Hypotheses {
  readonly worthless: number;
  readonly good: number;
  readonly goodShare: number;
}

/** Probability that a ratio at most the one seen comes from a true ratio of `benchmark`. */
export function sharpeSignificance(record: TrackRecord, benchmark: number): number {
  return 1 - exceedance(record, record.sharpe, benchmark);
}

/** Share of the worthless among all that would pass a test at `alpha`, planned before any ratio is seen. */
export function plannedFalseDiscovery(record: TrackRecord, hypotheses: Hypotheses, alpha: number): number {
  const { worthless } = hypotheses;
  const critical = worthless + normalQuantile(1 - alpha) * standardError(record, worthless);
  return discoveries(record, critical, hypotheses);
}

/** The same among all at least as good as the ratio seen. */
export function observedFalseDiscovery(record: TrackRecord, hypotheses: Hypotheses): number {
  return discoveries(record, record.sharpe, hypotheses);
}

function discoveries(record: TrackRecord, from: number, { worthless, good, goodShare }: Hypotheses): number {
  const falsely = (1 - goodShare) * exceedance(record, from, worthless);
  return falsely / (falsely + goodShare * exceedance(record, from, good));
}

function exceedance(record: TrackRecord, from: number, truth: number): number {
  return normalCdf((truth - from) / standardError(record, truth));
}

function standardError({ count, skewness, kurtosis }: TrackRecord, truth: number): number {
  return Math.sqrt((1 - skewness * truth + ((kurtosis - 1) / 4) * truth ** 2) / count);
}
