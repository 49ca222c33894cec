/**
 * Copies the control database between PostgreSQL and SQLite. Both have the same tables of portable types, so a backup of
 * one can be restored as the other.
 */
import { type Kysely, type QueryResult, type RawBuilder, sql } from 'kysely';
import { appliedMigrations, requireKnownMigrations } from '../control/appliedMigrations.ts';
import { openDatabase } from '../control/database.ts';
import { connectPostgres } from '../control/databasePostgres.ts';
import { openSqlite } from '../control/databaseSqlite.ts';
import type { Database } from '../control/schema.ts';
import { MIGRATIONS } from '../controlDatabase.ts';
import { InvalidInputError, StoreUnavailableError } from '../runtime/errors.ts';

/** Rows of one insert: far below the number of parameters that either database accepts. */
const INSERT_ROWS = 20;
const READ_ROWS = 2_000;
/** The name in `settings` of the backup whose restore has filled the database and has not ended. */
const RESTORED_FROM = 'restored_from';

type Row = Record<string, unknown>;

/**
 * Writes all tables of a PostgreSQL database, as one transaction sees them, into a new SQLite file. The database is not
 * migrated: a service of an earlier release may be using it.
 * @throws {StoreUnavailableError} If it does not answer.
 * @throws {NewerDataError} If a newer release migrated it.
 */
export async function copyPostgres(databaseUrl: string, path: string): Promise<void> {
  const { host, pathname } = new URL(databaseUrl);
  const place = `control database ${host}${pathname}`;
  const source = connectPostgres(databaseUrl);
  try {
    await source
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((from) => copyInto(from, { path, place }));
  } catch (cause) {
    if (!(cause instanceof StoreUnavailableError)) throw cause;
    throw new StoreUnavailableError(`${place} cannot be copied: ${cause.message}`, { cause });
  } finally {
    await source.destroy();
  }
}

async function copyInto(from: Database, { path, place }: { path: string; place: string }): Promise<void> {
  const applied = await appliedMigrations(from);
  requireKnownMigrations(place, { applied, known: Object.keys(MIGRATIONS) });
  const ran = Object.entries(MIGRATIONS).filter(([name]) => applied.includes(name));
  const target = await openSqlite(path, Object.fromEntries(ran));
  try {
    const tables = await tableNames(target);
    await target.transaction().execute((into) => copyRows(from, into, { tables, place: 'ctid' }));
    // The rows move from the log into the file, which is backed up alone.
    await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(target);
  } finally {
    await target.destroy();
  }
}

/**
 * Fills an empty PostgreSQL database with the rows of a SQLite file, in one transaction.
 * @throws {InvalidInputError} If the database has rows that are not of this backup.
 */
export async function fillPostgres(
  databaseUrl: string,
  { path, backupId, nowMs }: { path: string; backupId: string; nowMs: number },
): Promise<void> {
  const source = await openSqlite(path, MIGRATIONS);
  try {
    const target = await openDatabase({ dataDir: '', databaseUrl }, { migrations: MIGRATIONS });
    try {
      await target.transaction().execute(async (into) => {
        const known = await into
          .selectFrom('settings')
          .select('value')
          .where('name', '=', RESTORED_FROM)
          .execute();
        // A restore that was killed after this transaction is repeated.
        if (known[0]?.value === JSON.stringify(backupId)) return;
        const tables = await tableNames(source);
        await requireEmpty(into, tables);
        await copyRows(source, into, { tables, place: 'rowid' });
        const row = { value: JSON.stringify(backupId), updated_ms: nowMs };
        await into
          .insertInto('settings')
          .values({ name: RESTORED_FROM, ...row })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
          .execute();
      });
    } finally {
      await target.destroy();
    }
  } finally {
    await source.destroy();
  }
}

/**
 * Ends a restore: its database is in use from now on, and a repeated restore of the same backup is refused instead of
 * taken for the end of this one.
 */
export async function endRestore(databaseUrl: string): Promise<void> {
  const database = await openDatabase({ dataDir: '', databaseUrl }, { migrations: MIGRATIONS });
  try {
    await database.deleteFrom('settings').where('name', '=', RESTORED_FROM).execute();
  } finally {
    await database.destroy();
  }
}

/** The tables of a SQLite database, each after those it refers to. */
async function tableNames(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'kysely_%' ORDER BY name`.execute(database);
  const left = new Map<string, Set<string>>();
  for (const { name } of rows) {
    const keys = await sql<{ table: string }>`PRAGMA foreign_key_list(${sql.lit(name)})`.execute(database);
    left.set(name, new Set(keys.rows.map(({ table }) => table).filter((table) => table !== name)));
  }
  const ordered: string[] = [];
  while (left.size > 0) {
    const next = [...left].find(([, needs]) => [...needs].every((table) => ordered.includes(table)));
    if (next === undefined) throw new Error('tables refer to each other in a circle');
    ordered.push(next[0]);
    left.delete(next[0]);
  }
  return ordered;
}

async function requireEmpty(database: Database, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} LIMIT 1`.execute(database);
    if (rows.length > 0)
      throw new InvalidInputError(
        `the database of DATABASE_URL has rows in ${table}; name an empty database, or unset DATABASE_URL`,
      );
  }
}

/** Copies every row of the tables into empty ones. `place` orders the rows of a table and never changes. */
async function copyRows(
  from: Database,
  into: Database,
  { tables, place }: { tables: readonly string[]; place: 'ctid' | 'rowid' },
): Promise<void> {
  for (const table of tables) {
    await sql`DELETE FROM ${sql.table(table)}`.execute(into);
    for (let after: string | null = null; ; ) {
      const beyond: RawBuilder<unknown> =
        after === null
          ? sql``
          : sql`WHERE ${sql.ref(place)} > ${place === 'ctid' ? sql`${after}::tid` : Number(after)}`;
      const read: QueryResult<Row> =
        await sql<Row>`SELECT CAST(${sql.ref(place)} AS text) AS copied_place, t.*
        FROM ${sql.table(table)} AS t ${beyond} ORDER BY ${sql.ref(place)} LIMIT ${READ_ROWS}`.execute(from);
      if (read.rows.length === 0) break;
      after = read.rows.at(-1)?.copied_place as string;
      await insertRows(into, table, read.rows);
    }
  }
}

async function insertRows(into: Database, table: string, rows: readonly Row[]): Promise<void> {
  const target = into as unknown as Kysely<Record<string, Row>>;
  const plain = rows.map(({ copied_place: _, ...row }) => row);
  for (let at = 0; at < plain.length; at += INSERT_ROWS)
    await target
      .insertInto(table)
      .values(plain.slice(at, at + INSERT_ROWS))
      .execute();
}
