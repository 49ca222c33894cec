/**
 * Compares a market as served by the API with the venue's own record of it. A row of the venue must be served, or be
 * within a gap of its market, both bounds included. A served row strictly inside a gap must not be trusted. A trusted
 * row must be a state that the venue had.
 */
import { type BothBooks, digestOf } from './ladderDigest.ts';
import { type MarketRecord, type SentBook, tradeKey } from './venueRecord.ts';

export interface ServedBook extends BothBooks {
  readonly ts: string;
  readonly trusted: boolean;
}

export interface ServedTrade {
  readonly ts: string;
  readonly side: string;
  readonly price: number;
  readonly size: number;
  readonly trade_id: string;
}

export interface ServedGap {
  readonly gap_id: string;
  readonly start: string;
  readonly end: string | null;
  readonly cause: string;
}

/** All data that the API serves of one market. */
export interface ServedMarket {
  readonly books: readonly ServedBook[];
  readonly trades: readonly ServedTrade[];
  readonly gaps: readonly ServedGap[];
}

/** Counts that are summed over markets and over the parts of a run. */
export interface Counts {
  /** Rows that the venue sent, or had while the market was not followed between two subscriptions. */
  rows: number;
  found: number;
  coveredByGaps: number;
  /** Rows of the first moments of a market, from before its first row on disk. */
  beforeRecording: number;
  missing: number;
  servedRows: number;
  gaps: number;
  trustedInsideGaps: number;
  /** Trusted rows with a state that the venue never had at that time. */
  trustedNeverSent: number;
  /**
   * Trusted rows that are served more often than the venue had their state at that time. The row that ends a `store_down`
   * gap is not counted: it repeats the book of a market without changes, which may have been lost.
   */
  doubled: number;
}

export const COUNTS_NONE: Counts = {
  rows: 0,
  found: 0,
  coveredByGaps: 0,
  beforeRecording: 0,
  missing: 0,
  servedRows: 0,
  gaps: 0,
  trustedInsideGaps: 0,
  trustedNeverSent: 0,
  doubled: 0,
};

/** The counts of a comparison, for the progress of a run. */
export function countsLine({ rows, found, coveredByGaps, missing, trustedInsideGaps }: Counts): string {
  return `${rows} rows, ${found} found, ${coveredByGaps} in gaps, ${missing} missing, ${trustedInsideGaps} trusted inside gaps`;
}

