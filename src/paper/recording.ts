/** What paper trading reads of the recording when it takes up a market. */
import type { MarketTape, TapeMarket } from '../core/replay/tape.ts';
import type { Universe } from '../schema/backtest.ts';
import type { UnderlyingSource } from '../schema/events.ts';
import type { Market, Ticker } from '../schema/market.ts';
import { loadMarket } from '../store/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import { loadFeedPrices, loadTape, tapeMarketOf } from '../store/tapes.ts';
import { loadTapeGaps, loadUniverse } from '../store/universe.ts';
import { HISTORY_MS, type PricePoint } from './priceHistory.ts';

/** Levels a side: more than a purchase of the largest size goes through, as in backtests. */
const DEPTH = 200;
const ENDED_MAX = 100;

export interface Recording {
  /** What was recorded of a market before this call, and perhaps what came meanwhile. */
  tape(market: Market, signal: AbortSignal): Promise<MarketTape>;
  /** The last hour of a feed. */
  prices(feed: { ticker: Ticker; source: UnderlyingSource }, nowMs: number): Promise<PricePoint[]>;
  market(marketId: string): Promise<Market | null>;
  /** Markets of a series whose windows ended in a range. */
  ended(universe: Universe, range: { startMs: number; endMs: number }): Promise<Market[]>;
}

export function storedRecording(
  store: StoreReader & { readonly writer: { flush(): Promise<void> } },
): Recording {
  return {
    tape: async (market, signal) => {
      await store.writer.flush();
      const gaps = await loadTapeGaps(store, [market.marketId]);
      const terms = { depth: DEPTH, prices: true };
      return await loadTape(store, { market, gaps: gaps.get(market.marketId) ?? [], terms }, signal);
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
