import { type BigIntStats, closeSync, fdatasyncSync, fstatSync, openSync } from 'node:fs';
import type { Clock } from '../runtime/clock.ts';

/** A file's time of change advances in steps of up to 10 ms: a later write within one step leaves it equal. */
const TIME_STEP_MS = 20;

/**
 * Syncs SQLite's log to the disk whenever `turn` is called. A power loss then undoes at most the commits since the last
 * call. SQLite itself syncs its log only when it copies it into the database.
 */
export class WalSync {
  readonly #path: string;
  readonly #clock: Pick<Clock, 'now'>;
  /** The state of the log that is on the disk for certain; null where another sync is needed. */
  #synced: string | null = null;

  /** @param path The log's file. */
  constructor(path: string, clock: Pick<Clock, 'now'>) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Does nothing where no commit was made since the last turn. @throws The system's error where the disk cannot do it. */
  turn(): void {
    const log = openWal(this.#path);
    // Without a log, SQLite has synced the database itself when it was last closed.
    if (log === null) return;
    try {
      // Before the sync: a commit during a slow one may leave the time of change as it was.
      const nowMs = this.#clock.now();
      const stats = fstatSync(log, { bigint: true });
      const state = stateOf(stats);
      if (state === this.#synced) return;
      this.#synced = null;
      fdatasyncSync(log);
      if (nowMs - Number(stats.mtimeMs) > TIME_STEP_MS) this.#synced = state;
    } finally {
      closeSync(log);
    }
  }
}

/** Null without a log: nothing was written since the database was last closed. SQLite does not lock the log file. */
export function openWal(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function stateOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}/${size}/${mtimeNs}`;
}
