import type { Market } from '../schema/market.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import type { ApiParts } from './parts.ts';
import { notFound } from './refusal.ts';

export type KnownMarket = Pick<Market, 'marketId' | 'eventType' | 'ticker'>;

/** What an id of ours can look like; others are unknown without asking. */
const MARKET_ID = /^[\w.-]{1,100}$/;

/**
 * The market a request names: from memory where the recorder follows it, else from the store.
 * @throws {RequestRefusedError} 404 when there is none.
 */
export async function knownMarket(
  { live, store }: Pick<ApiParts, 'live' | 'store'>,
  marketId: string,
  signal: AbortSignal,
): Promise<KnownMarket> {
  const known =
    live.market?.(marketId) ??
    (MARKET_ID.test(marketId) ? await findMarketKey(store, marketId, signal) : null);
  if (!known) throw notFound('Market not found');
  return known;
}
