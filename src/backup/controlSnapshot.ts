/** A copy of the control database while a service writes to it. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { migrationsIn } from '../control/appliedMigrations.ts';
import { SQLITE_FILE_NAME, SqliteFile } from '../control/sqliteFile.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
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
  if ((await nullIfAbsent(lstat(source))) === null) return { kind: 'none', migrations: [] };
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
