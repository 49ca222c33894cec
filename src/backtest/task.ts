/** Messages between the service and its worker threads. */
import type { SkipReason } from '../core/session/replay.ts';
import type { MarketTape, Resolution, TapeGap } from '../core/session/tape.ts';
import type { BacktestSpec, Receipt, SweepSpec } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import type { TapeTerms } from '../store/queries/tapeReader.ts';
import type { Cell } from './cells.ts';
import type { MarketSweep } from './marketReplay.ts';
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

/** A replayed market of a backtest. */
interface ReplayedOne {
  /** As of its replay. */
  readonly skipped: SkipReason | null;
  /** Made by `packOutcome`. */
  readonly packed: Uint8Array;
  readonly hash: string;
}

/** Assembles the result of a backtest. */
export interface ReportTask {
  readonly kind: 'report';
  /** Of all markets, each made by `packOutcome`. */
  readonly outcomes: readonly Uint8Array[];
  readonly spec: BacktestSpec;
  readonly receipt: Receipt;
}

export type Task =
  | { readonly kind: 'load'; readonly source: MarketSource; readonly resolution: Resolution | null }
  | {
      readonly kind: 'one';
      readonly source: MarketSource;
      readonly resolution: Resolution | null;
      readonly cell: Cell;
    }
  | ReportTask
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
  readonly one: ReplayedOne;
  /** JSON in UTF-8. */
  readonly report: Uint8Array;
  readonly cells: MarketSweep;
  readonly judge: JudgedSweep;
}
