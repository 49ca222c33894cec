import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDriver from 'better-sqlite3';
import { Kysely, Migrator, SqliteDialect, type SqliteStatement } from 'kysely';
import type { Config } from '../config.ts';
import { ConfigError, StoreUnavailableError } from '../errors.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Database, Schema } from './schema.ts';

const FILE_NAME = 'control.sqlite';
/** How long a statement waits for another process's write; every write here takes well under a millisecond. */
const BUSY_TIMEOUT_MS = 5_000;
/** Distinct statements kept prepared. The queries of this folder are about twenty; the rest is head room. */
const MAX_PREPARED_STATEMENTS = 200;

/**
 * Opens the control plane's database and brings its tables up to date. Several processes may do so at once: the
 * command line works while a server runs, and before one ever ran. One process opens it once.
 * @throws {ConfigError} When `databaseUrl` is set: only the embedded database exists so far.
 * @throws {StoreUnavailableError} When the file cannot be opened or migrated.
 */
export async function openDatabase(config: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<Database> {
  if (config.databaseUrl !== null) {
    throw new ConfigError(
      'DATABASE_URL: PostgreSQL is not supported yet; unset it to use the embedded database',
    );
  }
  const path = join(config.dataDir, FILE_NAME);
  try {
    return await openSqlite(path);
  } catch (cause) {
    throw new StoreUnavailableError(`control database ${path} cannot be opened: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function openSqlite(path: string): Promise<Database> {
  createPrivateFile(path);
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
  mkdirSync(join(path, '..'), { recursive: true });
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
      const statement: SqliteStatement = file.prepare(sql);
      const [oldest] = prepared.keys();
      if (prepared.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) prepared.delete(oldest);
      prepared.set(sql, statement);
      return statement;
    },
    close: () => void file.close(),
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
