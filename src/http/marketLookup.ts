import type { FollowedMarkets } from '../recorder/marketMemory.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import { notFound } from './refusal.ts';

/** Where markets are looked up. */
export interface MarketLookup {
  readonly store: StoreReader;
  readonly live: { readonly followed: FollowedMarkets };
}

export type KnownMarket = Pick<Market, 'marketId' | 'eventType' | 'ticker'>;

/** What an id of ours can look like; others are unknown without asking. */
const MARKET_ID = /^[\w.-]{1,100}$/;
/** Of each store, about 200 bytes each; the one remembered longest goes first. */
export const REMEMBERED_MAX = 10_000;
const remembered = new WeakMap<StoreReader, Map<string, KnownMarket>>();

/**
 * The market a request names: from memory where the recorder follows it or somebody asked for it before, else from the
 * store, which costs as much as finding a page does.
 * @throws {RequestRefusedError} 404 when there is none.
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

/** No market changes its series; one that is of none yet may still be told what it is. */
function remember(store: StoreReader, market: KnownMarket): void {
  if (market.ticker === UNKNOWN || market.eventType === UNKNOWN) return;
  const markets = remembered.get(store) ?? new Map<string, KnownMarket>();
  remembered.set(store, markets);
  const [longest] = markets.keys();
  if (markets.size >= REMEMBERED_MAX && longest !== undefined) markets.delete(longest);
  markets.set(market.marketId, market);
}
