/**
 * The events of one token for other backtest engines: book changes and trades in the order of arrival, without rows
 * that arrived late. An untrusted book is an empty one, because those engines know no trust.
 */
import { booksOf } from './books.ts';
import { levels } from './ladders.ts';
import { tradesOf } from './lists.ts';
import { SEEN_LIVE, type Source } from './sql.ts';
import { TRUSTED_THEN, trustRevisionThen } from './trust.ts';

export type TokenName = 'yes' | 'no';
/** A market up to an arrival number: later rows may be stored while its files are written. */
interface MarketState {
  readonly marketId: string;
  readonly upToSeq: number;
}
type Query = Pick<Source, 'params'> & { readonly query: string };

/** Of an event: hftbacktest and NautilusTrader have the same four kinds of a change under other numbers. */
const ADD = 1;
const UPDATE = 2;
const REMOVE = 3;
const CLEAR = 4;
const BID = 1;
const ASK = 2;
/** A change of a level: kind, side, price in ticks, size in millionths of a share. */
const CHANGE = 'Array(Tuple(kind UInt8, side UInt8, price Int64, size Int64))';

const exact = (side: string) =>
  `arrayMap(l -> (toInt64(round(l.1 * 10000)), toInt64(round(l.2 * 1000000))), ${side})`;

const IN_STATE = 't.seq <= {state_seq:UInt64}';
const paramsOf = ({ marketId, upToSeq }: MarketState) => ({ market_id: marketId, state_seq: upToSeq });

/** The changes of one side: removals come first, so that no change crosses the book for a moment. */
const removed = (side: number, now: string, before: string) =>
  `arrayMap(l -> (${REMOVE}, ${side}, l.1, 0), arrayFilter(l -> NOT arrayExists(c -> c.1 = l.1, ${now}), ${before}))`;
const changed = (side: number, now: string, before: string) =>
  `arrayMap(l -> (if(arrayExists(o -> o.1 = l.1, ${before}), ${UPDATE}, ${ADD}), ${side}, l.1, l.2),
     arrayFilter(l -> NOT has(${before}, l), ${now}))`;
const added = (side: number, now: string) => `arrayMap(l -> (${ADD}, ${side}, l.1, l.2), ${now})`;
const cleared = `[(${CLEAR}, 0, 0, 0)]`;

/** One row for each book that changed anything; `is_snapshot`: it begins with a clear. */
function bookChanges(token: TokenName): string {
  const [bids, asks] = [`${token}_bid`, `${token}_ask`] as const;
  return `SELECT ts, received, seq, good != was_good AS is_snapshot,
      CAST(multiIf(
        good AND was_good, arrayConcat(${removed(BID, 'bids', 'old_bids')}, ${removed(ASK, 'asks', 'old_asks')},
          ${changed(BID, 'bids', 'old_bids')}, ${changed(ASK, 'asks', 'old_asks')}),
        good, arrayConcat(${cleared}, ${added(BID, 'bids')}, ${added(ASK, 'asks')}),
        was_good, ${cleared}, []), '${CHANGE}') AS changes
    FROM (SELECT ts, received, seq, good, bids, asks, lagInFrame(good, 1, false) OVER w AS was_good,
        lagInFrame(bids) OVER w AS old_bids, lagInFrame(asks) OVER w AS old_asks
      FROM (SELECT t.ts AS ts, t.received AS received, t.seq AS seq, ${TRUSTED_THEN.books} AS good,
          if(good, ${exact(levels(bids))}, []) AS bids, if(good, ${exact(levels(asks))}, []) AS asks
        FROM books AS t WHERE ${booksOf('').conditions.join(' AND ')} AND ${IN_STATE} AND ${SEEN_LIVE})
      WINDOW w AS (ORDER BY received, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
    WHERE notEmpty(changes)`;
}

const tradeRows = (token: TokenName, columns: string) => `SELECT ${columns} FROM trades AS t
  WHERE ${tradesOf('').conditions.join(' AND ')} AND ${IN_STATE} AND ${SEEN_LIVE}
    AND endsWith(t.side, '_${token.toUpperCase()}')`;

const nanos = (time: string) => `toUnixTimestamp64Milli(${time}) * 1000000`;

/** Bits of hftbacktest's `ev`: https://docs.rs/hftbacktest/latest/hftbacktest/types (read 2026-11-23). */
const HFT = { exchange: 2 ** 31, local: 2 ** 30, buy: 2 ** 29, sell: 2 ** 28 };
const HFT_KIND = { depth: 1, trade: 2, clear: 3, snapshot: 4 };
const TRADE = 5;

/**
 * Rows of hftbacktest's event type, in the binary form of a row of its array. Trades of a millisecond come before its
 * book changes, so that a queue is not shortened twice. Times never fall: a venue time before an earlier event's is
 * raised to it, and a receive time is at least the venue time.
 */
