import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { StoreUnavailableError } from '../errors.ts';
import { openPostgres } from './databasePostgres.ts';
import { openSqlite } from './databaseSqlite.ts';
import type { Database } from './schema.ts';

export const SQLITE_FILE_NAME = 'control.sqlite';

/**
 * Opens the control plane's database and brings its tables up to date: PostgreSQL when `databaseUrl` is set, else the
 * embedded one in the data directory. Several processes may do so at once: the command line works while a server
 * runs, and before one ever ran. One process opens it once.
 * @throws {StoreUnavailableError} When it cannot be opened, reached or migrated; the text holds no password.
 */
export async function openDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  clock: Clock = systemClock,
): Promise<Database> {
  if (config.databaseUrl !== null) return await openPostgres(config.databaseUrl, clock);
  const path = join(config.dataDir, SQLITE_FILE_NAME);
  try {
    return await openSqlite(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnavailableError(`control database ${path} cannot be opened: ${reason}`, { cause });
  }
}
