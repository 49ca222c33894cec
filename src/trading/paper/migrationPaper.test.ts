import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { MIGRATIONS } from '../../control/migrations.ts';
import { SqliteFile } from '../../control/sqliteFile.ts';

const postgres = await openTestPostgres();
const DRIVERS = [
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
const EXECUTION = '0013_paper_execution';

describe.each(DRIVERS)('paper positions of an earlier release on %s', (_driver, absent, open) => {
  test.skipIf(absent)('get only the decision price that their entry price and slippage imply', async () => {
    const db = await open();
    for (const [name, { up }] of Object.entries(MIGRATIONS)) if (name < EXECUTION) await up(db);
    await sql`insert into users (user_id, email, tier, created_ms) values ('u', 'a@b', 'premium', 1)`.execute(
      db,
    );
    await sql`insert into paper_strategies (paper_strategy_id, user_id, name, strategy, ticker, event_type, size_usd,
      created_ms, active_from_ms, net_pnl_micro, open_positions, closed_positions, baseline_backtest_id)
      values ('ps', 'u', 'x', '{}', 'BTC', '5m', 10, 1, 1, 0, 0, 0, 'bt')`.execute(db);
    const add = (id: string, entryPrice: number, slippage: number) =>
      sql`insert into paper_positions (position_id, paper_strategy_id, market_id, token, session_from_ms, decided_ms,
        opened_ms, size, entry_price, principal_micro, fees_micro, slippage)
        values (${id}, 'ps', '0xm', 'yes', 1, 1, 2, 1000000, ${entryPrice}, 1, 0, ${slippage})`.execute(db);
    // The slippage is a difference of doubles, and the entry price an average of several levels.
    await add('p_average', 0.29333333333333333, 0.29333333333333333 - 0.28);
    await add('p_better', 0.27, 0.27 - 0.2801);
    await add('p_none', 0.3, 0);
    await MIGRATIONS[EXECUTION]?.up(db);
    const { rows } = await sql`select position_id, decision_price, exit_slippage, entry_levels, exit_levels
      from paper_positions order by position_id`.execute(db);
    const unknown = { exit_slippage: null, entry_levels: null, exit_levels: null };
    expect(rows).toEqual([
      { position_id: 'p_average', decision_price: 0.28, ...unknown },
      { position_id: 'p_better', decision_price: 0.2801, ...unknown },
      { position_id: 'p_none', decision_price: 0.3, ...unknown },
    ]);
    await db.destroy();
  });
});
