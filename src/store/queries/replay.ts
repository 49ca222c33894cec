/** The books that a replayed stream sends, page by page in receive order. */
import { text as textOf } from 'node:stream/consumers';
import type { EventType, Market, Ticker } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { levels } from './ladders.ts';
import { isoTime, SEEN_LIVE, storedTime, timeParam } from './sql.ts';

/** A market of the replay. */
export interface ReplayMarket {
  readonly marketId: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
}

/** A book as it was sent live. */
export interface ReplayBook {
  /** Receive time. */
  readonly atMs: number;
  /** Arrival number. */
  readonly seq: number;
  readonly marketId: string;
  /** The snapshot from `"ts"` on, as JSON. */
  readonly body: string;
}

export interface ReplayRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * A book's own time may be this much older than its receive time: a quiet book is resent with the time of its last
 * change.
 */
const TS_BEHIND_MS = 86_400_000;
const TS_AHEAD_MS = 3_600_000;

/** Trust as known at that time: gaps found later do not change it. */
const COLUMNS = `toUnixTimestamp64Milli(t.received) AS at, t.seq AS seq, toString(t.market_id) AS market_id,
  ${isoTime('t.ts')} AS ts, ${levels('yes_bid')} AS yes_bids, ${levels('yes_ask')} AS yes_asks,
  ${levels('no_bid')} AS no_bids, ${levels('no_ask')} AS no_asks, t.underlying AS underlying_price,
  transform(toString(t.market_id), {ids:Array(String)}, {tickers:Array(String)}, '') AS underlying_ticker,
  t.trusted AS trusted`;
const HEAD = /^\{"at":(\d+),"seq":(\d+),"market_id":"([^"\\]+)",/;

const THESE = `t.market_id IN {ids:Array(String)} AND ${SEEN_LIVE} AND t.ts >= ${timeParam('ts_from')} AND t.ts < ${timeParam('ts_to')}`;
const RECEIVED = `t.received >= ${timeParam('from')} AND t.received < ${timeParam('to')}`;