export function hftbacktestEvents(state: MarketState, token: TokenName): Query {
  const books = `SELECT ts, received, 1 AS is_book, seq, is_snapshot, arrayFlatten(arrayMap(c ->
      if(c.1 = ${CLEAR}, [(c.1, toUInt8(${BID}), c.3, c.4), (c.1, toUInt8(${ASK}), toInt64(10000), c.4)], [c]), changes)) AS changes
    FROM (${bookChanges(token)})`;
  const trade = `t.ts AS ts, t.received AS received, 0 AS is_book, t.seq AS seq, false AS is_snapshot,
    CAST([(${TRADE}, if(startsWith(t.side, 'BUY'), ${BID}, ${ASK}), t.price, t.size)], '${CHANGE}') AS changes`;
  const query = `SELECT
      toUInt64(${HFT.exchange + HFT.local} + if(change.2 = ${BID}, ${HFT.buy}, ${HFT.sell}) + multiIf(
        change.1 = ${TRADE}, ${HFT_KIND.trade}, change.1 = ${CLEAR}, ${HFT_KIND.clear}, is_snapshot, ${HFT_KIND.snapshot},
        ${HFT_KIND.depth})) AS ev,
      toInt64(${nanos('exchange')}) AS exch_ts, toInt64(${nanos('greatest(local, exchange)')}) AS local_ts,
      change.3 / 10000 AS px, change.4 / 1000000 AS qty, toUInt64(0) AS order_id, toInt64(0) AS ival, toFloat64(0) AS fval
    FROM (SELECT max(ts) OVER w AS exchange, max(received) OVER w AS local, received, is_book, seq, is_snapshot, changes
      FROM (${books} UNION ALL ${tradeRows(token, trade)})
      WINDOW w AS (ORDER BY received, is_book, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
    ARRAY JOIN changes AS change, arrayEnumerate(changes) AS place
    ORDER BY received, is_book, seq, place`;
  return { query, params: paramsOf(state) };
}

/** Bits of a delta's `flags`: the last of an event, and of a snapshot. */
const F_LAST = 128;
const F_SNAPSHOT = 32;
/** NautilusTrader's raw values: 128-bit integers of 10^-16, little-endian. */
const fixed = (value: string, zeros: number, type: 'Int128' | 'UInt128') =>
  `CAST(reinterpretAsString(to${type}(${value}) * to${type}('1${'0'.repeat(zeros)}')), 'FixedString(16)')`;

/** Columns of NautilusTrader's `OrderBookDelta`. */
export function nautilusDeltas(state: MarketState, token: TokenName): Query {
  const query = `SELECT change.1 AS action, change.2 AS side, ${fixed('change.3', 12, 'Int128')} AS price,
      ${fixed('change.4', 10, 'UInt128')} AS size, toUInt64(0) AS order_id,
      toUInt8(if(is_snapshot, ${F_SNAPSHOT}, 0) + if(place = length(changes), ${F_LAST}, 0)) AS flags,
      seq AS sequence, toUInt64(${nanos('ts')}) AS ts_event, toUInt64(${nanos('received')}) AS ts_init
    FROM (${bookChanges(token)}) ARRAY JOIN changes AS change, arrayEnumerate(changes) AS place
    ORDER BY received, seq, place`;
  return { query, params: paramsOf(state) };
}

/** A trade id of NautilusTrader has at most 36 characters; the last ones of the venue's are kept. */
const TRADE_ID_CHARACTERS = 36;

/** Columns of NautilusTrader's `TradeTick`. */
export function nautilusTrades(state: MarketState, token: TokenName): Query {
  const columns = `${fixed('t.price', 12, 'Int128')} AS price, ${fixed('t.size', 10, 'UInt128')} AS size,
    toUInt8(if(startsWith(t.side, 'BUY'), 1, 2)) AS aggressor_side,
    right(t.trade_id, ${TRADE_ID_CHARACTERS}) AS trade_id,
    toUInt64(${nanos('t.ts')}) AS ts_event, toUInt64(${nanos('t.received')}) AS ts_init`;
  return {
    query: `${tradeRows(token, columns)} ORDER BY t.received, t.seq`,
    params: paramsOf(state),
  };
}

/** Differs between two times where the events of the market, or their trust, changed in between. */
export function eventsRevision(state: MarketState): Query {
  const of = (table: string) =>
    `SELECT count() AS rows, sum(t.seq) AS seqs, max(t.ts) AS last_ts, max(t.received) AS last_received
     FROM ${table} AS t WHERE t.market_id = {market_id:String} AND ${IN_STATE}`;
  const trust = trustRevisionThen('books', { ts: 'b.last_ts', received: 'b.last_received' });
  return {
    query: `SELECT concat(toString(b.rows), ' ', toString(b.seqs), ' ', toString(t.rows), ' ', toString(t.seqs), ' ',
        toString(${trust})) AS revision FROM (${of('books')}) AS b CROSS JOIN (${of('trades')}) AS t`,
    params: paramsOf(state),
  };
}
