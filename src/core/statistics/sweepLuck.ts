/** Judges a sweep's best cell, given how many cells were tried. */
import { overfittingProbability, type TrialResults } from './overfitting.ts';
import { momentsOf, RETURNS_MIN } from './returns.ts';
import {
  CONFIDENCE,
  deflatedSharpe,
  expectedMaximum,
  minTrackRecord,
  type TrackRecord,
} from './trackRecord.ts';

/** From this probability of overfitting on, a warning is added. */
const OVERFITTING_MAX = 0.5;
/**
 * Minimum number of winning and of losing markets before the returns are trusted to show the size of a loss. Bought at
 * 95 cents, 30 markets of a worthless strategy lose nothing in one case of five.
 */
const EACH_WAY_MIN = 5;
/** Return of a market that loses the whole stake. */
const LOST_STAKE = -1;

/** The cells of a sweep, with their reported figures and their returns market by market. */
export interface SweptCells {
  /** Return of every cell on every market, markets in order of time; 0 where a cell did not trade. */
  readonly trials: TrialResults;
  /** 1 where the cell traded the market, at the indices of `trials.results`. */
  readonly traded: Uint8Array;
  /** The figures that rank each cell. The Sharpe ratio is that of the returns of the markets it traded. */
  readonly shown: readonly { readonly sharpe: number | null; readonly totalPnl: number }[];
}

export interface SweepLuck {
  readonly trials: number;
  /** Cells of the same user's earlier jobs on the same universe. */
  readonly trialsBefore: number;
  /**
   * Number of independent cells that would vary as much as these, 1..`trials`; null if none varies. Not used to
   * deflate.
   */
  readonly effectiveTrials: number | null;
  /**
   * Cell with the highest reported Sharpe ratio, among equal ones the one with the highest P&L; null if none has a
   * ratio.
   */
  readonly best: number | null;
  /**
   * Variance used to deflate: that of the cells' reported ratios, but at least the variance that chance gives the best
   * cell.
   */
  readonly sharpeVariance: number | null;
  /**
   * Of the best cell's reported ratio. A record that is too short or too one-sided is judged with one more lost stake;
   * a warning says so.
   */
  readonly deflatedSharpe: number | null;
  readonly overfittingProbability: number | null;
  /**
   * Number of traded markets after which the best ratio exceeds, with 95 % confidence, the best ratio of as many
   * worthless cells.
   */
  readonly minTrackRecordMarkets: number | null;
  readonly warnings: readonly string[];
}

/**
 * Judges the best cell. Chance alone spreads the ratio of a worthless cell by 1 / (n - 1) over n markets, so the
 * deflating variance is at least that of the best cell: otherwise near copies of it would lower the bar.
 */
export function sweepLuck(
  { trials: results, traded, shown }: SweptCells,
  { trialsBefore }: { trialsBefore: number },
): SweepLuck {
  const best = indexOfBest(shown);
  const returns = best === null ? [] : tradedReturns(results, traded, best);
  const sharpeVariance = best === null ? null : varianceThatDeflates(shown, returns.length);
  const bar = { trials: results.trials + trialsBefore, sharpeVariance: sharpeVariance ?? 0 };
  const judged = judge(returns, bar);
  const pbo = overfittingProbability(results);
  return {
    trials: results.trials,
    trialsBefore,
    effectiveTrials: effectiveTrials(results),
    best,
    sharpeVariance,
    deflatedSharpe: judged.deflated,
    overfittingProbability: pbo,
    minTrackRecordMarkets: judged.needed,
    warnings: [...judged.warnings, ...overfittingWarnings(pbo)],
  };
}

