/** A copy of the control database while a service writes to it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SQLITE_FILE_NAME } from '../control/database.ts';
import { SqliteFile } from '../control/sqliteFile.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { Manifest } from './manifest.ts';
import { copyPostgres } from './postgresCopy.ts';

export interface ControlSnapshot {
  readonly kind: Manifest['control'];
  readonly migrations: readonly string[];
}

/**
 * Writes the control database into a new SQLite file. Writers do not wait.
 * @param path The new file.
 */
export async function snapshotControl(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  path: string,
): Promise<ControlSnapshot> {
  if (databaseUrl !== null) {
    await copyPostgres(databaseUrl, path);
    return { kind: 'postgres', migrations: migrationsIn(path) };
  }
  const source = join(dataDir, SQLITE_FILE_NAME);
  if (!existsSync(source)) return { kind: 'none', migrations: [] };
  try {
    const file = new SqliteFile(source);
    try {
      // One statement reads one state, also beside a writer.
      file.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`);
    } finally {
      file.close();
    }
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new StoreUnavailableError(`control database ${source} cannot be copied: ${reason}`, { cause });
  }
  return { kind: 'sqlite', migrations: migrationsIn(path) };
}

/** Names of the migrations that ran on a SQLite file, in their order. */
export function migrationsIn(path: string): string[] {
  const file = new SqliteFile(path);
  try {
    const tables = file.rows<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE name = 'kysely_migration'",
    );
    if (tables.length === 0) return [];
    return file
      .rows<{ name: string }>('SELECT name FROM kysely_migration ORDER BY name')
      .map(({ name }) => name);
  } finally {
    file.close();
  }
}
