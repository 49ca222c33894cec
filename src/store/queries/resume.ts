/**
 * The data that the collector loads from the store at a start: last books, open gaps, prices and the last receive
 * time.
 */
import { mirrorOf } from '../../core/ladderSide.ts';
import { sizeOfShares } from '../../core/money.ts';
import type { UnderlyingEvent, UnderlyingSource } from '../../schema/events.ts';
import type { Gap, RowTimes } from '../../schema/gap.ts';
import type { Ticker } from '../../schema/market.ts';
import type { BookView, SideView } from '../../schema/records.ts';
import type { StoreReader } from '../reader.ts';
import { maybeMs, SEEN_LIVE } from './sql.ts';

/** One side of a stored ladder, best first. Prices in ticks of 1/10000 USDC, sizes in 1/1,000,000 share. */
export interface StoredSide {
  readonly prices: readonly number[];
  readonly sizes: readonly number[];
}

export interface StoredBook {
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly seq: number;
  readonly trusted: boolean;
  readonly mirrored: boolean;
  readonly underlyingPrice: number | null;
  /** NO sides are empty while `mirrored`. */
  readonly yes: { readonly bids: StoredSide; readonly asks: StoredSide };
  readonly no: { readonly bids: StoredSide; readonly asks: StoredSide };
}

const SIDES = ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'] as const;
type SideName = (typeof SIDES)[number];
export type StoredBookRow = Omit<StoredBook, 'yes' | 'no'> &
  Record<`${SideName}_px`, number[]> &
  Record<`${SideName}_shares`, number[]>;

/** The columns of the table `books` from which a `StoredBookRow` is read. */
export const BOOK_FIELDS = [
  `market_id AS marketId, toUnixTimestamp64Milli(ts) AS eventTimeMs,
  toUnixTimestamp64Milli(received) AS receivedTimeMs, seq, trusted, mirrored, underlying AS underlyingPrice`,
  ...SIDES.flatMap((side) => [
    `${side}_px`,
    `if(wide, ${side}_szw, arrayMap(size -> size / 100, ${side}_sz)) AS ${side}_shares`,
  ]),
].join(', ');

/** Market ids in one query: they are sent in the URL, and a ClickHouse server accepts URLs up to 1 MiB. */
const MARKETS_PER_QUERY = 2_000;

/** The last book of each market; markets without one are omitted. */
export async function loadLastBooks(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<StoredBook[]> {
  const books: StoredBook[] = [];
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const rows = await reader.rows<StoredBookRow>(
      `SELECT ${BOOK_FIELDS}
       FROM books
       WHERE (market_id, ts, books.seq) IN (
         SELECT market_id, last.1, last.2 FROM (
           SELECT market_id, max((ts, seq)) AS last FROM books AS t
           WHERE ${SEEN_LIVE} AND market_id IN {marketIds:Array(String)} GROUP BY market_id))
       ORDER BY market_id`,
      { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY) },
    );
    books.push(...rows.map(storedBook));
  }
  return books;
}

/** The last row of best prices of a market. */
export type LastQuote = RowTimes & {
  readonly marketId: string;
  readonly seq: number;
  readonly trusted: boolean;
};

/** The last quote of each market by arrival; markets without one are omitted. */
export async function loadLastQuotes(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<LastQuote[]> {
  const quotes: LastQuote[] = [];
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const rows = await reader.rows<LastQuote>(
      `SELECT market_id AS marketId, last.1 AS seq, toUnixTimestamp64Milli(last.2) AS eventTimeMs,
         toUnixTimestamp64Milli(last.3) AS receivedTimeMs, last.4 AS trusted
       FROM (SELECT toString(market_id) AS market_id, max((seq, ts, received, trusted)) AS last FROM quotes AS t
         WHERE ${SEEN_LIVE} AND market_id IN {marketIds:Array(String)} GROUP BY market_id)
       ORDER BY market_id`,
      { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY) },
    );
    quotes.push(...rows);
  }
  return quotes;
}

