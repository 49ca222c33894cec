/** What a sweep's best cell is worth, given how many cells were tried. */
import { overfittingProbability, type TrialResults } from './overfitting.ts';
import { momentsOf } from './returns.ts';
import { CONFIDENCE, deflatedSharpe, expectedMaximum, minTrackRecord } from './trackRecord.ts';

/** A best cell that fails these is said to. */
const OVERFITTING_MAX = 0.5;

export interface SweepLuck {
  readonly trials: number;
  /** Cell with the highest Sharpe ratio a market; null where none has one. */
  readonly best: number | null;
  /** Variance over the cells of the ratio a market. */
  readonly sharpeVariance: number | null;
  readonly deflatedSharpe: number | null;
  readonly overfittingProbability: number | null;
  /** Markets before the best ratio is above what so many worthless cells would show, with 95 % confidence. */
  readonly minTrackRecordMarkets: number | null;
  readonly warnings: readonly string[];
}

/**
 * @param results Return of every cell on every market, markets in order of time; 0 where a cell did not trade. The
 *   order makes the blocks of the overfitting estimate stretches of time.
 */
export function sweepLuck(results: TrialResults): SweepLuck {
  const moments = Array.from({ length: results.trials }, (_, trial) => momentsOf(columnOf(results, trial)));
  const sharpes = moments.map((found) => (found === null ? null : found.mean / found.deviation));
  const known = sharpes.filter((sharpe) => sharpe !== null);
  const sharpeVariance = known.length < 2 ? null : (momentsOf(known)?.deviation ?? 0) ** 2;
  const best = indexOfHighest(sharpes);
  const record = best === null ? null : recordOf(sharpes, moments, best);
  const pbo = overfittingProbability(results);
  const chance = Math.sqrt(sharpeVariance ?? 0) * expectedMaximum(results.trials);
  const needed = record === null ? null : minTrackRecord(record, chance);
  const deflated =
    record === null
      ? null
      : deflatedSharpe(record, { trials: results.trials, sharpeVariance: sharpeVariance ?? 0 });
  return {
    trials: results.trials,
    best,
    sharpeVariance,
    deflatedSharpe: deflated,
    overfittingProbability: pbo,
    minTrackRecordMarkets: needed === null ? null : Math.ceil(needed),
    warnings: warningsOf({ periods: results.periods, needed, deflated, pbo }),
  };
}

function warningsOf(found: {
  periods: number;
  needed: number | null;
  deflated: number | null;
  pbo: number | null;
}): string[] {
  const { periods, needed, deflated, pbo } = found;
  const warnings = [];
  if (needed === null) warnings.push('no cell does better than the best of as many worthless ones would');
  else if (periods < needed) warnings.push('fewer markets than the minimum track record');
  if (deflated !== null && deflated < CONFIDENCE) {
    warnings.push(
      'the best cell is not better than chance with 95 % confidence, given the number of cells tried',
    );
  }
  if (pbo === null) warnings.push('too few markets or cells to estimate overfitting');
  else if (pbo >= OVERFITTING_MAX) {
    warnings.push('the best cell of one half of the markets is no better than the middle on the other half');
  }
  return warnings;
}

function recordOf(
  sharpes: readonly (number | null)[],
  moments: readonly ReturnType<typeof momentsOf>[],
  best: number,
) {
  const sharpe = sharpes[best];
  const found = moments[best];
  return typeof sharpe === 'number' && found ? { ...found, sharpe } : null;
}

function columnOf({ results, periods, trials }: TrialResults, trial: number): number[] {
  return Array.from({ length: periods }, (_, period) => results[period * trials + trial] as number);
}

function indexOfHighest(values: readonly (number | null)[]): number | null {
  let best: number | null = null;
  let highest = Number.NEGATIVE_INFINITY;
  values.forEach((value, at) => {
    if (value === null || value <= highest) return;
    [best, highest] = [at, value];
  });
  return best;
}
