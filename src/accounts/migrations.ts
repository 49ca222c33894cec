import type { Kysely, Migration } from 'kysely';

/**
 * Every change of the control plane's tables, in the order of their names; one that has been released is never
 * edited. Only what both SQLite and PostgreSQL understand: the schema builder, portable types, no triggers.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_users_and_keys': { up: createUsersAndKeys },
};

async function createUsersAndKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('tier', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('api_keys')
    .addColumn('key_id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('key_hint', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_used_ms', 'bigint')
    .addColumn('revoked_ms', 'bigint')
    .execute();
  await db.schema.createIndex('api_keys_by_user').on('api_keys').column('user_id').execute();
}
