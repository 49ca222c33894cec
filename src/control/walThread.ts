import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database } from './schema.ts';
import type { WalMessage } from './walWorker.ts';

/** SQLite's default: the commit that reaches this log length runs the checkpoint and waits for the disk. */
const PAGES_ALONE = 1_000;
/**
 * 64 MB. Continuous commits keep the thread from ever reaching the log's end; at this length a commit runs the
 * checkpoint.
 */
const PAGES_BESIDE = 16_000;
const HEAP_MB_MAX = 32;

interface WalThread {
  close(): Promise<void>;
}

/**
 * Starts a thread that syncs and checkpoints the log of an open SQLite database. Each commit is on the disk a quarter of a
 * second later, and only the thread waits for the disk. If the thread ends, commits run the checkpoints themselves, and a
 * power loss undoes all commits since the last checkpoint.
 * @param path Path of the file that `database` has open.
 */
export async function startWalThread(
  database: Database,
  {
    path,
    log,
    metrics,
    entry = builtEntry('control/walWorker'),
  }: { path: string; log: Logger; metrics: Metrics; entry?: string },
): Promise<WalThread> {
  const failures = metrics.counter(
    'underround_control_sync_failures_total',
    'Times the log of the SQLite control database could not be synced to the disk; each is tried again',
  );
  await moveLogAt(database, PAGES_BESIDE);
  const worker = new Worker(entry, {
    workerData: path,
    env: { TZ: 'UTC' },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  worker.unref();
  let isFailing = false;
  worker.on('message', ({ syncFailure }: WalMessage) => {
    if (syncFailure === null) log.info({}, 'accounts.log_synced_again');
    else {
      failures.inc();
      if (!isFailing) log.error({ reason: syncFailure }, 'accounts.log_not_synced');
    }
    isFailing = syncFailure !== null;
  });
  worker.once('error', (error) => {
    log.error({ err: error }, 'accounts.log_thread_ended');
    moveLogAt(database, PAGES_ALONE).catch(() => undefined);
  });
  return { close: async () => void (await worker.terminate()) };
}

async function moveLogAt(database: Database, pages: number): Promise<void> {
  await sql`PRAGMA wal_autocheckpoint = ${sql.lit(pages)}`.execute(database);
}
