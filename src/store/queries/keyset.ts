import type { StoreReader } from '../reader.ts';
import {
  type Bound,
  contentOf,
  rangeConditions,
  rowsFrom,
  rowsUpTo,
  type Source,
  timeParam,
  where,
} from './sql.ts';

/** A row's position in the order (time, arrival). `seq` is text: it may exceed the exact range of a number. */
export interface Position {
  readonly timeMs: number;
  readonly seq: string;
}

export interface PageRequest {
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** The last row already returned; if set, `offset` is ignored. */
  readonly after: Position | null;
  /** If set, only the last row of each time interval, aligned to UTC, counts. */
  readonly intervalMs: number | null;
}

/** One fixed page: exactly `count` rows are between `low` and `high`, even if more rows arrive meanwhile. */
export interface Page {
  readonly count: number;
  readonly low: Position;
  readonly high: Position;
  /** Where the next page starts; null on the last page. */
  readonly next: Position | null;
  /** The source's `revision` when the keys were found. */
  readonly revision: string;
}

interface Statement {
  query: string;
  params: Record<string, string | number>;
}

/** Pairs of Unix milliseconds and sequence number, as text. */
type Key = [timeMs: string, seq: string];

interface HeadRow {
  revision: string;
  found: number;
  first: Key;
  last: Key;
}

/**
 * The keys of a page's rows and of the next row, `(Unix ms, seq)`, as one array `keys` in the page's order. Reading
 * them is cheap compared with the rows.
 */
export function pageKeys(source: Source, request: PageRequest): Statement {
  const { descending, intervalMs } = request;
  const { conditions, params } = selection(source, request);
  const key = '(toUnixTimestamp64Milli(t.ts), t.seq)';
  const selected =
    intervalMs === null
      ? `SELECT ${key} AS k FROM ${source.table} AS t ${where(conditions)} ORDER BY ${order(descending)}`
      : `SELECT max(${key}) AS k FROM ${source.table} AS t ${where(conditions)} GROUP BY ${stretch('t.ts')} ORDER BY k${descending ? ' DESC' : ''}`;
  // Sorted again because an aggregate guarantees no order; the keys are already sorted, so it costs little.
  const sort = descending ? 'arrayReverseSort' : 'arraySort';
  return {
    query: `SELECT ${sort}(groupArray(k)) AS keys
      FROM (${selected} ${ONE_MORE})`,
    params: { ...params, ...(intervalMs === null ? {} : { interval_ms: intervalMs }) },
  };
}

/**
 * A page's rows and the next row, in the page's order, in a plain statement: the engine analyses it in half the time of
 * one that finds the page first. Only for short pages of consecutive rows, because it reads the columns of skipped rows
 * too.
 */
export function plainRows(
  source: Source,
  request: PageRequest & { readonly intervalMs: null },
  columns: string,
): Statement {
  const { conditions, params } = selection(source, request);
  return {
    query: `SELECT ${columns} FROM ${source.table} AS t ${where(conditions)} ORDER BY ${order(request.descending)} ${ONE_MORE}`,
    params,
  };
}

const ONE_MORE = 'LIMIT {limit:UInt32} + 1 OFFSET {offset:UInt64}';

/** The conditions of the rows that a page is taken from, and the parameters of `ONE_MORE`. */
function selection(
  source: Source,
  request: PageRequest,
): { conditions: string[]; params: Statement['params'] } {
  const { limit, offset, after } = request;
  const range = rangeConditions('t.ts', request);
  const seen = after ? afterConditions(request) : [];
  return {
    conditions: [...source.conditions, ...range.conditions, ...seen],
    params: {
      ...source.params,
      ...range.params,
      limit,
      offset: after ? 0 : offset,
      ...(after ? { after_ms: after.timeMs, after_seq: after.seq } : {}),
    },
  };
}

/** The index of a page's last key in `pageKeys`. */
export const LAST_KEY = 'least({limit:UInt32}, length(keys))';

export function revisionOf({ revision = 'toUInt64(0)' }: Source): string {
  return revision;
}

/**
 * A revision that also differs once rows were added anywhere in the range. Its parameters are those of the page.
 */
export function rangeRevision(source: Source, request: PageRequest): string {
  const { conditions } = rangeConditions('t.ts', request);
  return `cityHash64(${revisionOf(source)}, ${contentOf(source.table, [...source.conditions, ...conditions])})`;
}

