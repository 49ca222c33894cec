/** A part of the recording that a run reads, in memory that threads share. */
import type { RunTape, TickerTape } from '../core/run/runTape.ts';

/** A market in a part of the recording. */
export interface MarketPart extends RunTape {
  /** When a live run that goes on had printed its outcome; null: it had not. */
  readonly paidMs?: number | null;
}

export interface RunSegment {
  /** Markets whose recording begins in the part; of a live run, those that may have records in it. */
  readonly markets: readonly MarketPart[];
  readonly tickers: readonly TickerTape[];
  /** Records received before this time may be processed: no later part has an earlier one. */
  readonly beforeMs: number;
}