interface Comparison extends Counts {
  /** The first faults, as text. */
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 3;

interface Interval {
  readonly startMs: number;
  readonly endMs: number;
  readonly cause: string;
  readonly text: string;
}

/** @param states The venue's states up to now; later than `record` if the API was read after it. */
export function compareMarket(
  record: MarketRecord,
  served: ServedMarket,
  states: readonly SentBook[] = record.books,
): Comparison {
  const gaps = served.gaps.map(intervalOf);
  const counts = {
    ...COUNTS_NONE,
    servedRows: served.books.length + served.trades.length,
    gaps: gaps.length,
  };
  const examples: string[] = [];
  const note = (text: string) => {
    if (examples.length < EXAMPLES_MAX) examples.push(`${record.marketId.slice(0, 10)} ${text}`);
  };
  const books = served.books.map((book) => ({ ...book, tsMs: Date.parse(book.ts), digest: digestOf(book) }));
  const judge = (kind: string, rows: readonly JudgedRow[], firstServedMs: number) => {
    for (const [index, row] of rows.entries()) {
      counts.rows++;
      if (row.isFound) counts.found++;
      else if (gaps.some(({ startMs, endMs }) => startMs <= row.tsMs && row.tsMs <= endMs))
        counts.coveredByGaps++;
      else if (!row.isSettled && row.tsMs < firstServedMs) counts.beforeRecording++;
      else {
        counts.missing++;
        note(
          `${row.isSent ? 'sent' : 'unfollowed'} ${kind} at ${timeText(row.tsMs)} is missing; ${neighbours(rows, index)}; ${nearest(gaps, row.tsMs)}`,
        );
      }
    }
  };
  const firstBookMs = books.reduce((first, { tsMs }) => Math.min(first, tsMs), Number.POSITIVE_INFINITY);
  judge('book', judgedBooks(record, books), firstBookMs);
  judge('trade', judgedTrades(record, served.trades), firstBookMs);

  const known = new Map<string, number>();
  for (const { tsMs, digest } of states) {
    const state = `${tsMs} ${digest}`;
    known.set(state, (known.get(state) ?? 0) + 1);
  }
  const servedTimes = new Map<string, number>();
  for (const { tsMs, digest, trusted } of books) {
    if (!trusted) continue;
    const gap = gaps.find(({ startMs, endMs }) => startMs < tsMs && tsMs < endMs);
    if (gap !== undefined) {
      counts.trustedInsideGaps++;
      note(`trusted book at ${timeText(tsMs)} inside ${gap.text}`);
    }
    const state = `${tsMs} ${digest}`;
    const times = (servedTimes.get(state) ?? 0) + 1;
    servedTimes.set(state, times);
    const sentTimes = known.get(state);
    const repeated = gaps.filter(({ cause, endMs }) => cause === 'store_down' && endMs === tsMs).length;
    if (sentTimes !== undefined && times > sentTimes + repeated) {
      counts.doubled++;
      note(`trusted book at ${timeText(tsMs)} is served ${times} times and was sent ${sentTimes} times`);
    }
    if (sentTimes !== undefined) continue;
    counts.trustedNeverSent++;
    note(`trusted book at ${timeText(tsMs)} is no state of the venue`);
  }
  return { ...counts, examples };
}

/** Adds counts; other members are omitted. */
export function addCounts(a: Counts, b: Counts): Counts {
  const names = Object.keys(COUNTS_NONE) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Counts;
}

interface JudgedRow {
  readonly tsMs: number;
  readonly isSent: boolean;
  readonly isFound: boolean;
  readonly isSettled: boolean;
}

function judgedBooks(
  record: MarketRecord,
  books: readonly { readonly tsMs: number; readonly digest: string }[],
): JudgedRow[] {
  const served = new Set(books.map(({ tsMs, digest }) => `${tsMs} ${digest}`));
  return judged(record.books, record.booksFollowed, record.settledBook, ({ tsMs, digest }) =>
    served.has(`${tsMs} ${digest}`),
  );
}

function judgedTrades(record: MarketRecord, trades: readonly ServedTrade[]): JudgedRow[] {
  const served = new Set(trades.map(tradeKey));
  return judged(record.trades, record.tradesFollowed, record.settledTrade, ({ key }) => served.has(key));
}

function judged<Row extends { readonly tsMs: number; readonly isSent: boolean }>(
  rows: readonly Row[],
  followed: number,
  settled: number | null,
  isFound: (row: Row) => boolean,
): JudgedRow[] {
  return rows.flatMap((row, index) => {
    if (index >= followed && !row.isSent) return [];
    const isSettled = settled !== null && index >= settled;
    return [{ tsMs: row.tsMs, isSent: row.isSent, isFound: isFound(row), isSettled }];
  });
}

function intervalOf({ start, end, cause }: ServedGap): Interval {
  const [startMs, endMs] = [Date.parse(start), end === null ? Number.POSITIVE_INFINITY : Date.parse(end)];
  return {
    startMs,
    endMs,
    cause,
    text: `${cause} ${timeText(startMs)} to ${end === null ? 'now' : timeText(endMs)}`,
  };
}

function nearest(gaps: readonly Interval[], tsMs: number): string {
  const away = ({ startMs, endMs }: Interval) => Math.max(startMs - tsMs, tsMs - endMs);
  const [gap] = gaps.toSorted((a, b) => away(a) - away(b));
  return gap === undefined ? 'the market has no gap' : `nearest gap, ${away(gap)} ms away: ${gap.text}`;
}

/** A row's position in the record, and the nearest served rows. */
function neighbours(rows: readonly JudgedRow[], index: number): string {
  const before = rows.slice(0, index).findLast(({ isFound }) => isFound);
  const after = rows.slice(index + 1).find(({ isFound }) => isFound);
  const text = (row: JudgedRow | undefined) => (row === undefined ? 'none' : timeText(row.tsMs));
  return `row ${index + 1} of ${rows.length}, found before it: ${text(before)}, after it: ${text(after)}`;
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(11, 23);
}
