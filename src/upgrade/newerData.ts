/**
 * Upgrades of a data directory and its databases: which migrations are due, and whether a newer release wrote them
 * ([docs/UPGRADING.md](../../docs/UPGRADING.md)).
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { appliedMigrations, migrationsIn, requireKnownMigrations } from '../control/appliedMigrations.ts';
import { CONTROL_MIGRATION_NAMES } from '../control/migrationNames.ts';
import { SQLITE_FILE_NAME } from '../control/sqliteFile.ts';
import { databaseComment } from '../store/engine/storedSchema.ts';
import { FoundObjects } from '../store/tables/foundObjects.ts';

/**
 * Refuses a data directory of a newer release before any of its files is opened for writing.
 * @throws {NewerDataError} Names what this release does not know.
 */
export function requireKnownDirectory({
  dataDir,
  databaseUrl,
  clickhouseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl' | 'clickhouseUrl'>): void {
  const directory = `data directory ${resolve(dataDir)}`;
  if (clickhouseUrl === null)
    new FoundObjects([{ table: '', name: databaseComment(dataDir) }]).requireKnown(directory);
  const path = join(dataDir, SQLITE_FILE_NAME);
  if (databaseUrl !== null || !existsSync(path)) return;
  requireKnownMigrations(directory, { applied: appliedIn(path), known: CONTROL_MIGRATION_NAMES });
}

/** A file that cannot be read is reported by the command that opens it. */
function appliedIn(path: string): string[] {
  try {
    return migrationsIn(path);
  } catch {
    return [];
  }
}

/**
 * Refuses a PostgreSQL database of a newer release. One that does not answer is reported by the caller that waits for it.
 * @throws {NewerDataError}
 */
export async function requireKnownPostgres(databaseUrl: string): Promise<void> {
  const { connectPostgres } = await import('../control/databasePostgres.ts');
  const database = connectPostgres(databaseUrl);
  try {
    const applied = await appliedMigrations(database).catch(() => []);
    requireKnownMigrations('the database of DATABASE_URL', { applied, known: CONTROL_MIGRATION_NAMES });
  } finally {
    await database.destroy();
  }
}
