import type { StoreReader } from '../reader.ts';
import { rangeConditions, type Source, timeParam, where } from './sql.ts';

/** A row's place in the order (time, arrival). `seq` stays text: it may pass what a number holds exactly. */
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
  /** The last row already seen; then `offset` does not count. */
  readonly after: Position | null;
  /** Set: only the last row of each such stretch of time, aligned to UTC, counts. */
  readonly intervalMs: number | null;
}

/** One page, pinned: the rows between `low` and `high` are exactly `count` rows, however many arrive meanwhile. */
export interface Page {
  readonly count: number;
  readonly low: Position;
  readonly high: Position;
  /** Where the next page starts; null when this is the last. */
  readonly next: Position | null;
}

/** Pairs of Unix milliseconds and sequence number, as text. */
type Key = [timeMs: string, seq: string];

interface HeadRow {
  found: number;
  first: Key;
  last: Key;
}

/**
 * Finds a page by reading the two key columns alone, which is cheap beside the rows themselves.
 * @returns Null when no row is selected.
 */
export async function findPage(
  store: StoreReader,
  source: Source,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page | null> {
  const { limit, offset, after, descending, intervalMs } = request;
  const range = rangeConditions('t.ts', request);
  const seen = after ? afterConditions(request) : [];
  const conditions = [...source.conditions, ...range.conditions, ...seen];
  const key = '(toUnixTimestamp64Milli(t.ts), t.seq)';
  const selected =
    intervalMs === null
      ? `SELECT ${key} AS k FROM ${source.table} AS t ${where(conditions)} ORDER BY ${order(descending)}`
      : `SELECT max(${key}) AS k FROM ${source.table} AS t ${where(conditions)} GROUP BY ${stretch('t.ts')} ORDER BY k${descending ? ' DESC' : ''}`;
  // Sorted once more because an aggregate promises no order; the keys come sorted, so it costs little.
  const sort = descending ? 'arrayReverseSort' : 'arraySort';
  const keyAt = (index: string) => `(toString(keys[${index}].1), toString(keys[${index}].2))`;
  const query = `
    SELECT toUInt32(length(keys)) AS found, ${keyAt('1')} AS first, ${keyAt('least({limit:UInt32}, length(keys))')} AS last
    FROM (SELECT ${sort}(groupArray(k)) AS keys
      FROM (${selected} LIMIT {limit:UInt32} + 1 OFFSET {offset:UInt32}))`;
  const params = {
    ...source.params,
    ...range.params,
    limit,
    offset: after ? 0 : Math.min(offset, 0xffff_ffff),
    ...(after ? { after_ms: after.timeMs, after_seq: after.seq } : {}),
    ...(intervalMs === null ? {} : { interval_ms: intervalMs }),
  };
  const [head] = await store.rows<HeadRow>(query, params, { signal });
  if (!head || head.found === 0) return null;
  const first = position(head.first);
  const last = position(head.last);
  return {
    count: Math.min(head.found, limit),
    low: descending ? last : first,
    high: descending ? first : last,
    next: head.found > limit ? last : null,
  };
}

function position([timeMs, seq]: Key): Position {
  return { timeMs: Number(timeMs), seq };
}

/** How many rows the range holds, paging aside. */
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
): { query: string; params: Record<string, string | number> } {
  const bounds = [
    `t.ts >= ${timeParam('low_ms')}`,
    `t.ts <= ${timeParam('high_ms')}`,
    // Comparing pairs would say it shorter and cost 5 ms for 10,000 rows.
    `(t.ts > ${timeParam('low_ms')} OR t.seq >= {low_seq:UInt64})`,
    `(t.ts < ${timeParam('high_ms')} OR t.seq <= {high_seq:UInt64})`,
  ];
  const inPage = where([...source.conditions, ...bounds]);
  const lastOfEach =
    request.intervalMs === null
      ? ''
      : ` AND (t.ts, t.seq) IN (
          SELECT k.1, k.2 FROM (SELECT max((t.ts, t.seq)) AS k FROM ${source.table} AS t ${inPage} GROUP BY ${stretch('t.ts')}))`;
  return {
    query: `SELECT ${columns} FROM ${source.table} AS t ${inPage}${lastOfEach} ORDER BY ${order(request.descending)}`,
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

function afterConditions({ descending, intervalMs }: PageRequest): string[] {
  const compare = descending ? '<' : '>';
  const bound = `t.ts ${compare}= ${timeParam('after_ms')}`;
  if (intervalMs === null) {
    return [bound, `(t.ts, t.seq) ${compare} (${timeParam('after_ms')}, {after_seq:UInt64})`];
  }
  // A stretch that was answered is done, even if rows were added to it since.
  return [bound, `${stretch('t.ts')} ${compare} intDiv({after_ms:Int64}, {interval_ms:Int64})`];
}

function stretch(column: string): string {
  return `intDiv(toUnixTimestamp64Milli(${column}), {interval_ms:Int64})`;
}

function order(descending: boolean): string {
  return descending ? 't.ts DESC, t.seq DESC' : 't.ts, t.seq';
}
