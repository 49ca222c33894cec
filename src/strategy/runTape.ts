/** What a run of a user's strategy reads: recordings of markets and of prices, in memory that threads share. */
import type { MarketTape, Resolution, TapePrices } from '../core/session/tape.ts';
import type { PerpDepthEvent, PerpVenueName, UnderlyingSource } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';

/** One market, or a later part of it. */
export interface RunTape {
  readonly tape: MarketTape;
  readonly resolution: Resolution | null;
}

/** A span of one feed's prices. */
export interface PriceTape {
  readonly ticker: Ticker;
  readonly source: UnderlyingSource;
  readonly prices: TapePrices;
}

/** A span of one venue's order books of perpetual futures. */
export interface PerpTape {
  readonly ticker: Ticker;
  readonly venue: PerpVenueName;
  readonly rows: readonly (PerpDepthEvent & { readonly seq: number })[];
}

/** A part of a run's recording. */
export interface RunSegment {
  readonly markets: readonly RunTape[];
  readonly prices: readonly PriceTape[];
  readonly perpDepth: readonly PerpTape[];
  /** Records received before this time may be processed: no later segment has an earlier one. */
  readonly beforeMs: number;
}
