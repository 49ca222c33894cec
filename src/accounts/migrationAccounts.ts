import type { Kysely } from 'kysely';

/** Migrations of users, API keys, sessions and the account event log. `controlDatabase.ts` lists all migrations in order. */
export async function createUsersAndKeys(db: Kysely<unknown>): Promise<void> {
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

export async function createSignInAndUsage(db: Kysely<unknown>): Promise<void> {
  // SQLite adds one column a statement.
  await db.schema.alterTable('users').addColumn('password_hash', 'text').execute();
  await db.schema.alterTable('users').addColumn('operator_ms', 'bigint').execute();
  await db.schema.alterTable('users').addColumn('suspended_ms', 'bigint').execute();
  await db.schema
    .createTable('sessions')
    .addColumn('session_id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_ms', 'bigint', (column) => column.notNull())
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('sessions_by_user').on('sessions').column('user_id').execute();
  await db.schema
    .createTable('usage')
    .addColumn('key_id', 'text', (column) =>
      column.notNull().references('api_keys.key_id').onDelete('cascade'),
    )
    .addColumn('day_ms', 'bigint', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_pk', ['key_id', 'day_ms'])
    .execute();
}

export async function createAccountEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('account_events')
    .addColumn('event_id', 'text', (column) => column.primaryKey())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('email', 'text')
    .addColumn('actor', 'text')
    .addColumn('address', 'text')
    .addColumn('detail', 'text')
    .execute();
  const byTime = db.schema.createIndex('account_events_by_time').on('account_events');
  await byTime.columns(['at_ms', 'event_id']).execute();
}

export async function createSecondFactors(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('second_factors')
    .addColumn('user_id', 'text', (column) =>
      column.primaryKey().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('enabled_ms', 'bigint')
    .addColumn('last_step', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('recovery_codes')
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_codes_pk', ['user_id', 'code_hash'])
    .execute();
}
