import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { Logger } from '../runtime/log.ts';
import type { Database } from './schema.ts';

/** SQLite's default: the commit that reaches this log length runs the checkpoint and waits for the disk. */
const PAGES_ALONE = 1_000;
/**
 * 64 MB. Continuous commits keep the thread from ever reaching the log's end; at this length a commit runs the
 * checkpoint.
 */
const PAGES_BESIDE = 16_000;
const HEAP_MB_MAX = 32;

interface CheckpointThread {
  close(): Promise<void>;
}

/**
 * Runs the checkpoints of an open SQLite database in a thread. The durability of a commit is unchanged; only the thread
 * waits for the disk. If the thread ends, commits run the checkpoints again.
 * @param path Path of the file that `database` has open.
 */
export async function checkpointBeside(
  database: Database,
  {
    path,
    log,
    entry = builtEntry('control/checkpointWorker'),
  }: { path: string; log: Logger; entry?: string },
): Promise<CheckpointThread> {
  await moveLogAt(database, PAGES_BESIDE);
  const worker = new Worker(entry, {
    workerData: path,
    env: { TZ: 'UTC' },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  worker.unref();
  worker.once('error', (error) => {
    log.error({ err: error }, 'accounts.checkpoints_ended');
    moveLogAt(database, PAGES_ALONE).catch(() => undefined);
  });
  return { close: async () => void (await worker.terminate()) };
}

async function moveLogAt(database: Database, pages: number): Promise<void> {
  await sql`PRAGMA wal_autocheckpoint = ${sql.lit(pages)}`.execute(database);
}
