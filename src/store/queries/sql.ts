/** Pieces of SQL that several queries share. Rows are always read under the alias `t`, so that an output column may
 * carry the name of the stored column it is made from. */

/** The range of the engine's DateTime64; times outside select the same rows as the nearest end. */
const TIME_MIN_MS = Date.UTC(1900, 0, 1);
const TIME_MAX_MS = Date.UTC(2299, 11, 31);

export type QueryParams = Readonly<Record<string, string | number>>;

/** A table and a selection of its rows, before any range or page. */
export interface Source {
  readonly table: string;
  readonly conditions: readonly string[];
  readonly params: QueryParams;
  /** A UInt64 that rises whenever the content of stored rows changes; absent if it never does. */
  readonly revision?: string;
}

/** Formats a DateTime64(3, 'UTC') column as `2026-11-20T12:00:00.123+00:00`. */
export function isoTime(column: string): string {
  return `concat(replaceOne(toString(${column}), ' ', 'T'), '+00:00')`;
}

/** A Unix-milliseconds parameter converted to the columns' type. */
export function timeParam(name: string): string {
  return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
}

/**
 * `start <= time < end` with its parameters. Stored times are whole milliseconds, so a bound between two of them means
 * the later one.
 */
export function rangeConditions(
  column: string,
  { startMs, endMs }: { startMs: number | null; endMs: number | null },
): { conditions: string[]; params: Record<string, number> } {
  const conditions: string[] = [];
  const params: Record<string, number> = {};
  if (startMs !== null) {
    conditions.push(`${column} >= ${timeParam('range_start')}`);
    params.range_start = storedTime(Math.ceil(startMs));
  }
  if (endMs !== null) {
    conditions.push(`${column} < ${timeParam('range_end')}`);
    params.range_end = storedTime(Math.ceil(endMs));
  }
  return { conditions, params };
}

/** The bound of a range as it selects rows: a whole millisecond of the engine's range. */
export function storedBound(timeMs: number | null): number | null {
  return timeMs === null ? null : storedTime(Math.ceil(timeMs));
}

/** Clamps Unix milliseconds to the engine's range. */
export function storedTime(timeMs: number): number {
  return Math.min(Math.max(timeMs, TIME_MIN_MS), TIME_MAX_MS);
}

/**
 * A UInt64 that differs between two times if rows of the selection were added or removed in between. A number of each row
 * is read.
 */
export function contentOf(table: string, conditions: readonly string[]): string {
  // A scalar subquery is nullable, although an aggregate always has a row.
  return `ifNull((SELECT cityHash64(count(), sum(t.seq)) FROM ${table} AS t ${where(conditions)}), 0)`;
}

/** A row's place in the order of time and number, as SQL. */
export interface Bound {
  readonly time: string;
  readonly seq: string;
}

/**
 * Rows at or after a place, or only those after it. The engine skips stored rows by the condition on the time alone: a
 * comparison of pairs would read all rows of a market, and cost 5 ms for 10,000 of them.
 */
export function rowsFrom({ time, seq }: Bound, { inclusive = true } = {}): string[] {
  return [`t.ts >= ${time}`, `(t.ts > ${time} OR t.seq ${inclusive ? '>=' : '>'} ${seq})`];
}

/** Rows up to a place, including it. */
export function rowsUpTo({ time, seq }: Bound): string[] {
  return [`t.ts <= ${time}`, `(t.ts < ${time} OR t.seq <= ${seq})`];
}

export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/**
 * True for a row of books, quotes, trades or underlying prices that live consumers saw, false for one that arrived
 * after newer ones: every reader in the order of arrival needs it, so that an old state does not follow a newer one.
 */
export const SEEN_LIVE = 'NOT t.late';

/** A nullable time column as Unix milliseconds. */
export const maybeMs = (column: string, name: string) =>
  `if(isNull(${column}), NULL, toUnixTimestamp64Milli(assumeNotNull(${column}))) AS ${name}`;