/** A verified row's times and arrival number. */
export type ProvenRow = RowTimes & { readonly seq: number };

/** The last verified row of each market by arrival, a book or a quote; markets without one are omitted. */
export async function loadLastProven(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<Map<string, ProvenRow>> {
  const proven = new Map<string, ProvenRow>();
  const of = (table: string) =>
    `SELECT market_id, seq, ts, received FROM ${table} AS t
     WHERE trusted AND ${SEEN_LIVE} AND market_id IN {marketIds:Array(String)}`;
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const rows = await reader.rows<ProvenRow & { marketId: string }>(
      `SELECT market_id AS marketId, last.1 AS seq, toUnixTimestamp64Milli(last.2) AS eventTimeMs,
         toUnixTimestamp64Milli(last.3) AS receivedTimeMs
       FROM (SELECT toString(market_id) AS market_id, max((seq, ts, received)) AS last
         FROM (${of('books')} UNION ALL ${of('quotes')}) GROUP BY market_id)`,
      { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY) },
    );
    for (const { marketId, ...row } of rows) proven.set(marketId, row);
  }
  return proven;
}

export function storedBook(row: StoredBookRow): StoredBook {
  const { marketId, eventTimeMs, receivedTimeMs, seq, trusted, mirrored, underlyingPrice } = row;
  const side = (name: SideName) => ({
    prices: row[`${name}_px`],
    sizes: row[`${name}_shares`].map((shares) => sizeOfShares(shares) as number),
  });
  return {
    marketId,
    eventTimeMs,
    receivedTimeMs,
    seq,
    trusted,
    mirrored,
    underlyingPrice,
    yes: { bids: side('yes_bid'), asks: side('yes_ask') },
    no: { bids: side('no_bid'), asks: side('no_ask') },
  };
}

/** The ladders of a stored book, with the NO sides that a mirrored book omits. */
export function viewsOf({ yes, no, mirrored }: StoredBook): { yes: BookView; no: BookView } {
  return {
    yes: { bids: viewOf(yes.bids), asks: viewOf(yes.asks) },
    no: {
      bids: viewOf(mirrored ? mirrorOf(yes.asks) : no.bids),
      asks: viewOf(mirrored ? mirrorOf(yes.bids) : no.asks),
    },
  };
}

function viewOf({ prices, sizes }: StoredSide): SideView {
  return { count: prices.length, prices: Uint16Array.from(prices), sizes: Float64Array.from(sizes) };
}

/** Receive times of the rows at a gap's ends; gaps of earlier releases have only receive times. */
export const GAP_START_RECEIVED = 'ifNull(start_received, start_time)';
export const GAP_END_RECEIVED = 'ifNull(end_received, end_time)';

const GAP_FIELDS = `gap_id AS gapId, market_id AS marketId, toUnixTimestamp64Milli(start_time) AS startTimeMs,
  ${maybeMs('end_time', 'endTimeMs')}, cause, feed, repaired_by AS repairedBy,
  toUnixTimestamp64Milli(${GAP_START_RECEIVED}) AS startReceivedMs, ${maybeMs(GAP_END_RECEIVED, 'endReceivedMs')},
  ${maybeMs('known_time', 'knownTimeMs')}, known_seq AS knownSeq`;

/** Open gaps. */
export function loadOpenGaps(reader: StoreReader): Promise<Gap[]> {
  return reader.rows<Gap>(
    `SELECT ${GAP_FIELDS} FROM gaps FINAL WHERE isNull(end_time) ORDER BY start_time, gap_id`,
  );
}

/**
 * A market is followed after its window until the venue reports its outcome; without a known outcome, for this long.
 */
const FOLLOWED_SECONDS = 3_600;

