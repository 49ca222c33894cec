/**
 * Entry of a thread that syncs SQLite's log to the disk and copies it into the database file, so that no request or signal
 * waits for the disk. Sends a {@link WalMessage} when the log cannot be synced, and when it can again.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { every, systemClock } from '../runtime/clock.ts';
import { checkpointWhenDue } from './checkpoint.ts';
import { isUnavailable } from './sqliteFailure.ts';
import { SqliteFile } from './sqliteFile.ts';
import { WalSync } from './walSync.ts';

const PERIOD_MS = 250;

/** Why the log could not be synced in this turn; null once it is on the disk again. */
export type WalMessage = { readonly syncFailure: string | null };

const path = workerData as string;
const file = new SqliteFile(path);
file.exec('PRAGMA synchronous = NORMAL');
const log = new WalSync(`${path}-wal`, systemClock);
let failed = false;

function say(syncFailure: string | null): void {
  parentPort?.postMessage({ syncFailure } satisfies WalMessage);
}

function syncLog(): void {
  try {
    log.turn();
    if (failed) say(null);
    failed = false;
  } catch (error) {
    failed = true;
    say(String(error));
  }
}

every(systemClock, PERIOD_MS, () => {
  syncLog();
  try {
    checkpointWhenDue(file);
  } catch (error) {
    // The disk is full: the log stays until there is space.
    if (!isUnavailable(error)) throw error;
  }
});
