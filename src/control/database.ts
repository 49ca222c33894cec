import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { openPostgres } from './databasePostgres.ts';
import { IN_MEMORY, openSqlite } from './databaseSqlite.ts';
import type { Database, Migrations } from './schema.ts';

export const SQLITE_FILE_NAME = 'control.sqlite';

/**
 * Opens the control plane's database and brings its tables up to date: PostgreSQL when `databaseUrl` is set, else the
 * embedded one in the data directory. Several processes may do so at once: the command line works while a server
 * runs, and before one ever ran. One process opens it once.
 * @param options `isReader`: makes no file; where there is none, the database is empty.
 * @throws {StoreUnavailableError} When it cannot be opened, reached or migrated; the text holds no password.
 */
export async function openDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  options: { migrations: Migrations; clock?: Clock; isReader?: boolean },
): Promise<Database> {
  const { migrations, clock = systemClock, isReader = false } = options;
  if (config.databaseUrl !== null) return await openPostgres(config.databaseUrl, { migrations, clock });
  const path = join(config.dataDir, SQLITE_FILE_NAME);
  try {
    return await openSqlite(isReader && !existsSync(path) ? IN_MEMORY : path, migrations);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnavailableError(`control database ${path} cannot be opened: ${reason}`, { cause });
  }
}
