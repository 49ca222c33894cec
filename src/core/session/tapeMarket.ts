/** What a replay may know of a market's record. */
import { type Market, UNKNOWN } from '../../schema/market.ts';
import type { Resolution, TapeMarket } from './tape.ts';

/**
 * The facts of a market that a replay may know. @throws {TypeError} For a market without a series: none can be
 * requested.
 */
export function tapeMarketOf(market: Market): TapeMarket {
  const { ticker, eventType } = market;
  if (ticker === UNKNOWN || eventType === UNKNOWN) throw new TypeError('a market of no series has no tape');
  return {
    ...{ marketId: market.marketId, ticker, eventType },
    ...{ startTimeMs: market.startTimeMs, endTimeMs: market.endTimeMs },
    ...{ strikePrice: market.strikePrice, strikeKnownTimeMs: market.strikeKnownTimeMs },
    ...{ takerFeeRate: market.takerFeeRate, takerFeeExponent: market.takerFeeExponent },
    ...{ takerDelayMs: market.takerDelayMs, twapLookbackSeconds: market.twapLookbackSeconds },
    decidingFeed: market.decidingFeed,
  };
}

/** Only the venue's resolution counts: closed is not resolved. */
export function resolutionOf({ status, payoutYes, resolvedTimeMs, endTimeMs }: Market): Resolution | null {
  if (status !== 'resolved') return null;
  return { payoutYes, resolvedTimeMs: resolvedTimeMs ?? endTimeMs };
}
