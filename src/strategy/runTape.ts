/** A part of the recording that a run reads, in memory that threads share. */
import type { RunTape, TickerTape } from '../core/run/runTape.ts';

export interface RunSegment {
  /** Markets whose recording begins in the part. */
  readonly markets: readonly RunTape[];
  readonly tickers: readonly TickerTape[];
  /** Records received before this time may be processed: no later part has an earlier one. */
  readonly beforeMs: number;
}
