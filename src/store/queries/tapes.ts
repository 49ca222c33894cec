/** The recorded data of one market that a replay reads, in receive order and without late rows. */
import { TAPE_TRADE_SIDES } from '../../core/session/tape.ts';
import type { TapeDataset } from '../../schema/api/tapes.ts';
import { BOOK_FORMAT } from '../tables/bookRowReader.ts';
import { bookColumns } from './books.ts';
import { maybeMs, SEEN_LIVE, timeParam } from './sql.ts';

/** Arrival numbers greater than one and up to and including another. */
const IN_STRETCH = 't.seq > {after_seq:UInt64} AND t.seq <= {to_seq:UInt64}';
const IN_MARKET = `t.market_id = {market_id:String}
  AND t.received >= ${timeParam('from_ms')} AND t.received < ${timeParam('to_ms')} AND ${IN_STRETCH} AND ${SEEN_LIVE}`;
const RECEIVED = 'toFloat64(toUnixTimestamp64Milli(t.received))';
const tick = (column: string) => `ifNull(toFloat64(t.${column}), nan)`;

/** Rows of fixed width: a flag followed by this many doubles. */
export const QUOTE_DOUBLES = 7;
export const PRICE_DOUBLES = 4;
export const TRADE_DOUBLES = 5;
/** The flag of a trade's row is the number of its side in `TAPE_TRADE_SIDES`. */

export const TAPE_QUOTES = `SELECT t.trusted, toFloat64(t.seq), ${RECEIVED}, ${tick('yes_bid')}, ${tick('yes_ask')},
    ${tick('no_bid')}, ${tick('no_ask')}, ifNull(t.underlying, nan)
  FROM quotes AS t WHERE ${IN_MARKET} ORDER BY t.seq`;

/**
 * Read by `BookRowReader`: its time holds the row's `seq`, and its underlying price the receive time. Parameter `depth`:
 * levels per side.
 */
export const TAPE_BOOKS = `SELECT ${bookColumns({
  hasDepth: true,
  // Trust as stored: a gap found later is known only from the time it was detected, not from this row's time.
  trusted: 't.trusted',
  time: 'toInt64(t.seq)',
  underlying: `CAST(${RECEIVED}, 'Nullable(Float64)')`,
})}
  FROM books AS t WHERE ${IN_MARKET} ORDER BY t.seq`;

export const TAPE_PRICES = `SELECT true, toFloat64(t.seq), ${RECEIVED}, toFloat64(toUnixTimestamp64Milli(t.ts)), t.price
  FROM underlying AS t
  WHERE t.ticker = {ticker:String} AND t.source = {source:String}
    AND t.ts >= ${timeParam('from_ms')} AND t.ts < ${timeParam('to_ms')}
    AND t.received < ${timeParam('to_ms')} AND ${IN_STRETCH} AND ${SEEN_LIVE} ORDER BY t.seq`;

export const TAPE_TRADES = `SELECT toUInt8(indexOf([${TAPE_TRADE_SIDES.map((side) => `'${side}'`).join(', ')}], toString(t.side)) - 1),
    toFloat64(t.seq), ${RECEIVED}, toFloat64(toUnixTimestamp64Milli(t.ts)), toFloat64(t.price), toFloat64(t.size)
  FROM trades AS t
  WHERE t.market_id = {market_id:String} AND t.received >= ${timeParam('from_ms')}
    AND t.received < ${timeParam('to_ms')} AND ${IN_STRETCH} AND ${SEEN_LIVE} ORDER BY t.seq`;

const decimals = (side: string) =>
  `arrayMap((p, s) -> [toString(p), toString(s)], t.${side}_px, t.${side}_sz)`;

/** One JSON line for each book, with the fields of a `PerpDepthEvent`. */
export const TAPE_PERP_DEPTH = `SELECT toFloat64(t.seq) AS seq, toUnixTimestamp64Milli(t.ts) AS eventTimeMs,
    toUnixTimestamp64Milli(t.received) AS receivedTimeMs, ${maybeMs('t.engine_ts', 'engineTimeMs')},
    t.round_trip_ms AS roundTripMs, t.update_id AS updateId, ${decimals('bid')} AS bids, ${decimals('ask')} AS asks
  FROM perp_depth AS t
  WHERE t.ticker = {ticker:String} AND ifNull(t.venue, 'bybit') = {venue:String}
    AND t.ts >= ${timeParam('from_ms')} - INTERVAL 1 HOUR AND t.ts < ${timeParam('to_ms')} + INTERVAL 1 HOUR
    AND t.received >= ${timeParam('from_ms')} AND t.received < ${timeParam('to_ms')} AND ${IN_STRETCH}
  ORDER BY t.seq`;

/** Finds where the next books of a market end. Parameter `books`: how many. */
export const STRETCH_END = `SELECT count() AS books, max(seq) AS toSeq FROM
  (SELECT t.seq AS seq FROM books AS t WHERE ${IN_MARKET} ORDER BY t.seq LIMIT {books:UInt32})`;

/** The statements of a tape by what they read, with the engine's format of their rows. */
export const TAPE_STATEMENTS = {
  quotes: { query: TAPE_QUOTES, format: 'RowBinary' },
  books: { query: TAPE_BOOKS, format: BOOK_FORMAT },
  trades: { query: TAPE_TRADES, format: 'RowBinary' },
  prices: { query: TAPE_PRICES, format: 'RowBinary' },
  perp_depth: { query: TAPE_PERP_DEPTH, format: 'JSONEachRow' },
} as const satisfies Record<TapeDataset, { query: string; format: string }>;
