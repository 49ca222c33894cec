import type { Database as SqliteFile } from 'better-sqlite3';

/** Pages of the log worth moving: each round costs two waits for the disk, and the commit after it one more. */
const PAGES_DUE = 8_000;

/** What SQLite says of its log. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Moves what was committed from the write-ahead log into the database file, once enough has gathered. Neither readers
 * nor writers wait for it.
 * @returns Whether anything was moved.
 * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
 */
export function checkpointWhenDue(file: SqliteFile, pagesDue = PAGES_DUE): boolean {
  const [{ log, checkpointed }] = file.pragma('wal_checkpoint(NOOP)') as [LogState];
  if (log - checkpointed < pagesDue) return false;
  const [after] = file.pragma('wal_checkpoint(PASSIVE)') as [LogState];
  return after.checkpointed > checkpointed;
}
