/** Entry of a thread that writes SQLite's log into the database file, so that no request or signal waits for the disk. */
import { workerData } from 'node:worker_threads';
import SqliteDriver from 'better-sqlite3';
import { every, systemClock } from '../clock.ts';
import { checkpointWhenDue } from './checkpoint.ts';

const PERIOD_MS = 250;

const file = new SqliteDriver(workerData as string);
file.pragma('synchronous = NORMAL');
every(systemClock, PERIOD_MS, () => void checkpointWhenDue(file));
