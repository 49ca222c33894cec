import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { Logger } from '../runtime/log.ts';
import type { Database } from './schema.ts';

/** As SQLite has it unless told otherwise: then the commit that fills a log moves it, waiting for the disk. */
const PAGES_ALONE = 1_000;
/** 64 MB. Commits without a pause keep the thread from ever reaching the log's end; a commit at this length does. */
const PAGES_BESIDE = 16_000;
const HEAP_MB_MAX = 32;

export interface Checkpoints {
  close(): Promise<void>;
}

/**
 * Has a thread move the log of an open SQLite database into its file. What a commit promises stays the same; only who
 * waits for the disk is another. Should the thread end, commits do the work again.
 * @param path Of the file that `database` has open.
 */
export async function checkpointBeside(
  database: Database,
  {
    path,
    log,
    entry = builtEntry('control/checkpointWorker'),
  }: { path: string; log: Logger; entry?: string },
): Promise<Checkpoints> {
  await moveLogAt(database, PAGES_BESIDE);
  const worker = new Worker(entry, {
    ...{ workerData: path, env: { TZ: 'UTC' }, execArgv: [] },
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
