/** The recordings that a run reads. */

import type { UnderlyingSource } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { PerpDepthRecord } from '../../schema/records.ts';
import type { MarketTape, Resolution, TapePrices } from '../session/tape.ts';

/** One market from an hour before its window. Its `prices` are those of the feed that decides it. */
export interface RunTape {
  readonly tape: MarketTape;
  /** Null: not resolved. */
  readonly resolution: Resolution | null;
}

/**
 * When a resolved market pays out, Unix milliseconds. Fills in a gap are taken back before the payout, even if the gap
 * was detected later.
 */
export function payoutTimeMs({ gaps }: MarketTape, { resolvedTimeMs }: Resolution): number {
  const before = gaps.filter(({ startMs }) => startMs < resolvedTimeMs);
  return Math.max(resolvedTimeMs, ...before.map(({ knownMs }) => knownMs));
}

/** Feeds of one ticker over a stretch of time. Stretches of a ticker follow each other and do not overlap. */
export interface TickerTape {
  readonly ticker: Ticker;
  /** Nothing in it was received earlier. */
  readonly fromMs: number;
  readonly prices: readonly { readonly source: UnderlyingSource; readonly rows: TapePrices }[];
  /** In order of arrival, of all venues. */
  readonly perpDepth: readonly PerpDepthRecord[];
}