/** @param returns Of the best cell; none if no cell has a ratio. */
function judge(returns: readonly number[], bar: { trials: number; sharpeVariance: number }) {
  const lack = lackOf(returns);
  const record = recordOf(lack === null ? returns : [...returns, LOST_STAKE]);
  if (returns.length === 0 || record === null) {
    return { deflated: null, needed: null, warnings: ['no cell has a Sharpe ratio'] };
  }
  const deflated = deflatedSharpe(record, bar);
  const markets = minTrackRecord(record, Math.sqrt(bar.sharpeVariance) * expectedMaximum(bar.trials));
  const needed = markets === null ? null : Math.max(RETURNS_MIN, Math.ceil(markets));
  const warnings = lack === null ? [] : [lack];
  if (needed === null) warnings.push('no cell does better than the best of as many worthless ones would');
  else if (returns.length < needed) warnings.push('fewer markets than the minimum track record');
  if (deflated !== null && deflated < CONFIDENCE) {
    warnings.push(
      'the best cell is not better than chance with 95 % confidence, given the number of cells tried',
    );
  }
  return { deflated, needed, warnings };
}

/** With the ratio as reported: mean over sample deviation. */
function recordOf(returns: readonly number[]): TrackRecord | null {
  const moments = momentsOf(returns);
  return moments === null ? null : { ...moments, sharpe: moments.mean / moments.deviation };
}

/** Why returns are not judged unchanged; null if they are. */
function lackOf(returns: readonly number[]): string | null {
  if (returns.length < RETURNS_MIN) {
    return `the best cell traded ${returns.length} markets; below ${RETURNS_MIN} it is judged as if it had lost once more`;
  }
  const [won, lost] = [
    returns.filter((value) => value > 0).length,
    returns.filter((value) => value < 0).length,
  ];
  if (Math.min(won, lost) >= EACH_WAY_MIN) return null;
  return `the best cell won ${won} markets and lost ${lost}; with fewer than ${EACH_WAY_MIN} of either it is judged as if it had lost once more`;
}

function overfittingWarnings(pbo: number | null): string[] {
  if (pbo === null) return ['too few markets or cells to estimate overfitting'];
  if (pbo < OVERFITTING_MAX) return [];
  return ['the best cell of one half of the markets is no better than the middle on the other half'];
}

/** @param markets Traded by the best cell. */
function varianceThatDeflates(shown: SweptCells['shown'], markets: number): number {
  const known = shown.flatMap(({ sharpe }) => (sharpe === null ? [] : [sharpe]));
  return Math.max((momentsOf(known)?.deviation ?? 0) ** 2, 1 / (markets - 1));
}

/**
 * `r + (1 - r) N`, r the mean correlation of the N cells that vary: 1 for copies of one, N for independent ones.
 * @see Bailey, López de Prado 2014, appendix 3, https://doi.org/10.3905/jpm.2014.40.5.094
 */
function effectiveTrials({ results, periods, trials }: TrialResults): number | null {
  const standardised = new Float64Array(periods);
  let varying = 0;
  for (let trial = 0; trial < trials; trial++) {
    const column = Array.from({ length: periods }, (_, period) => results[period * trials + trial] as number);
    const moments = momentsOf(column);
    if (moments === null) continue;
    varying++;
    for (let period = 0; period < periods; period++) {
      standardised[period] =
        (standardised[period] as number) + ((column[period] as number) - moments.mean) / moments.deviation;
    }
  }
  if (varying === 0) return null;
  if (varying === 1) return 1;
  // The variance of a sum is the sum of all correlations: N on the diagonal, r off it.
  const all = standardised.reduce((sum, value) => sum + value * value, 0) / (periods - 1);
  const correlation = (all - varying) / (varying * (varying - 1));
  return Math.min(varying, Math.max(1, correlation + (1 - correlation) * varying));
}

function tradedReturns({ results, trials }: TrialResults, traded: Uint8Array, trial: number): number[] {
  const returns: number[] = [];
  for (let at = trial; at < results.length; at += trials)
    if (traded[at] === 1) returns.push(results[at] as number);
  return returns;
}

function indexOfBest(shown: SweptCells['shown']): number | null {
  let best: { at: number; sharpe: number; totalPnl: number } | null = null;
  for (const [at, { sharpe, totalPnl }] of shown.entries()) {
    if (sharpe === null) continue;
    const isBetter =
      best === null || sharpe > best.sharpe || (sharpe === best.sharpe && totalPnl > best.totalPnl);
    if (isBetter) best = { at, sharpe, totalPnl };
  }
  return best?.at ?? null;
}
