import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { writeSession } from '../../src/trading/paper/positions.ts';
import {
  ACTIVATION_MS,
  MAX_STRATEGIES_PER_USER,
  StrategyRepository,
} from '../../src/trading/paper/strategies.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { aTrade } from './positionSuite.ts';

const WANTED = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  ...{ sizeUsd: 12.34, baselineId: 'bt_1' },
} as const;

/** Required behaviour of strategies on both databases. */
export function strategySuite(driver: string, open: () => Promise<Database>): void {
  const begin = async () => {
    const db = await open();
    onTestFinished(() => db.destroy());
    const clock = new FakeClock();
    const users = new UserRepository(db, { clock, randomBytes });
    const [a, b] = [await users.findOrCreate('a@example.com'), await users.findOrCreate('b@example.com')];
    const strategies = new StrategyRepository(db, { clock, randomBytes });
    const create = (name: string, { userId = a.userId, cap = 100 } = {}) =>
      strategies.create({ ...WANTED, userId, name, cap });
    const made = async (name: string) => {
      const strategy = await create(name);
      if (typeof strategy === 'string') throw new Error(strategy);
      return strategy;
    };
    const change = (strategyId: string, more: { active?: boolean; name?: string; cap?: number }) =>
      strategies.update(strategyId, { userId: a.userId, active: null, name: null, cap: 100, ...more });
    return { db, clock, strategies, create, made, change, userId: a.userId, otherId: b.userId };
  };

  describe(`paper strategies on ${driver}`, () => {
    test('a created strategy is read back, and trades a second later', async () => {
      const { clock, strategies, made, userId, otherId } = await begin();
      const one = await made('one');
      expect(one).toEqual({
        ...WANTED,
        ...{ strategyId: expect.stringMatching(/^ps_/), userId, name: 'one', createdMs: clock.now() },
        ...{ activeFromMs: clock.now() + ACTIVATION_MS, entriesUntilMs: null, windowBacktestId: null },
        ...{ netPnl: 0, openPositions: 0, closedPositions: 0 },
      });
      await clock.advance(5);
      const two = await made('two');
      await strategies.setWindowBacktest(two.strategyId, 'bt_2');
      expect(await strategies.list(userId)).toEqual([one, { ...two, windowBacktestId: 'bt_2' }]);
      expect(await strategies.find(one.strategyId, { userId })).toEqual(one);
      expect(await strategies.find(one.strategyId, { userId: otherId })).toBeNull();
      expect(await strategies.list(otherId)).toEqual([]);
      expect(await strategies.all()).toHaveLength(2);
    });

    test('of many concurrent requests for a name one succeeds, and no more than the cap are active', async () => {
      const { strategies, create, otherId, userId } = await begin();
      const same = await Promise.all(Array.from({ length: 6 }, () => create('same')));
      expect(same.filter((made) => made === 'name_taken')).toHaveLength(5);
      expect(typeof (await create('same', { userId: otherId }))).toBe('object');
      const many = await Promise.all(Array.from({ length: 6 }, (_, n) => create(`many ${n}`, { cap: 3 })));
      expect(many.filter((made) => made === 'over_cap')).toHaveLength(4);
      expect(await strategies.list(userId)).toHaveLength(3);
    });

    test('of many concurrent activations no more than the cap allows succeed', async () => {
      const { made, change } = await begin();
      const ids: string[] = [];
      for (const name of ['one', 'two', 'three', 'four', 'five']) ids.push((await made(name)).strategyId);
      for (const id of ids) await change(id, { active: false });
      const activated = await Promise.all(ids.map((id) => change(id, { active: true, cap: 2 })));
      expect(activated.filter((changed) => changed === 'over_cap')).toHaveLength(3);
    });

    test('activation and deactivation apply a second later, and the cap counts active strategies', async () => {
      const { clock, strategies, made, change, create } = await begin();
      const { strategyId, activeFromMs } = await made('one');
      await clock.advance(60_000);
      const stopped = await change(strategyId, { active: false });
      expect(stopped).toMatchObject({ activeFromMs, entriesUntilMs: clock.now() + ACTIVATION_MS });
      await clock.advance(60_000);
      expect(await change(strategyId, { active: false })).toEqual(stopped);
      expect(typeof (await create('two', { cap: 1 }))).toBe('object');
      expect(await change(strategyId, { active: true, cap: 1 })).toBe('over_cap');
      await strategies.setWindowBacktest(strategyId, 'bt_2');
      // The replay of the earlier time no longer serves for comparison.
      expect(await change(strategyId, { active: true, cap: 2 })).toMatchObject({
        ...{ activeFromMs: clock.now() + ACTIVATION_MS, entriesUntilMs: null, windowBacktestId: null },
      });
    });

    test('a strategy can be stopped and renamed while more are active than the cap allows', async () => {
      const { made, change } = await begin();
      const [one] = [await made('one'), await made('two'), await made('three')];
      expect(await change(one.strategyId, { name: 'first', cap: 1 })).toMatchObject({ name: 'first' });
      expect(await change(one.strategyId, { active: false, cap: 1 })).toMatchObject({
        entriesUntilMs: expect.any(Number),
      });
    });

    test('a name in use is refused and changes nothing; a strategy may keep its own name', async () => {
      const { made, change, strategies, userId } = await begin();
      const [one, two] = [await made('one'), await made('two')];
      expect(await change(two.strategyId, { name: 'one', active: false })).toBe('name_taken');
      expect(await strategies.find(two.strategyId, { userId })).toEqual(two);
      expect(await change(two.strategyId, { name: 'two' })).toEqual(two);
      expect(await change(two.strategyId, { name: 'three' })).toEqual({ ...two, name: 'three' });
      for (const name of ['four', 'one']) expect(await change('ps_none', { name })).toBe('not_found');
      expect(await strategies.find(one.strategyId, { userId })).toEqual(one);
    });

    test('inactive strategies have a separate cap', async () => {
      const { db, made, create, userId, otherId } = await begin();
      const { strategyId } = await made('0');
      const row = await db.selectFrom('paper_strategies').selectAll().executeTakeFirstOrThrow();
      const others = Array.from({ length: MAX_STRATEGIES_PER_USER - 1 }, (_, n) => ({
        ...{ ...row, paper_strategy_id: `ps_${n}`, name: `${n + 1}`, entries_until_ms: 0 },
      }));
      for (let n = 0; n < others.length; n += 50) {
        await db
          .insertInto('paper_strategies')
          .values(others.slice(n, n + 50))
          .execute();
      }
      expect(await create('more')).toBe('too_many');
      expect(typeof (await create('more', { userId: otherId }))).toBe('object');
      await db.deleteFrom('paper_strategies').where('paper_strategy_id', '=', strategyId).execute();
      expect(await create('more', { userId })).toMatchObject({ name: 'more' });
    });

    test('deleting a strategy deletes its positions, and another user may not delete it', async () => {
      const { db, made, strategies, userId, otherId } = await begin();
      const { strategyId } = await made('one');
      const state = { strategyId, marketId: '0x1', fromMs: 0, outcome: null, trades: [aTrade(1)] };
      await db.transaction().execute((transaction) => writeSession(transaction, state));
      expect(await strategies.delete(strategyId, { userId: otherId })).toBe(false);
      expect(await strategies.delete(strategyId, { userId })).toBe(true);
      expect(await strategies.delete(strategyId, { userId })).toBe(false);
      expect(await db.selectFrom('paper_positions').selectAll().execute()).toEqual([]);
      // Written too late: no row is stored, and nothing fails.
      await db.transaction().execute((transaction) => writeSession(transaction, state));
      expect(await db.selectFrom('paper_positions').selectAll().execute()).toEqual([]);
    });
  });
}
