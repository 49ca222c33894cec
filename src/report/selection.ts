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
 * Judges a single result as the best of one cell and of all earlier trials.
 * @param returns Of the traded markets, as shares of the stake: -1 loses all of it.
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
