import { Kysely, PostgresDialect, SqliteDialect } from 'kysely';
import pg from 'pg';
import { SqliteFile } from '../../src/control/sqliteFile.ts';
import { openTestPostgres } from './postgres.ts';

const postgres = await openTestPostgres();

/** Each driver's name, why it is absent here (null: it is not), and what opens an empty database of it. */
export const MIGRATION_DATABASES = [
  [
    'SQLite',
    null,
    async () => new Kysely<unknown>({ dialect: new SqliteDialect({ database: new SqliteFile(':memory:') }) }),
  ],
  [
    'PostgreSQL',
    postgres.absent,
    async () => {
      const pool = new pg.Pool({ connectionString: await postgres.createDatabase() });
      return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    },
  ],
] as const;
