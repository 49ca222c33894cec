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

/** How a large page is cut for reading, and what is asked about its rows while its keys are read. */
export interface PagePlan {
  /** Rows of each chunk in the order read; the last size repeats. */
  readonly chunkRows: readonly number[];
  /** A condition on single rows; the page tells whether all of them fulfil it. */
  readonly allRows?: string;
}

/** A stretch of a page, by its first and last row in the order read. */
export interface Chunk {
  readonly first: Position;
  readonly last: Position;
}

/** One page, pinned: the rows between `low` and `high` are exactly `count` rows, however many arrive meanwhile. */
export interface Page {
  readonly count: number;
  readonly low: Position;
  readonly high: Position;
  /** Where the next page starts; null when this is the last. */
  readonly next: Position | null;
  /** Together the whole page, in the order read. */
  readonly chunks: readonly Chunk[];
  /** Every row fulfils the plan's condition; false without one. */
  readonly all: boolean;
}

/** Pairs of Unix milliseconds and sequence number, as text. */
type Key = [timeMs: string, seq: string];

interface HeadRow {
  found: number;
  all_rows: boolean;
  firsts: Key[];
  lasts: Key[];
}

/** A page read in one go. */
const ONE_CHUNK: PagePlan = { chunkRows: [0xffff_ffff] };

/**
 * Finds a page by reading the two key columns alone, which is cheap beside the rows themselves.
 * @returns Null when no row is selected.
 */
export async function findPage(
  store: StoreReader,
  source: Source,
  request: PageRequest,
  { signal, plan = ONE_CHUNK }: { signal: AbortSignal; plan?: PagePlan },
): Promise<Page | null> {
  const { limit, offset, after, descending, intervalMs } = request;
  const range = rangeConditions('t.ts', request);
  const seen = after ? afterConditions(request) : [];
  const conditions = [...source.conditions, ...range.conditions, ...seen];
  // Of a stretch of time only its last row counts, so an aggregate of its rows would ask about others too.
  const asked = intervalMs === null ? (plan.allRows ?? 'false') : 'false';
  const key = `(toUnixTimestamp64Milli(t.ts), t.seq, ${asked})`;
  const selected =
    intervalMs === null
      ? `SELECT ${key} AS k FROM ${source.table} AS t ${where(conditions)} ORDER BY ${order(descending)}`
      : `SELECT max(${key}) AS k FROM ${source.table} AS t ${where(conditions)} GROUP BY ${stretch('t.ts')} ORDER BY k${descending ? ' DESC' : ''}`;
  // Sorted once more because an aggregate promises no order; the keys come sorted, so it costs little.
  const sort = descending ? 'arrayReverseSort' : 'arraySort';
  const keysAt = (indexes: string) => `arrayMap(i -> (toString(keys[i].1), toString(keys[i].2)), ${indexes})`;
  const query = `
    WITH least({limit:UInt32}, length(keys)) AS size, arrayFilter(i -> i <= size, {starts:Array(UInt32)}) AS begun
    SELECT toUInt32(length(keys)) AS found, arrayAll(k -> k.3, arraySlice(keys, 1, size)) AS all_rows,
      ${keysAt('begun')} AS firsts,
      ${keysAt('arrayMap(i -> least(i - 1, size), arrayConcat(arraySlice(begun, 2), [size + 1]))')} AS lasts
    FROM (SELECT ${sort}(groupArray(k)) AS keys
      FROM (${selected} LIMIT {limit:UInt32} + 1 OFFSET {offset:UInt32}))`;
  const params = {
    ...source.params,
    ...range.params,
    limit,
    starts: chunkStarts(limit, plan.chunkRows),
    offset: after ? 0 : Math.min(offset, 0xffff_ffff),
    ...(after ? { after_ms: after.timeMs, after_seq: after.seq } : {}),
    ...(intervalMs === null ? {} : { interval_ms: intervalMs }),
  };
  const [head] = await store.rows<HeadRow>(query, params, { signal });
  if (!head || head.found === 0) return null;
  const chunks = head.firsts.map((first, i) => ({
    first: position(first),
    last: position(head.lasts[i] as Key),
  }));
  const first = (chunks[0] as Chunk).first;
  const last = (chunks.at(-1) as Chunk).last;
  return {
    count: Math.min(head.found, limit),
    low: descending ? last : first,
    high: descending ? first : last,
    next: head.found > limit ? last : null,
    chunks,
    all: head.all_rows,
  };
}

/** The one-based index at which each chunk of a page of at most `limit` rows begins. */
function chunkStarts(limit: number, sizes: readonly number[]): number[] {
  const starts: number[] = [];
  for (let at = 1, i = 0; at <= limit; i++) {
    starts.push(at);
    at += sizes[Math.min(i, sizes.length - 1)] as number;
  }
  return starts;
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

/** The statement that reads a page's rows, or those of one of its chunks, in the page's order. */
export function pageRows(
  source: Source,
  request: PageRequest,
  page: Pick<Page, 'low' | 'high'>,
  columns: string,
): { query: string; params: Record<string, string | number> } {
  const bounds = [
    // The plain bounds let the primary index work; the pairs cut exactly.
    `t.ts >= ${timeParam('low_ms')}`,
    `t.ts <= ${timeParam('high_ms')}`,
    `(t.ts, t.seq) >= (${timeParam('low_ms')}, {low_seq:UInt64})`,
    `(t.ts, t.seq) <= (${timeParam('high_ms')}, {high_seq:UInt64})`,
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
