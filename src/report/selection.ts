/** How much of a result may be selection: earlier trials on the same series, and windows that were held out. */
import { sharpeRatio } from '../core/statistics/returns.ts';
import { sweepLuck } from '../core/statistics/sweepLuck.ts';
import type { Report } from '../schema/report.ts';

export interface SelectionFacts {
  /** Trials on the same series before this one; null: not counted. */
  readonly trialsBefore: number | null;
  /** Windows that no sweep has read; ISO 8601. */
  readonly heldOut: { readonly start: string; readonly end: string } | null;
}

/**
 * Corrects a single backtest for luck, as if it were the best of itself and all earlier trials.
 * @param returns One per traded market, as a share of the stake: -1 is a loss of the whole stake.
 */
export function selectionOf(
  returns: readonly number[],
  { trialsBefore, heldOut }: SelectionFacts,
): Report['selection'] {
  const results = Float64Array.from(returns);
  const luck = sweepLuck(
    {
      trials: { results, periods: results.length, trials: 1 },
      traded: new Uint8Array(results.length).fill(1),
      shown: [{ sharpe: sharpeRatio(returns), totalPnl: 0 }],
    },
    { trialsBefore: trialsBefore ?? 0 },
  );
  return {
    trials_before: trialsBefore,
    deflated_sharpe: luck.deflatedSharpe,
    min_track_record_markets: luck.minTrackRecordMarkets,
    held_out: heldOut,
  };
}
