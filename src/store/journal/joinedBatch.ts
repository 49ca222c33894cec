/** Waiting segments joined into one insert a table: an insert costs about the same for one second of rows as for sixty. */

import type { TableName } from '../tables/schema.ts';
import { RowBuffer } from './rowBuffer.ts';

/**
 * What one batch holds at most, over all its tables. The engine stores an insert of this size as one part, so it is in
 * whole or not at all: it splits inserts of more than 1,048,449 rows or 256 MiB, and rows take up to three times their
 * encoded size in its memory.
 */
const BATCH_ROWS_MAX = 200_000;
const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** What of a segment decides how many fit into a batch. */
export interface SegmentSize {
  readonly rows: number;
  readonly bytes: number;
}

/** How many of the segments, from the first on, go into one batch; the first goes whatever its size. */
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

/** Names a batch for the engine: the same segments always get the same token. */
export function batchToken(runId: string, { first, last }: { first: number; last: number }): string {
  return first === last ? `${runId}/${first}` : `${runId}/${first}-${last}`;
}

/** Inserts under way at a time: the engine's host has as many sessions that write. */
export const INSERTS_AT_ONCE = 2;

/** Runs every job, some at a time. Rejects with the first failure, but not before all that were begun have ended. */
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
