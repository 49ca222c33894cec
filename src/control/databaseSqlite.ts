import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, Migrator, SqliteDialect } from 'kysely';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { migrationsIn, requireKnownMigrations } from './appliedMigrations.ts';
import type { Database, Migrations, Schema } from './schema.ts';
import { SqliteFile } from './sqliteFile.ts';

/** A database without a file. */
export const IN_MEMORY = ':memory:';

/** Opens the file, made if absent, and brings its tables up to date. Rejects with the driver's own errors. */
export async function openSqlite(path: string, migrations: Migrations): Promise<Database> {
  if (path !== IN_MEMORY && existsSync(path))
    requireKnownMigrations(`control database ${path}`, {
      applied: migrationsIn(path),
      known: Object.keys(migrations),
    });
  if (path !== IN_MEMORY) createPrivateFile(path);
  const file = new SqliteFile(path);
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: file }) });
  try {
    file.exec('PRAGMA journal_mode = WAL');
    file.exec('PRAGMA synchronous = NORMAL');
    file.exec('PRAGMA foreign_keys = ON');
    // 16 MB, eight times SQLite's own default.
    file.exec('PRAGMA cache_size = -16000');
    await migrateSqlite(db, { file, migrations });
    return db;
  } catch (error) {
    await db.destroy();
    file.close();
    throw error;
  }
}

/** Only the owner may read it: it contains the users' email addresses. SQLite gives its side files the same mode. */
function createPrivateFile(path: string): void {
  makeDurableDirectories(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

/**
 * The query layer takes no lock on SQLite, so two processes would both run a migration. An immediate transaction around
 * the whole run makes the second process wait and then find nothing to do; a failed migration leaves nothing behind.
 */
async function migrateSqlite(
  db: Database,
  { file, migrations }: { file: SqliteFile; migrations: Migrations },
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const known = await migrator.getMigrations();
  if (known.every((migration) => migration.executedAt !== undefined)) return;
  file.exec('BEGIN IMMEDIATE');
  try {
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    file.exec('COMMIT');
  } catch (error) {
    if (file.isInTransaction) file.exec('ROLLBACK');
    throw error;
  }
}
