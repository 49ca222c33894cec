import type { PerpVenueName } from '../../schema/events.ts';
import { isoTime, type Source } from './sql.ts';
import { TRUST_REVISION, TRUSTED } from './trust.ts';

function ofMarket(table: string, marketId: string, more: readonly string[] = []): Source {
  return {
    table,
    conditions: ['t.market_id = {market_id:String}', ...more],
    params: { market_id: marketId },
  };
}

/** Changes of a YES best price or of trust. */
export const yesQuotesOf = (marketId: string): Source => ({
  ...ofMarket('quotes', marketId, ['t.yes_changed']),
  revision: TRUST_REVISION,
});
export const tradesOf = (marketId: string) => ofMarket('trades', marketId);

export function perpDepthOf(ticker: string, venue: PerpVenueName): Source {
  return {
    table: 'perp_depth',
    // Releases that recorded Bybit alone named no venue.
    conditions: ['t.ticker = {ticker:String}', `ifNull(t.venue, 'bybit') = {venue:String}`],
    params: { ticker, venue },
  };
}

export function underlyingOf(ticker: string, source: string): Source {
  return {
    table: 'underlying',
    conditions: ['t.ticker = {ticker:String}', 't.source = {source:String}'],
    params: { ticker, source },
  };
}

/** True where the YES mid exists: the book has both sides and is trusted. */
export const HAS_MID = `(${TRUSTED.quotes} AND t.yes_bid IS NOT NULL AND t.yes_ask IS NOT NULL)`;

/** One division halves and scales the sum, so 0.53 and 0.55 give exactly 0.54. */
export const YES_MID = '(toUInt32(assumeNotNull(t.yes_bid)) + toUInt32(assumeNotNull(t.yes_ask))) / 20000';

export const TIMESERIES_COLUMNS = `
  ${isoTime('t.ts')} AS ts,
  if(${HAS_MID} AS has_mid, ${YES_MID}, NULL) AS mid_yes,
  if(has_mid, (toInt32(assumeNotNull(t.yes_ask)) - toInt32(assumeNotNull(t.yes_bid))) / 10000, NULL) AS spread_yes,
  t.underlying AS underlying_price`;

export const TRADE_COLUMNS = `
  ${isoTime('t.ts')} AS ts, t.side AS side, t.price / 10000 AS price, t.size / 1000000 AS size, t.trade_id AS trade_id`;

export const UNDERLYING_COLUMNS = `${isoTime('t.ts')} AS ts, t.price AS price`;

const pairs = (side: string) =>
  `arrayMap((p, s) -> [toFloat64(p), toFloat64(s)], t.${side}_px, t.${side}_sz)`;
const best = (side: string) => `if(empty(t.${side}_px), NULL, toFloat64(t.${side}_px[1]))`;

export const PERP_DEPTH_COLUMNS = `
  ${isoTime('t.ts')} AS timestamp, t.update_id AS update_id, ${pairs('bid')} AS bids, ${pairs('ask')} AS asks,
  ${best('bid')} AS best_bid, ${best('ask')} AS best_ask, length(t.bid_px) AS n_bids, length(t.ask_px) AS n_asks`;
