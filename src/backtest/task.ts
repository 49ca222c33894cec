/** Messages between the service and its worker threads. */
import type { MarketTape, Resolution, TapeGap } from '../core/session/tape.ts';
import type { SweepSpec } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import type { TapeTerms } from '../store/queries/tapeReader.ts';
import type { Cell } from './cells.ts';
import type { MarketOutcome, MarketSweep } from './marketReplay.ts';
import type { JudgedSweep, SweptMarket } from './sweepReport.ts';

/** How a thread reaches the time-series store; null in tests with their own tapes. */
export interface WorkerSettings {
  readonly url: string;
  /** Unix socket of the embedded engine; null: connect by the URL. */
  readonly socketPath: string | null;
}

/** A market to be read from the store. */
export interface MarketSource {
  readonly market: Market;
  readonly gaps: readonly TapeGap[];
  readonly terms: TapeTerms;
}

/** A tape in shared memory, so that several threads can replay it after one read. */
export interface LoadedMarket {
  readonly tape: MarketTape;
  readonly hash: string;
}

export type Task =
  | { readonly kind: 'load'; readonly source: MarketSource; readonly resolution: Resolution | null }
  | {
      readonly kind: 'one';
      readonly source: MarketSource;
      readonly resolution: Resolution | null;
      readonly cell: Cell;
    }
  | {
      readonly kind: 'cells';
      readonly tape: MarketTape;
      readonly resolution: Resolution | null;
      readonly jobId: string;
      readonly spec: SweepSpec;
      /** First and last (exclusive) of the sweep's cells. */
      readonly from: number;
      readonly to: number;
    }
  | {
      readonly kind: 'judge';
      readonly markets: readonly SweptMarket[];
      readonly spec: SweepSpec;
      readonly trialsBefore: number;
    };

export interface TaskResults {
  readonly load: LoadedMarket | { readonly skipped: 'too_large' };
  readonly one: MarketOutcome & { readonly hash: string };
  readonly cells: MarketSweep;
  readonly judge: JudgedSweep;
}