/** The range of arrival numbers in which a market has books. */
interface BookSpan {
  readonly marketId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** The span of each market that has books within the range. */
export async function spansOf(
  store: StoreReader,
  markets: readonly ReplayMarket[],
  { fromMs, toMs }: ReplayRange,
  signal: AbortSignal,
): Promise<BookSpan[]> {
  const params = { ...paramsOf(markets, { fromMs, toMs }), from: storedTime(fromMs), to: storedTime(toMs) };
  return await store.rows<BookSpan>(
    `SELECT toString(t.market_id) AS marketId, min(t.seq) AS firstSeq, max(t.seq) AS lastSeq
     FROM books AS t WHERE ${THESE} AND ${RECEIVED} GROUP BY marketId`,
    params,
    { signal },
  );
}

/** Receive time of the newest book up to an arrival number; null if none of the range's books is so old. */
export async function receivedUpTo(
  store: StoreReader,
  markets: readonly ReplayMarket[],
  { fromMs, toMs, seq }: ReplayRange & { seq: number },
  signal: AbortSignal,
): Promise<number | null> {
  const params = {
    ...paramsOf(markets, { fromMs, toMs }),
    from: storedTime(fromMs),
    to: storedTime(toMs),
    seq,
  };
  const [found] = await store.rows<{ atMs: number; books: number }>(
    `SELECT toUnixTimestamp64Milli(max(t.received)) AS atMs, count() AS books
     FROM books AS t WHERE ${THESE} AND ${RECEIVED} AND t.seq <= {seq:UInt64}`,
    params,
    { signal },
  );
  return found === undefined || Number(found.books) === 0 ? null : Number(found.atMs);
}

/** The next books after an arrival number, at most `limit`; empty at the end. */
export async function nextBooks(
  store: StoreReader,
  { markets, spans }: { markets: readonly ReplayMarket[]; spans: readonly BookSpan[] },
  { fromMs, toMs, afterSeq, limit }: ReplayRange & { afterSeq: number; limit: number },
  signal: AbortSignal,
): Promise<ReplayBook[]> {
  const query = `SELECT ${COLUMNS} FROM books AS t WHERE ${THESE} AND ${RECEIVED}
    AND t.seq > {after:UInt64} AND t.seq < {before:UInt64} ORDER BY t.seq LIMIT {limit:UInt32}`;
  const range = { from: storedTime(fromMs), to: storedTime(toMs), limit };
  for (let after = afterSeq; ; ) {
    const { marketIds, beforeSeq } = running(spans, after);
    if (marketIds.size === 0) return [];
    // The store is ordered by market: a page reads only the markets that were recorded at its time.
    const these = paramsOf(
      markets.filter(({ marketId }) => marketIds.has(marketId)),
      { fromMs, toMs },
    );
    const books = await readBooks(store, query, { ...these, ...range, after, before: beforeSeq }, signal);
    if (books.length > 0) return books;
    after = beforeSeq - 1;
  }
}

/** The markets that have books right after an arrival number, and the number at which another market begins. */
function running(
  spans: readonly BookSpan[],
  afterSeq: number,
): { marketIds: Set<string>; beforeSeq: number } {
  const left = spans.filter(({ lastSeq }) => lastSeq > afterSeq);
  const nextSeq = left.reduce((least, { firstSeq }) => Math.min(least, firstSeq), Number.MAX_SAFE_INTEGER);
  const begun = (span: BookSpan) => span.firstSeq <= Math.max(afterSeq + 1, nextSeq);
  const marketIds = new Set(left.filter(begun).map(({ marketId }) => marketId));
  const later = left.filter((span) => !begun(span)).map(({ firstSeq }) => firstSeq);
  return { marketIds, beforeSeq: Math.min(Number.MAX_SAFE_INTEGER, ...later) };
}

/** The book of each market at the start of the replay; markets without one are omitted. */
export async function booksBefore(
  store: StoreReader,
  markets: readonly ReplayMarket[],
  atMs: number,
  signal: AbortSignal,
): Promise<ReplayBook[]> {
  const query = `SELECT ${COLUMNS} FROM books AS t WHERE ${THESE} AND t.received < ${timeParam('from')}
    ORDER BY t.seq DESC LIMIT 1 BY t.market_id`;
  const params = { ...paramsOf(markets, { fromMs: atMs, toMs: atMs }), from: storedTime(atMs) };
  return (await readBooks(store, query, params, signal)).reverse();
}

function paramsOf(markets: readonly ReplayMarket[], { fromMs, toMs }: ReplayRange) {
  return {
    ids: markets.map(({ marketId }) => marketId),
    tickers: markets.map(({ ticker }) => ticker),
    ts_from: storedTime(fromMs - TS_BEHIND_MS),
    ts_to: storedTime(toMs + TS_AHEAD_MS),
  };
}

/** The engine prints the books; only their heads are parsed here. */
async function readBooks(
  store: StoreReader,
  query: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ReplayBook[]> {
  const settings = { output_format_json_quote_64bit_integers: 0 };
  const body = await store.stream(query, params, { format: 'JSONEachRow', settings, signal });
  const lines = (await textOf(body)).split('\n');
  return lines.filter((line) => line !== '').map(bookOf);
}

function bookOf(line: string): ReplayBook {
  const [head = '', at, seq, marketId = ''] = HEAD.exec(line) ?? [];
  if (head === '') throw new TypeError(`the engine printed a book otherwise: ${line.slice(0, 80)}`);
  return { atMs: Number(at), seq: Number(seq), marketId, body: line.slice(head.length) };
}

/** Markets that were or could have been streamed within the range, by series and by id. */
export async function replayMarkets(
  store: StoreReader,
  wanted: {
    readonly tickers: readonly string[];
    readonly eventTypes: readonly string[];
    readonly marketIds: readonly string[];
  },
  { fromMs, toMs, limit }: ReplayRange & { limit: number },
  signal: AbortSignal,
): Promise<ReplayMarket[]> {
  return await store.rows<ReplayMarket>(
    `SELECT t.market_id AS marketId, t.ticker AS ticker, t.event_type AS eventType FROM markets AS t FINAL
     WHERE t.market_id IN {ids:Array(String)} OR (t.ticker IN {tickers:Array(String)}
       AND t.event_type IN {event_types:Array(String)} AND t.end_time >= ${timeParam('from')}
       AND t.start_time < ${timeParam('to')})
     ORDER BY t.start_time, t.market_id LIMIT {limit:UInt32}`,
    {
      ids: wanted.marketIds,
      tickers: wanted.tickers,
      event_types: wanted.eventTypes,
      limit,
      from: storedTime(fromMs),
      to: storedTime(toMs),
    },
    { signal },
  );
}

/** Outcome and time of the resolution of markets; unresolved ones are omitted. */
export async function resolutionsOf(
  store: StoreReader,
  marketIds: readonly string[],
  signal: AbortSignal,
): Promise<{ marketId: string; outcome: Market['outcome']; atMs: number }[]> {
  return await store.rows(
    `SELECT t.market_id AS marketId, t.outcome AS outcome, toUnixTimestamp64Milli(assumeNotNull(t.resolved_time)) AS atMs
     FROM markets AS t FINAL WHERE t.market_id IN {ids:Array(String)} AND t.status = 'resolved' AND t.resolved_time IS NOT NULL`,
    { ids: marketIds },
    { signal },
  );
}