/**
 * Finds a page by its keys.
 * @returns Null when no row is selected.
 */
export async function findPage(
  store: StoreReader,
  source: Source,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page | null> {
  const keys = pageKeys(source, request);
  const keyAt = (index: string) => `(toString(keys[${index}].1), toString(keys[${index}].2))`;
  const query = `
    SELECT toUInt32(length(keys)) AS found, ${keyAt('1')} AS first, ${keyAt(LAST_KEY)} AS last,
      toString(${revisionOf(source)}) AS revision
    FROM (${keys.query})`;
  const [head] = await store.rows<HeadRow>(query, keys.params, { signal });
  if (!head) return null;
  const { found, first, last, revision } = head;
  return pageOf(request, { found, first: position(first), last: position(last), revision });
}

/** @param keys The number of keys, the page's first and last key in its order, and the source's revision. */
export function pageOf(
  { limit, descending }: Pick<PageRequest, 'limit' | 'descending'>,
  { found, first, last, revision }: { found: number; first: Position; last: Position; revision: string },
): Page | null {
  if (found === 0) return null;
  return {
    count: Math.min(found, limit),
    low: descending ? last : first,
    high: descending ? first : last,
    next: found > limit ? last : null,
    revision,
  };
}

function position([timeMs, seq]: Key): Position {
  return { timeMs: Number(timeMs), seq };
}

/** Number of rows in the range, ignoring paging. */
export async function countRows(
  store: StoreReader,
  source: Source,
  request: PageRequest,
  signal: AbortSignal,
): Promise<number> {
  const range = rangeConditions('t.ts', request);
  const counted = request.intervalMs === null ? 'count()' : `uniqExact(${stretch('t.ts')})`;
  const [row] = await store.rows<{ total: string }>(
    `SELECT toString(${counted}) AS total FROM ${source.table} AS t ${where([...source.conditions, ...range.conditions])}`,
    {
      ...source.params,
      ...range.params,
      ...(request.intervalMs === null ? {} : { interval_ms: request.intervalMs }),
    },
    { signal },
  );
  return Number(row?.total ?? 0);
}

/** The statement that reads a page's rows, in the page's order. */
export function pageRows(
  source: Source,
  request: PageRequest,
  page: Pick<Page, 'low' | 'high'>,
  columns: string,
): Statement {
  return {
    query: rowsBetween(source, request, {
      columns,
      low: { time: timeParam('low_ms'), seq: '{low_seq:UInt64}' },
      high: { time: timeParam('high_ms'), seq: '{high_seq:UInt64}' },
    }),
    params: {
      ...source.params,
      low_ms: page.low.timeMs,
      low_seq: page.low.seq,
      high_ms: page.high.timeMs,
      high_seq: page.high.seq,
      ...(request.intervalMs === null ? {} : { interval_ms: request.intervalMs }),
    },
  };
}

export function rowsBetween(
  source: Source,
  request: PageRequest,
  { columns, low, high }: { columns: string; low: Bound; high: Bound },
): string {
  const inPage = where([...source.conditions, ...rowsFrom(low), ...rowsUpTo(high)]);
  const lastOfEach =
    request.intervalMs === null
      ? ''
      : ` AND (t.ts, t.seq) IN (
          SELECT k.1, k.2 FROM (SELECT max((t.ts, t.seq)) AS k FROM ${source.table} AS t ${inPage} GROUP BY ${stretch('t.ts')}))`;
  return `SELECT ${columns} FROM ${source.table} AS t ${inPage}${lastOfEach} ORDER BY ${order(request.descending)}`;
}

function afterConditions({ descending, intervalMs }: PageRequest): string[] {
  const compare = descending ? '<' : '>';
  const bound = `t.ts ${compare}= ${timeParam('after_ms')}`;
  if (intervalMs === null) {
    return [bound, `(t.ts, t.seq) ${compare} (${timeParam('after_ms')}, {after_seq:UInt64})`];
  }
  // An interval that was already returned is skipped, even if rows were added to it since.
  return [bound, `${stretch('t.ts')} ${compare} intDiv({after_ms:Int64}, {interval_ms:Int64})`];
}

function stretch(column: string): string {
  return `intDiv(toUnixTimestamp64Milli(${column}), {interval_ms:Int64})`;
}

function order(descending: boolean): string {
  return descending ? 't.ts DESC, t.seq DESC' : 't.ts, t.seq';
}
