import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { NewerDataError, StoreUnavailableError } from '../runtime/errors.ts';
import { printNotice } from '../runtime/printNotice.ts';
import { openPostgres } from './databasePostgres.ts';
import { IN_MEMORY, openSqlite } from './databaseSqlite.ts';
import type { Database, Migrations } from './schema.ts';
import { SQLITE_FILE_NAME } from './sqliteFile.ts';

export interface OpenOptions {
  readonly migrations: Migrations;
  readonly clock?: Clock;
  /** Creates no file; where there is none, the database is empty. */
  readonly isReader?: boolean;
  /** Called with a line for each attempt that did not reach PostgreSQL; without it the line goes to standard error. */
  readonly onWait?: (line: string) => void;
}

/**
 * Opens the control database and runs its migrations: PostgreSQL when `databaseUrl` is set, else the embedded file in
 * the data directory. Several processes may do so at once: commands work while a server runs, and before one ever ran.
 * One process opens it only once.
 * @throws {StoreUnavailableError} When it cannot be opened, reached or migrated; the text contains no password.
 * @throws {NewerDataError} When a newer release migrated it.
 */
export async function openDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  options: OpenOptions,
): Promise<Database> {
  const { migrations, clock = systemClock, isReader = false, onWait = printNotice } = options;
  if (config.databaseUrl !== null)
    return await openPostgres(config.databaseUrl, { migrations, clock, onWait });
  const path = join(config.dataDir, SQLITE_FILE_NAME);
  try {
    return await openSqlite(isReader && !existsSync(path) ? IN_MEMORY : path, migrations);
  } catch (cause) {
    if (cause instanceof NewerDataError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnavailableError(`control database ${path} cannot be opened: ${reason}`, { cause });
  }
}
