/** The parts of the recording that paper trading reads when a market catches up. */
import { DEPTH_MAX } from '../../backtest/depth.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { Market } from '../../schema/market.ts';
import { loadMarket } from '../../store/queries/markets.ts';
import { loadFeedPrices, loadTape, stretchEnd } from '../../store/queries/tapeReader.ts';
import { loadTapeGaps, loadUniverse } from '../../store/queries/universe.ts';
import type { StoreReader } from '../../store/reader.ts';
import { untilStored } from '../../store/untilStored.ts';
import { HISTORY_MS, type PriceFeed, type PricePoint } from '../live/priceHistory.ts';
import type { Stretch } from '../live/traderEvents.ts';

/** Books read at once: at this depth fewer than a tape may hold, whatever the market. */
const BOOKS_AT_ONCE = 20_000;
const ENDED_MAX = 100;

export interface Recording {
  /** The recording of a market after an arrival number, as much as is read at once. */
  stretch(market: Market, from: { afterSeq: number }, signal: AbortSignal): Promise<Stretch>;
  /** The last hour of prices of a feed. */
  prices(feed: PriceFeed, nowMs: number, signal: AbortSignal): Promise<PricePoint[]>;
  market(marketId: string): Promise<Market | null>;
  /** Markets of a series whose windows ended in a range. */
  ended(universe: Universe, range: { startMs: number; endMs: number }): Promise<Market[]>;
}

/**
 * @param options.stored As for `untilStored`: the wait ends with trading.
 * @param options.booksAtOnce Books per stretch.
 */
export function storedRecording(
  store: StoreReader,
  { stored, booksAtOnce = BOOKS_AT_ONCE }: { stored: () => Promise<void>; booksAtOnce?: number },
): Recording {
  return {
    stretch: async (market, { afterSeq }, signal) => {
      await untilStored(stored, { signal });
      const toSeq = await stretchEnd(store, market, { afterSeq, books: booksAtOnce });
      const terms = { depth: DEPTH_MAX, prices: true, trades: true };
      const stretch = { afterSeq, toSeq: toSeq ?? Number.MAX_SAFE_INTEGER };
      const rows = await loadTape(store, { market, gaps: [], terms, stretch }, signal);
      // Gaps are read last, so that each row is read with at least the gaps known when it was published.
      const gaps = (await loadTapeGaps(store, [market.marketId])).get(market.marketId) ?? [];
      return { tape: { ...rows, gaps }, toSeq };
    },
    prices: async (feed, nowMs, signal) => {
      await untilStored(stored, { signal });
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
