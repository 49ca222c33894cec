import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDriver from 'better-sqlite3';
import { Kysely, Migrator, SqliteDialect, type SqliteStatement } from 'kysely';
import { makeDirectories } from '../makeDirectories.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Database, Schema } from './schema.ts';
import { outward } from './sqliteFailure.ts';

/** How long a statement waits for another process's write; every write here takes well under a millisecond. */
const BUSY_TIMEOUT_MS = 5_000;
/** Distinct statements kept prepared. The queries of this folder are about fifty; the rest is head room. */
const MAX_PREPARED_STATEMENTS = 200;

/** A database that no file holds. */
export const IN_MEMORY = ':memory:';

/** Opens the file, made if absent, and brings its tables up to date. Rejects with the driver's own errors. */
export async function openSqlite(path: string): Promise<Database> {
  if (path !== IN_MEMORY) createPrivateFile(path);
  const file = new SqliteDriver(path, { timeout: BUSY_TIMEOUT_MS });
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: withStatementCache(file) }) });
  try {
    file.pragma('journal_mode = WAL');
    file.pragma('synchronous = NORMAL');
    file.pragma('foreign_keys = ON');
    await migrateSqlite(db, file);
    return db;
  } catch (error) {
    await db.destroy();
    file.close();
    throw error;
  }
}

/** Only the owner may read it: it tells who the users are. SQLite gives its side files the same mode. */
function createPrivateFile(path: string): void {
  makeDirectories(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

/**
 * The query layer takes no lock on SQLite, so two processes would both run a migration. An immediate
 * transaction around the whole run makes the second wait and then find nothing to do; a migration that fails
 * half-way leaves nothing behind.
 */
async function migrateSqlite(db: Database, file: SqliteDriver.Database): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const known = await migrator.getMigrations();
  if (known.every((migration) => migration.executedAt !== undefined)) return;
  file.exec('BEGIN IMMEDIATE');
  try {
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    file.exec('COMMIT');
  } catch (error) {
    if (file.inTransaction) file.exec('ROLLBACK');
    throw error;
  }
}

/** Preparing costs several times what a point look-up does, and the query layer prepares at every call. */
function withStatementCache(file: SqliteDriver.Database): {
  prepare(sql: string): SqliteStatement;
  close(): void;
} {
  const prepared = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const known = prepared.get(sql);
      if (known) return known;
      const statement = guarded(file, sql);
      const [oldest] = prepared.keys();
      if (prepared.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) prepared.delete(oldest);
      prepared.set(sql, statement);
      return statement;
    },
    close: () => void file.close(),
  };
}

/** A statement the disk refuses fails as one the database did not answer: it may be run again. */
function guarded(file: SqliteDriver.Database, sql: string): SqliteStatement {
  const statement: SqliteStatement = outward(() => file.prepare(sql));
  const isRollback = sql.toLowerCase() === 'rollback';
  return {
    reader: statement.reader,
    all: (parameters) => outward(() => statement.all(parameters)),
    // A full disk has rolled the transaction back already; a second time would hide why.
    run: (parameters) =>
      isRollback && !file.inTransaction
        ? { changes: 0, lastInsertRowid: 0 }
        : outward(() => statement.run(parameters)),
    iterate: (parameters) => outward(() => statement.iterate(parameters)),
  };
}
