import type { Market, Outcome } from '../schema/market.ts';

/**
 * A market's record after the venue's listing was read again. What was known and is now absent stays (numbers
 * come and go in the listing); a resolution heard from another source is not undone by a listing that lags.
 */
export function mergeListing(known: Market | null, listed: Market): Market {
  if (known === null) return listed;
  const merged: Market = {
    ...listed,
    strikePrice: listed.strikePrice ?? known.strikePrice,
    strikeSource: listed.strikePrice === null ? known.strikeSource : listed.strikeSource,
    closePrice: listed.closePrice ?? known.closePrice,
    volume: listed.volume ?? known.volume,
    liquidity: listed.liquidity ?? known.liquidity,
    takerFeeRate: listed.takerFeeRate ?? known.takerFeeRate,
    takerFeeExponent: listed.takerFeeExponent ?? known.takerFeeExponent,
  };
  if (known.status !== 'resolved' || listed.status === 'resolved') return merged;
  const { status, outcome, payoutYes, resolvedTimeMs } = known;
  return { ...merged, status, outcome, payoutYes, resolvedTimeMs };
}

/** The record once the venue's stream named the winner. */
export function withWinner(market: Market, winningTokenId: string, resolvedTimeMs: number): Market | null {
  const up = winningTokenId === market.yesTokenId;
  if (!up && winningTokenId !== market.noTokenId) return null;
  const outcome: Outcome = up ? 'Up' : 'Down';
  return { ...market, status: 'resolved', outcome, payoutYes: up ? 1 : 0, resolvedTimeMs };
}
