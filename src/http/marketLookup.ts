import type { FollowedMarkets } from '../recorder/marketMemory.ts';
import { type BoundedCache, boundedCache } from '../runtime/boundedCache.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import { notFound } from './refusal.ts';

/** Where markets are looked up. */
export interface MarketLookup {
  readonly store: StoreReader;
  readonly live: { readonly followed: FollowedMarkets };
}

type KnownMarket = Pick<Market, 'marketId' | 'eventType' | 'ticker'>;

/** Possible form of a market id; any other is unknown without a query. */
const MARKET_ID = /^[\w.-]{1,100}$/;
/** Entries per store, about 200 bytes each. */
export const REMEMBERED_MAX = 10_000;
const remembered = new WeakMap<StoreReader, BoundedCache<KnownMarket>>();

/**
 * The market a request names. It is in memory if the recorder follows it or an earlier request named it; otherwise the
 * store is queried, which costs as much as finding a page.
 * @throws {RequestRefusedError} 404 if it does not exist.
 */
export async function knownMarket(
  { live, store }: MarketLookup,
  marketId: string,
  signal: AbortSignal,
): Promise<KnownMarket> {
  const known = live.followed.market(marketId) ?? remembered.get(store)?.get(marketId);
  if (known) return known;
  const found = MARKET_ID.test(marketId) ? await findMarketKey(store, marketId, signal) : null;
  if (!found) throw notFound('Market not found');
  remember(store, found);
  return found;
}

/** A market never changes its series. One without a series is not cached, because its series may still become known. */
function remember(store: StoreReader, market: KnownMarket): void {
  if (market.ticker === UNKNOWN || market.eventType === UNKNOWN) return;
  const markets = remembered.get(store) ?? boundedCache<KnownMarket>(REMEMBERED_MAX);
  remembered.set(store, markets);
  markets.set(market.marketId, market);
}
