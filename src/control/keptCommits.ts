import { dirname, join } from 'node:path';
import type { Config } from '../config.ts';
import { syncDirectory, syncFile } from '../runtime/durableFile.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { SQLITE_FILE_NAME } from './sqliteFile.ts';

/**
 * Returns the function that resolves once no power loss undoes what has been committed before its call. SQLite syncs its
 * log only when it copies it into the database, so a commit alone waits for no disk; PostgreSQL syncs each commit. Calls
 * that wait at the same time share one sync. It rejects with a {@link StoreUnavailableError} when the disk cannot do it now.
 */
export function commitKeeper({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): () => Promise<void> {
  if (databaseUrl !== null) return async () => undefined;
  const path = join(dataDir, SQLITE_FILE_NAME);
  const sync = async () => {
    try {
      // Without a log, SQLite has synced the database itself when it was last closed.
      await syncFile(`${path}-wal`);
      await syncDirectory(dirname(path));
    } catch (cause) {
      throw new StoreUnavailableError('control database: a change is not on the disk yet', { cause });
    }
  };
  let last: Promise<void> = Promise.resolve();
  /** The next sync, until it begins: it includes each commit before that. */
  let next: Promise<void> | null = null;
  return () => {
    if (next !== null) return next;
    next = last
      .catch(() => undefined)
      .then(() => {
        next = null;
        return sync();
      });
    last = next;
    return next;
  };
}
