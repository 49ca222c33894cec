/**
 * Entry of a thread that copies SQLite's log into the database file, so that no request or signal waits for the disk.
 */
import { workerData } from 'node:worker_threads';
import { every, systemClock } from '../runtime/clock.ts';
import { checkpointWhenDue } from './checkpoint.ts';
import { isUnavailable } from './sqliteFailure.ts';
import { SqliteFile } from './sqliteFile.ts';

const PERIOD_MS = 250;

const file = new SqliteFile(workerData as string);
file.exec('PRAGMA synchronous = NORMAL');
every(systemClock, PERIOD_MS, () => {
  try {
    checkpointWhenDue(file);
  } catch (error) {
    // The disk is full: the log stays until there is space.
    if (!isUnavailable(error)) throw error;
  }
});
