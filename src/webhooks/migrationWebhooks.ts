import { type Kysely, sql } from 'kysely';

/** The webhooks' tables. Part of the one migration set in `controlDatabase.ts`. */
export async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  await createRegistrations(db);
  await db.schema
    .createTable('webhook_events')
    .addColumn('event_id', 'text', (column) => column.primaryKey())
    .addColumn('tier', 'text', (column) => column.notNull())
    .addColumn('ticker', 'text', (column) => column.notNull())
    .addColumn('market_id', 'text', (column) => column.notNull())
    .addColumn('detected_at', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'webhook_events', 'age', ['created_ms']);
  await createDeliveries(db);
}

/** Turns the single previous secret into a list, so that a rotation keeps every secret valid for its full day. */
export async function keepEverySecret(db: Kysely<unknown>): Promise<void> {
  const table = () => db.schema.alterTable('webhooks');
  await table()
    .addColumn('previous_secrets', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  // A box is base64 after a version: nothing in it needs escaping.
  await sql`update webhooks set previous_secrets = '[{"box":"' || previous_secret_box || '","until_ms":' ||
    cast(previous_until_ms as text) || '}]'
    where previous_secret_box is not null and previous_until_ms is not null`.execute(db);
  await table().dropColumn('previous_secret_box').execute();
  await table().dropColumn('previous_until_ms').execute();
}

/** Existing filters count as wanted since the registration. */
export async function noteFilterTimes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('webhooks')
    .addColumn('filters_since', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute();
}

/** Deliveries of test events are counted separately; the index holds only those. */
export async function markTests(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('webhook_deliveries')
    .addColumn('is_test', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update webhook_deliveries set is_test = 1
    where event_id in (select event_id from webhook_events where market_id = ${`0x${'0'.repeat(64)}`})`.execute(
    db,
  );
  await sql`create index webhook_deliveries_by_test on webhook_deliveries (webhook_id, created_ms, delivery_id)
    where is_test = 1`.execute(db);
}

/** Formats for chats, and events of the service itself. Existing webhooks keep sending signed opportunities. */
export async function addNotifications(db: Kysely<unknown>): Promise<void> {
  const table = () => db.schema.alterTable('webhooks');
  await table()
    .addColumn('format', 'text', (column) => column.notNull().defaultTo('signed'))
    .execute();
  await table().addColumn('url_box', 'text').execute();
  await table()
    .addColumn('events', 'text', (column) => column.notNull().defaultTo('["opportunity"]'))
    .execute();
  await db.schema
    .alterTable('webhook_events')
    .addColumn('event', 'text', (column) => column.notNull().defaultTo('opportunity'))
    .execute();
  await db.schema
    .createTable('system_incidents')
    .addColumn('incident_id', 'text', (column) => column.primaryKey())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('began_ms', 'bigint', (column) => column.notNull())
    .addColumn('ended_ms', 'bigint')
    .execute();
  await index(db, 'system_incidents', 'age', ['began_ms']);
  await sql`create unique index system_incidents_by_subject on system_incidents (event, subject)
    where ended_ms is null`.execute(db);
}

async function createRegistrations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('webhook_id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('tiers', 'text', (column) => column.notNull())
    .addColumn('tickers', 'text')
    .addColumn('secret_box', 'text', (column) => column.notNull())
    .addColumn('previous_secret_box', 'text')
    .addColumn('previous_until_ms', 'bigint')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('pause_reason', 'text')
    .addColumn('paused_ms', 'bigint')
    .addColumn('consecutive_failures', 'bigint', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('active_since_ms', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'webhooks', 'user', ['user_id']);
}

async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('delivery_id', 'text', (column) => column.primaryKey())
    .addColumn('webhook_id', 'text', (column) =>
      column.notNull().references('webhooks.webhook_id').onDelete('cascade'),
    )
    .addColumn('event_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'bigint', (column) => column.notNull())
    .addColumn('step', 'bigint', (column) => column.notNull())
    .addColumn('due_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('attempt_log', 'text', (column) => column.notNull())
    .execute();
  await index(db, 'webhook_deliveries', 'webhook', ['webhook_id', 'created_ms', 'delivery_id']);
  await index(db, 'webhook_deliveries', 'age', ['created_ms']);
  // Indexes pending deliveries only: it stays as small as the backlog, whatever the size of the log.
  await sql`create index webhook_deliveries_by_due on webhook_deliveries (webhook_id, due_ms) where state = 'pending'`.execute(
    db,
  );
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_${name}`).on(table).columns(columns).execute();
}
