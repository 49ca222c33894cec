/** What paper trading reads of the recording when it takes up a market. */
import { DEPTH_MAX } from '../../backtest/depth.ts';
import type { MarketTape, TapeMarket } from '../../core/session/tape.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Market, Ticker } from '../../schema/market.ts';
import { loadMarket } from '../../store/queries/resume.ts';
import { loadFeedPrices, loadTape, stretchEnd, tapeMarketOf } from '../../store/queries/tapeReader.ts';
import { loadTapeGaps, loadUniverse } from '../../store/queries/universe.ts';
import type { StoreReader } from '../../store/reader.ts';
import { HISTORY_MS, type PricePoint } from '../live/priceHistory.ts';

/** Books read at once: at that depth less than a tape may hold, whatever the market. */
const BOOKS_AT_ONCE = 20_000;
const ENDED_MAX = 100;

/** A part of what was recorded of a market. */
export interface Stretch {
  /** All gaps are in it, those of other stretches too. */
  readonly tape: MarketTape;
  /** The last arrival number it covers; null: all that was recorded before it was asked for, and perhaps more. */
  readonly toSeq: number | null;
}

export interface Recording {
  /** What was recorded of a market after an arrival number, as much as is read at once. */
  stretch(market: Market, from: { afterSeq: number }, signal: AbortSignal): Promise<Stretch>;
  /** The last hour of a feed. */
  prices(feed: { ticker: Ticker; source: UnderlyingSource }, nowMs: number): Promise<PricePoint[]>;
  market(marketId: string): Promise<Market | null>;
  /** Markets of a series whose windows ended in a range. */
  ended(universe: Universe, range: { startMs: number; endMs: number }): Promise<Market[]>;
}

/** @param booksAtOnce Books of a stretch. */
export function storedRecording(
  store: StoreReader & { readonly writer: { flush(): Promise<void> } },
  { booksAtOnce = BOOKS_AT_ONCE } = {},
): Recording {
  return {
    stretch: async (market, { afterSeq }, signal) => {
      await store.writer.flush();
      const toSeq = await stretchEnd(store, market, { afterSeq, books: booksAtOnce });
      const terms = { depth: DEPTH_MAX, prices: true };
      const stretch = { afterSeq, toSeq: toSeq ?? Number.MAX_SAFE_INTEGER };
      const rows = await loadTape(store, { market, gaps: [], terms, stretch }, signal);
      // Read last, so that of no row less is known than when it was told.
      const gaps = (await loadTapeGaps(store, [market.marketId])).get(market.marketId) ?? [];
      return { tape: { ...rows, gaps }, toSeq };
    },
    prices: async (feed, nowMs) => {
      await store.writer.flush();
      const prices = await loadFeedPrices(store, { ...feed, fromMs: nowMs - HISTORY_MS, toMs: nowMs });
      return Array.from(prices?.seq ?? [], (seq, at) => ({
        ...{ seq, receivedMs: prices?.receivedMs[at] as number },
        ...{ eventMs: prices?.eventMs[at] as number, price: prices?.price[at] as number },
      }));
    },
    market: (marketId) => loadMarket(store, marketId),
    ended: (universe, range) => loadUniverse(store, { universe, ...range, limit: ENDED_MAX }),
  };
}

/** Null for a market of no series: no strategy can ask for it. */
export function tradable(market: Market): TapeMarket | null {
  return market.ticker === 'unknown' || market.eventType === 'unknown' ? null : tapeMarketOf(market);
}
