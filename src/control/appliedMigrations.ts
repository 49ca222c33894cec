/** Which migrations ran on a control database, and whether this release knows them all. */
import { sql } from 'kysely';
import { NewerDataError } from '../runtime/errors.ts';
import { API_VERSION } from '../schema/version.ts';
import type { Database } from './schema.ts';
import { SqliteFile } from './sqliteFile.ts';

/** The query layer's own table. */
const TABLE = 'kysely_migration';

/** Names of the migrations that ran on a SQLite file, in their order. Changes nothing. */
export function migrationsIn(path: string): string[] {
  const file = new SqliteFile(path, { readOnly: true });
  try {
    if (file.rows(`SELECT 1 FROM sqlite_master WHERE name = '${TABLE}'`).length === 0) return [];
    return file.rows<{ name: string }>(`SELECT name FROM ${TABLE} ORDER BY name`).map(({ name }) => name);
  } finally {
    file.close();
  }
}

/** The same of an open database. */
export async function appliedMigrations(database: Database): Promise<string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === TABLE)) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(TABLE)} ORDER BY name`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

/** @throws {NewerDataError} If a migration ran that is not in `known`. @param place Names the database. */
export function requireKnownMigrations(
  place: string,
  { applied, known }: { applied: readonly string[]; known: readonly string[] },
): void {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new NewerDataError(
    place,
    `it has ${unknown.join(', ')}, and the newest migration of release ${API_VERSION} is ${[...known].sort().at(-1) ?? 'none'}`,
  );
}
