import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { openRowHolder } from '../../../test/support/heldRows.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { StrategyRepository } from './strategies.ts';

const postgres = await openTestPostgres();
const REVISION = `UPDATE settings SET value = value WHERE name = 'paper_strategies_revision'`;

/** Two users with a strategy each, and a holder of rows. */
async function opened() {
  const databaseUrl = await postgres.createDatabase();
  const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
  onTestFinished(() => db.destroy());
  const sources = { clock: new FakeClock(), randomBytes };
  const strategies = new StrategyRepository(db, sources);
  const madeBy = async (email: string) => {
    const { userId } = await new UserRepository(db, sources).create(email);
    const made = await strategies.create(wanted(userId, 'first'));
    if (typeof made === 'string') throw new Error(made);
    return made;
  };
  const [own, others] = [await madeBy('a@example.com'), await madeBy('b@example.com')];
  return { strategies, own, others, ...(await openRowHolder(databaseUrl)) };
}

const wanted = (userId: string, name: string) => ({
  ...{ userId, name, cap: 10, sizeUsd: 10, baselineId: 'bt_1' },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' } as const,
  universe: { ticker: 'BTC', event_type: '5m' } as const,
});

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    test.each([
      ['before', ['change', 'delete'], ['renamed', true]],
      ['after', ['delete', 'change'], ['not_found', true]],
    ] as const)('a strategy is renamed %s it is deleted at the same time', async (_, order, expected) => {
      const { strategies, own, hold, waiting } = await opened();
      const { userId, strategyId } = own;
      const begin = {
        change: () => strategies.update(strategyId, { userId, name: 'renamed', active: null, cap: 10 }),
        delete: () => strategies.delete(strategyId, { userId }),
      };
      const { release } = await hold(REVISION);
      const begun: { change?: ReturnType<typeof begin.change>; delete?: Promise<boolean> } = {};
      for (const [index, name] of order.entries()) {
        Object.assign(begun, { [name]: begin[name]() });
        await waiting(index + 1);
      }
      await release();
      const changed = await begun.change;
      const outcome = typeof changed === 'object' ? changed.name : changed;
      expect([outcome, await begun.delete]).toEqual(expected);
    });

    test('a change that waits for the trader delays no change of another user', async () => {
      const { strategies, own, others, hold, waiting } = await opened();
      const { userId, strategyId } = own;
      const trading = `UPDATE paper_strategies SET net_pnl_micro = 1 WHERE paper_strategy_id = '${strategyId}'`;
      const { release } = await hold(trading);
      const changed = strategies.update(strategyId, { userId, name: 'renamed', active: null, cap: 10 });
      await waiting(1);
      expect(await strategies.create(wanted(others.userId, 'second'))).toMatchObject({ name: 'second' });
      await release();
      expect(await changed).toMatchObject({ name: 'renamed', netPnl: 1 });
    });
  },
);
