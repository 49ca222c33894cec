import type { Database as SqliteFile } from 'better-sqlite3';

/** Pages of the log worth moving: each round costs two waits for the disk, and the commit after it one more. */
const PAGES_DUE = 8_000;

/** Of one round: what was committed during a pass is left to the next, which is shorter by as much as it is less. */
const PASSES_MAX = 20;

/** What SQLite says of its log. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Moves what was committed from the write-ahead log into the database file, once enough has gathered. Neither readers
 * nor writers wait for it. Goes on until it has caught up, because only then does the next commit begin the log anew: a
 * log that writers keep ahead of grows until one of them has to move it.
 * @returns Whether anything was moved.
 * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
 */
export function checkpointWhenDue(file: SqliteFile, pagesDue = PAGES_DUE): boolean {
  const before = stateOf(file);
  if (before.log < pagesDue) return false;
  let known = before;
  for (let pass = 0; pass < PASSES_MAX && known.checkpointed < known.log; pass++) {
    file.pragma('wal_checkpoint(PASSIVE)');
    const after = stateOf(file);
    // A reader still needs what comes next.
    if (after.checkpointed === known.checkpointed) break;
    known = after;
  }
  return known.checkpointed > before.checkpointed;
}

function stateOf(file: SqliteFile): LogState {
  const [state] = file.pragma('wal_checkpoint(NOOP)') as [LogState];
  return state;
}
