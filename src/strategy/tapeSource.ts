/** Where a run's recording is read: the store of this data directory, or a service. */
import type { TapeGap } from '../core/session/tape.ts';
import type { Universe } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import type { TapeRows } from '../store/queries/tapeReader.ts';
import { loadTapeGaps, loadUniverse } from '../store/queries/universe.ts';
import type { StoreReader } from '../store/reader.ts';

export interface TapeSource {
  /** The newest markets of a series whose windows ended in a range, oldest first. */
  markets(
    universe: Universe,
    range: { readonly startMs: number | null; readonly endMs: number; readonly limit: number },
  ): Promise<Market[]>;
  gaps(marketIds: readonly string[]): Promise<Map<string, TapeGap[]>>;
  readonly rows: TapeRows;
}

export function storedTapes(store: StoreReader): TapeSource {
  return {
    markets: (universe, range) => loadUniverse(store, { universe, ...range }),
    gaps: (marketIds) => loadTapeGaps(store, marketIds),
    rows: store,
  };
}
