import { TICKS_PER_USDC } from '../core/money.ts';
import type { MarketBody } from '../schema/api/resources.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { EVENT_URL } from '../store/queries/markets.ts';

/** Formats an in-memory market record; the fields equal those of the store's query for the stored record. */
export function marketBody(market: Market, coverage: number): MarketBody {
  return {
    market_id: market.marketId,
    event_id: market.eventId,
    slug: market.slug,
    question: market.question,
    market_type: market.eventType,
    ticker: market.ticker,
    status: market.status,
    start_time: formatTime(market.startTimeMs),
    end_time: formatTime(market.endTimeMs),
    strike_price: market.strikePrice,
    strike_source: market.strikeSource,
    close_price: market.closePrice,
    outcome: market.outcome,
    payout_yes: market.payoutYes,
    coverage,
    resolved_at: formatTimeOrNull(market.resolvedTimeMs),
    resolved_at_source: market.resolvedTimeSource,
    volume: market.volume,
    liquidity: market.liquidity,
    tick_size: market.tickSize / TICKS_PER_USDC,
    taker_fee_rate: market.takerFeeRate,
    taker_delay_ms: market.takerDelayMs,
    polymarket_url: market.slug === UNKNOWN ? null : `${EVENT_URL}${market.slug}`,
  };
}
