import { Kysely, SqliteDialect, sql } from 'kysely';
import { IN_MEMORY } from '../../../src/control/databaseSqlite.ts';
import type { Database, Schema } from '../../../src/control/schema.ts';
import { SqliteFile } from '../../../src/control/sqliteFile.ts';
import { MIGRATIONS } from '../../../src/controlDatabase.ts';

/** The control database of a world. */
export interface ControlDatabase {
  readonly db: Database;
  /** The same database, for a question that must be answered at once. */
  readonly file: SqliteFile;
}

/** The rows that the migrations wrote, by table. */
interface Template extends ControlDatabase {
  readonly rows: ReadonlyMap<string, readonly Record<string, unknown>[]>;
}

let opened: Promise<Template> | null = null;

/** The control database in memory, with the rows of a new one. All worlds of this thread use it in turn. */
export async function freshControlDatabase(): Promise<ControlDatabase> {
  opened ??= openTemplate();
  const template = await opened;
  const { db, rows } = template;
  await db.transaction().execute(async (transaction) => {
    await sql`pragma defer_foreign_keys = on`.execute(transaction);
    for (const [table, initial] of rows) {
      await sql`delete from ${sql.table(table)}`.execute(transaction);
      for (const row of initial) {
        const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)));
        const values = sql.join(Object.values(row));
        await sql`insert into ${sql.table(table)} (${columns}) values (${values})`.execute(transaction);
      }
    }
  });
  return template;
}

async function openTemplate(): Promise<Template> {
  const file = new SqliteFile(IN_MEMORY);
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: file }) });
  file.exec('PRAGMA foreign_keys = ON');
  for (const name of Object.keys(MIGRATIONS).sort()) await MIGRATIONS[name]?.up(db);
  const rows = new Map<string, Record<string, unknown>[]>();
  const tables = file.rows<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name } of tables) rows.set(name, file.rows(`SELECT * FROM "${name}"`));
  return { db, file, rows };
}