/** Ids of the markets that had rows or were recorded at some time of a range, including both ends. */
export async function marketsRecordedIn(
  reader: StoreReader,
  range: { fromMs: number; toMs: number },
): Promise<string[]> {
  const from = "fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')";
  const to = "fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')";
  const withRows = ['books', 'quotes', 'trades'].map(
    (table) => `SELECT DISTINCT market_id FROM ${table} WHERE ts BETWEEN ${from} AND ${to}`,
  );
  const rows = await reader.rows<{ marketId: string }>(
    `SELECT DISTINCT market_id AS marketId FROM (
       SELECT market_id FROM markets FINAL
       WHERE coalesce(recorded_since, start_time) <= ${to}
         AND coalesce(resolved_time, end_time + ${FOLLOWED_SECONDS}) >= ${from}
       UNION ALL ${withRows.join(' UNION ALL ')})
     ORDER BY marketId`,
    range,
  );
  return rows.map(({ marketId }) => marketId);
}

/** The verified rows of a market, books or quotes, next to a span of venue time; null where there is none. */
interface ProvenAround {
  /** The last row before the span. */
  readonly before: RowTimes | null;
  /** The first row after the span. */
  readonly after: RowTimes | null;
}

/** @param span Includes both its ends. Markets without a verified row outside the span are omitted. */
export async function loadProvenAround(
  reader: StoreReader,
  marketIds: readonly string[],
  span: { fromMs: number; toMs: number },
): Promise<Map<string, ProvenAround>> {
  const around = new Map<string, ProvenAround>();
  const isBefore = "ts < fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')";
  const isAfter = "ts > fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')";
  const of = (table: string) =>
    `SELECT market_id, ts, received FROM ${table}
     WHERE trusted AND market_id IN {marketIds:Array(String)} AND (${isBefore} OR ${isAfter})`;
  const times = (row: string) => `[toUnixTimestamp64Milli(${row}.1), toUnixTimestamp64Milli(${row}.2)]`;
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const rows = await reader.rows<{ marketId: string } & Record<'beforeMs' | 'afterMs', [number, number][]>>(
      `SELECT market_id AS marketId, if(earlier = 0, [], [${times('last')}]) AS beforeMs,
         if(later = 0, [], [${times('first')}]) AS afterMs
       FROM (SELECT market_id, countIf(${isBefore}) AS earlier, countIf(${isAfter}) AS later,
           maxIf((ts, received), ${isBefore}) AS last, minIf((ts, received), ${isAfter}) AS first
         FROM (${of('books')} UNION ALL ${of('quotes')}) GROUP BY market_id)`,
      { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY), ...span },
    );
    for (const { marketId, beforeMs, afterMs } of rows)
      around.set(marketId, { before: rowTimes(beforeMs[0]), after: rowTimes(afterMs[0]) });
  }
  return around;
}

function rowTimes(times: readonly [number, number] | undefined): RowTimes | null {
  return times === undefined ? null : { eventTimeMs: times[0], receivedTimeMs: times[1] };
}

/** The end of each market's window, Unix ms; markets without a record are omitted. */
export async function loadEndTimes(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const rows = await reader.rows<{ marketId: string; endTimeMs: number }>(
      `SELECT market_id AS marketId, toUnixTimestamp64Milli(end_time) AS endTimeMs FROM markets FINAL
       WHERE market_id IN {marketIds:Array(String)}`,
      { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY) },
    );
    for (const { marketId, endTimeMs } of rows) ends.set(marketId, endTimeMs);
  }
  return ends;
}

/** Made once, because it is part of every small request. */
const GAPS_OF = `SELECT ${GAP_FIELDS} FROM gaps FINAL
  WHERE market_id IN {marketIds:Array(String)} ORDER BY start_time, gap_id`;

