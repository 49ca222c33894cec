/**
 * Joins waiting segments into one insert per table: an insert of one second of rows costs about as much as one of
 * sixty.
 */

import type { TableName } from '../tables/schema.ts';
import { RowBuffer } from './rowBuffer.ts';

/**
 * Limits of one batch over all its tables. The engine stores an insert of this size as one part, so all of it is stored
 * or none: it splits inserts of more than 1,048,449 rows or 256 MiB, and rows take up to three times their encoded size
 * in its memory.
 */
const BATCH_ROWS_MAX = 200_000;
const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** The size of a segment, which decides how many fit into a batch. */
export interface SegmentSize {
  readonly rows: number;
  readonly bytes: number;
}

/** How many of the segments, from the first on, form one batch; the first is included at any size. */
export function batchLength(segments: readonly SegmentSize[]): number {
  let [rows, bytes] = [0, 0];
  for (const [index, segment] of segments.entries()) {
    rows += segment.rows;
    bytes += segment.bytes;
    if (index > 0 && (rows > BATCH_ROWS_MAX || bytes > BATCH_BYTES_MAX)) return index;
  }
  return segments.length;
}

/** The rows of several segments by table, in the segments' order. */
export function joinTables(
  segments: readonly ReadonlyMap<TableName, RowBuffer>[],
): ReadonlyMap<TableName, RowBuffer> {
  const [only] = segments;
  if (segments.length === 1 && only !== undefined) return only;
  const pieces = new Map<TableName, RowBuffer[]>();
  for (const tables of segments) {
    for (const [table, rows] of tables) pieces.set(table, [...(pieces.get(table) ?? []), rows]);
  }
  return new Map([...pieces].map(([table, buffers]) => [table, RowBuffer.joined(buffers)]));
}

/** The engine's token for a batch: the same segments always get the same token. */
export function batchToken(runId: string, { first, last }: { first: number; last: number }): string {
  return first === last ? `${runId}/${first}` : `${runId}/${first}-${last}`;
}

/** Concurrent inserts: the engine's host has this many write sessions. */
export const INSERTS_AT_ONCE = 2;

/** Runs every job, at most `limit` at a time. Rejects with the first failure after all started jobs have ended. */
export async function atOnce<T>(
  limit: number,
  jobs: readonly T[],
  run: (job: T) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs];
  const next = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      try {
        await run(job);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: limit }, next));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}
