import { closeSync, openSync, readSync } from 'node:fs';
import type { SqliteFile } from './sqliteFile.ts';

/** Pages of the log worth moving: each round costs two waits for the disk, and the commit after it one more. */
const PAGES_DUE = 8_000;

/** Of one round: what was committed during a pass is left to the next, which is shorter by as much as it is less. */
const PASSES_MAX = 20;

/** The log: a header, then a frame of a header and a page for each page written. Salts begin at these offsets. */
const LOG_HEADER = { bytes: 32, saltsAt: 16 };
const FRAME_HEADER = { bytes: 24, saltsAt: 8 };
const SALT_BYTES = 8;

/** What SQLite reports after a pass, in pages: the length of its log, and how much of it the file has. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Moves what was committed from the write-ahead log into the database file, once enough has gathered. Neither readers
 * nor writers wait for it. Goes on until it has caught up, because only then does the next commit start the log again
 * from its beginning: a log that writers keep ahead of grows until one of them has to move it.
 * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
 */
export function checkpointWhenDue(file: Pick<SqliteFile, 'path' | 'rows'>, pagesDue = PAGES_DUE): void {
  if (!isLogAsLongAs(pagesDue, file)) return;
  for (let pass = 0, known = 0; pass < PASSES_MAX; pass++) {
    const [{ log, checkpointed }] = file.rows<LogState>('PRAGMA wal_checkpoint(PASSIVE)') as [LogState];
    // A reader still needs what comes next, or another connection is at it.
    if (checkpointed === log || checkpointed <= known) return;
    known = checkpointed;
  }
}

/**
 * Whether the log has that many frames. Its file keeps the length it once had, so the salts decide: a log that starts
 * again has new ones in its header, and frames that still have the old ones are not part of it. Node 22's SQLite (3.50)
 * cannot report the log's length without moving it.
 * @see https://www.sqlite.org/walformat.html
 */
function isLogAsLongAs(pages: number, file: Pick<SqliteFile, 'path' | 'rows'>): boolean {
  const [{ page_size }] = file.rows<{ page_size: number }>('PRAGMA page_size') as [{ page_size: number }];
  const lastFrameAt = LOG_HEADER.bytes + (pages - 1) * (FRAME_HEADER.bytes + page_size);
  const log = openLog(file.path);
  if (log === null) return false;
  try {
    const saltsAt = (offset: number) => {
      const salts = Buffer.alloc(SALT_BYTES);
      return readSync(log, salts, 0, SALT_BYTES, offset) === SALT_BYTES ? salts : null;
    };
    const last = saltsAt(lastFrameAt + FRAME_HEADER.saltsAt);
    return last !== null && saltsAt(LOG_HEADER.saltsAt)?.equals(last) === true;
  } finally {
    closeSync(log);
  }
}

/** Null where there is none: nothing was written since the file was last closed. SQLite holds no locks on it. */
function openLog(path: string): number | null {
  try {
    return openSync(`${path}-wal`, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
