import type { Kysely } from 'kysely';

/** The signal audit's tables. Part of the one migration set in `controlDatabase.ts`. */
export async function createAudit(db: Kysely<unknown>): Promise<void> {
  await createEntries(db);
  await createRows(db);
  await db.schema
    .createTable('audit_days')
    .addColumn('day_ms', 'bigint', (column) => column.notNull())
    .addColumn('ticker', 'text', (column) => column.notNull())
    .addColumn('tier', 'text', (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('total', 'bigint', (column) => column.notNull())
    .addColumn('resolved', 'bigint', (column) => column.notNull())
    .addColumn('model_ev_nano', 'bigint', (column) => column.notNull())
    .addColumn('realized_nano', 'bigint', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('audit_days_pk', ['day_ms', 'ticker', 'tier', 'event_type'])
    .execute();
  await db.schema
    .createTable('audit_outbox')
    .addColumn('audit_id', 'text', (column) => column.primaryKey())
    .execute();
}

async function createEntries(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_entries')
    .addColumn('seq', 'bigint', (column) => column.primaryKey())
    .addColumn('audit_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('prev_hash', 'text', (column) => column.notNull().unique())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .execute();
  const byRow = db.schema.createIndex('audit_entries_by_row').on('audit_entries');
  await byRow.columns(['audit_id', 'seq']).execute();
}

async function createRows(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_rows')
    .addColumn('audit_id', 'text', (column) => column.primaryKey())
    .addColumn('seq', 'bigint', (column) => column.notNull().unique())
    .addColumn('market_id', 'text', (column) => column.notNull())
    .addColumn('tier', 'text', (column) => column.notNull())
    .addColumn('ticker', 'text', (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('detected_ms', 'bigint', (column) => column.notNull())
    .addColumn('end_ms', 'bigint', (column) => column.notNull())
    .addColumn('model_ev', 'double precision', (column) => column.notNull())
    .addColumn('executable_ms', 'bigint')
    .addColumn('resolved_ms', 'bigint')
    .addColumn('realized', 'double precision')
    .addUniqueConstraint('audit_rows_first', ['market_id', 'tier'])
    .addUniqueConstraint('audit_rows_moment', ['market_id', 'detected_ms'])
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`audit_rows_by_${name}`).on('audit_rows').columns(columns).execute();
  await index('moment', ['detected_ms', 'seq']);
  for (const column of ['tier', 'ticker', 'event_type']) {
    await index(column, [column, 'detected_ms', 'seq']);
  }
  await index('resolution', ['resolved_ms', 'end_ms']);
  await index('executable', ['executable_ms', 'detected_ms']);
  await index('end', ['end_ms']);
}