/** All gaps of the given markets. */
export function loadGapsOf(
  reader: StoreReader,
  marketIds: readonly string[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<Gap[]> {
  return reader.rows<Gap>(GAPS_OF, { marketIds }, options);
}

/** How many books were received in [sinceMs, untilMs), by the second of receipt. */
export function loadRecentBooks(
  reader: StoreReader,
  range: { sinceMs: number; untilMs: number },
): Promise<{ timeMs: number; books: number }[]> {
  return reader.rows(
    `SELECT toUnixTimestamp(received) * 1000 + 999 AS timeMs, toUInt32(count()) AS books FROM books AS t
     WHERE ${SEEN_LIVE} AND received >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
       AND received < fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')
       AND toDate(ts) >= toDate(fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')) - 1
     GROUP BY timeMs`,
    range,
  );
}

/**
 * The prices whose own time is in (fromMs, toMs], in receive order: every relayed point. Trades come hundreds a second:
 * only the last of each second that ends in the range is returned.
 */
export function loadRecentPrices(
  reader: StoreReader,
  range: { fromMs: number; toMs: number },
): Promise<(UnderlyingEvent & { readonly seq: number })[]> {
  return reader.rows(
    `SELECT 'underlying' AS kind, ticker, source, kept.4 AS price, kept.2 AS seq,
       toUnixTimestamp64Milli(kept.1) AS eventTimeMs, toUnixTimestamp64Milli(kept.3) AS receivedTimeMs
     FROM (
       SELECT ticker, source, if(endsWith(source, '_spot'), max(row), min(row)) AS kept
       FROM (
         SELECT ticker, source, (ts, seq, received, price) AS row, toUnixTimestamp64Milli(ts) AS ms,
           if(endsWith(source, '_spot'), intDiv(ms + 999, 1000) * 1000, ms) AS point
         FROM underlying
         WHERE ts > fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
           AND ts <= fromUnixTimestamp64Milli({toMs:Int64}, 'UTC'))
       GROUP BY ticker, source, point)
     ORDER BY kept.2`,
    range,
  );
}

/** The venue's times of the stored prices of one asset from one source, in a span with both ends. */
export async function loadPriceTimes(
  reader: StoreReader,
  span: { ticker: Ticker; source: UnderlyingSource; fromMs: number; toMs: number },
): Promise<readonly number[]> {
  const rows = await reader.rows<{ timeMs: number }>(
    `SELECT DISTINCT toUnixTimestamp64Milli(ts) AS timeMs FROM underlying
     WHERE ticker = {ticker:String} AND source = {source:String}
       AND ts >= fromUnixTimestamp64Milli({fromMs:Int64}) AND ts <= fromUnixTimestamp64Milli({toMs:Int64})`,
    { ...span },
  );
  return rows.map(({ timeMs }) => Number(timeMs));
}

/** When the newest book, trade, underlying price or perp book was received; null in an empty store. */
export async function lastReceivedTimeMs(reader: StoreReader): Promise<number | null> {
  const newest = ['books', 'trades', 'underlying', 'perp_depth'].map(
    (table) =>
      `SELECT max(received) AS newest, count() AS rows FROM ${table} WHERE toDate(ts) >= (SELECT max(toDate(ts)) - 1 FROM ${table})`,
  );
  const [row] = await reader.rows<{ timeMs: number; rows: number }>(
    `SELECT toUnixTimestamp64Milli(max(newest)) AS timeMs, sum(rows) AS rows FROM (${newest.join(' UNION ALL ')})`,
  );
  return row && row.rows > 0 ? row.timeMs : null;
}

/** The highest seq of any row; null in an empty store. New rows must have higher numbers. */
export async function lastSeq(reader: StoreReader): Promise<number | null> {
  const tables = ['books', 'quotes', 'trades', 'underlying', 'perp_depth', 'markets', 'gaps'];
  const highest = tables.map((table) => `SELECT max(seq) AS seq, count() AS rows FROM ${table}`);
  const [row] = await reader.rows<{ seq: number; rows: number }>(
    `SELECT max(seq) AS seq, sum(rows) AS rows FROM (${highest.join(' UNION ALL ')})`,
  );
  return row && row.rows > 0 ? row.seq : null;
}
