import { closeSync, readSync } from 'node:fs';
import type { SqliteFile } from './sqliteFile.ts';
import { openWal } from './walSync.ts';

/** Log length in pages from which a checkpoint pays: each round costs two disk syncs, and the next commit one more. */
const PAGES_DUE = 8_000;

/** Passes per round. Each pass copies the commits made during the previous one, so passes become shorter. */
const PASSES_MAX = 20;

/** The log is a header and, for each page written, a frame with a header and the page. Salts begin at these offsets. */
const LOG_HEADER = { bytes: 32, saltsAt: 16 };
const FRAME_HEADER = { bytes: 24, saltsAt: 8 };
const SALT_BYTES = 8;

/** SQLite's report after a pass, in pages: the length of its log, and how much of it is in the database file. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Copies commits from the write-ahead log into the database file once the log is long enough. Neither readers nor
 * writers wait for it. Continues until it has caught up, because only then does the next commit restart the log from
 * its beginning. A log that writers keep ahead of grows until one of them has to checkpoint it.
 * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
 */
export function checkpointWhenDue(file: Pick<SqliteFile, 'path' | 'rows'>, pagesDue = PAGES_DUE): void {
  if (!isLogAsLongAs(pagesDue, file)) return;
  for (let pass = 0, known = 0; pass < PASSES_MAX; pass++) {
    const [{ log, checkpointed }] = file.rows<LogState>('PRAGMA wal_checkpoint(PASSIVE)') as [LogState];
    // A reader still needs the next pages, or another connection runs a checkpoint.
    if (checkpointed === log || checkpointed <= known) return;
    known = checkpointed;
  }
}

/**
 * Whether the log has at least this many frames. Its file never shrinks, so the salts decide: a restarted log has new
 * salts in its header, and frames with the old salts do not belong to it. Node 22's SQLite (3.50) cannot report the
 * log's length without a checkpoint.
 * @see https://www.sqlite.org/walformat.html
 */
function isLogAsLongAs(pages: number, file: Pick<SqliteFile, 'path' | 'rows'>): boolean {
  const [{ page_size }] = file.rows<{ page_size: number }>('PRAGMA page_size') as [{ page_size: number }];
  const lastFrameAt = LOG_HEADER.bytes + (pages - 1) * (FRAME_HEADER.bytes + page_size);
  const log = openWal(`${file.path}-wal`);
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
