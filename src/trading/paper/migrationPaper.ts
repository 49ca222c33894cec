import { type Kysely, sql } from 'kysely';

/** Paper strategies and their positions. Part of the one migration set in `controlDatabase.ts`. */
export async function createPaper(db: Kysely<unknown>): Promise<void> {
  await createStrategies(db);
  await createPositions(db);
}

async function createStrategies(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('paper_strategies')
    .addColumn('paper_strategy_id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('strategy', 'text', (column) => column.notNull())
    .addColumn('ticker', 'text', (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('size_usd', 'double precision', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('active_from_ms', 'bigint', (column) => column.notNull())
    .addColumn('entries_until_ms', 'bigint')
    .addColumn('net_pnl_micro', 'bigint', (column) => column.notNull())
    .addColumn('open_positions', 'bigint', (column) => column.notNull())
    .addColumn('closed_positions', 'bigint', (column) => column.notNull())
    .addColumn('baseline_backtest_id', 'text', (column) => column.notNull())
    .addColumn('window_backtest_id', 'text')
    .addUniqueConstraint('paper_strategies_name', ['user_id', 'name'])
    .execute();
}

async function createPositions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('paper_positions')
    .addColumn('position_id', 'text', (column) => column.primaryKey())
    .addColumn('paper_strategy_id', 'text', (column) =>
      column.notNull().references('paper_strategies.paper_strategy_id').onDelete('cascade'),
    )
    .addColumn('market_id', 'text', (column) => column.notNull())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('session_from_ms', 'bigint', (column) => column.notNull())
    .addColumn('decided_ms', 'bigint', (column) => column.notNull())
    .addColumn('opened_ms', 'bigint', (column) => column.notNull())
    .addColumn('closed_ms', 'bigint')
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('entry_price', 'double precision', (column) => column.notNull())
    .addColumn('exit_price', 'double precision')
    .addColumn('exit_reason', 'text')
    .addColumn('outcome', 'text')
    .addColumn('principal_micro', 'bigint', (column) => column.notNull())
    .addColumn('fees_micro', 'bigint', (column) => column.notNull())
    .addColumn('slippage', 'double precision', (column) => column.notNull())
    .addColumn('pnl_micro', 'bigint')
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`paper_positions_by_${name}`).on('paper_positions').columns(columns).execute();
  await index('opening', ['paper_strategy_id', 'opened_ms', 'position_id']);
  await index('market', ['paper_strategy_id', 'market_id']);
  await index('closing', ['closed_ms', 'market_id']);
}

/** The versions of a market's terms during paper trading. */
export async function createMarketTerms(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('paper_market_terms')
    .addColumn('market_id', 'text', (column) => column.notNull())
    .addColumn('after_seq', 'bigint', (column) => column.notNull())
    .addColumn('terms', 'text', (column) => column.notNull())
    .addColumn('written_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('paper_market_terms_pk', ['market_id', 'after_seq'])
    .execute();
  await db.schema
    .createIndex('paper_market_terms_by_age')
    .on('paper_market_terms')
    .column('written_ms')
    .execute();
}

/** How a position was executed. For older positions only the decision price can be computed. */
export async function addPaperExecution(db: Kysely<unknown>): Promise<void> {
  const table = () => db.schema.alterTable('paper_positions');
  await table().addColumn('decision_price', 'double precision').execute();
  await table().addColumn('exit_slippage', 'double precision').execute();
  await table().addColumn('entry_levels', 'bigint').execute();
  await table().addColumn('exit_levels', 'bigint').execute();
  // Prices have four decimals.
  await sql`update paper_positions set decision_price = round((entry_price - slippage) * 10000) / 10000.0`.execute(
    db,
  );
}

/** For equity curves: a strategy's closed positions in closing order. */
export async function addClosingOrder(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('paper_positions_by_strategy_closing')
    .on('paper_positions')
    .columns(['paper_strategy_id', 'closed_ms', 'position_id'])
    .execute();
}
