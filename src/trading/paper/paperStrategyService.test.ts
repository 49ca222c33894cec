import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { STUB_JOB, stubBacktests } from '../../../test/support/stubBacktests.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { BUYS } from '../../../test/support/traderRig.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import type { ComparisonJobs } from './divergence.ts';
import { liveStrategy, PaperStrategyService, type StrategyChanges } from './paperStrategyService.ts';
import { PositionReader } from './positions.ts';
import { StrategyRepository } from './strategies.ts';

/** The service, and a trader that only records the calls. */
async function begin({ submit = stubBacktests.submit }: Partial<ComparisonJobs> = {}) {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock();
  const { userId } = await new UserRepository(database, { clock, randomBytes }).findOrCreate('a@example.com');
  const told: unknown[] = [];
  const note =
    (what: string) =>
    (...of: unknown[]) =>
      void told.push([what, ...of]);
  const runner: StrategyChanges = {
    ...{ add: note('add'), remove: note('remove') },
    ...{ activate: note('activate'), deactivate: note('deactivate') },
  };
  const strategies = new StrategyRepository(database, { clock, randomBytes });
  const positions = new PositionReader(database);
  const service = new PaperStrategyService({
    ...{ strategies, positions, runner, clock, backtests: { ...stubBacktests, submit } },
  });
  const create = (name: string, cap: number) =>
    service.create({
      ...{ userId, name, strategy: BUYS, sizeUsd: 10, baselineId: null, cap },
      universe: { ticker: 'BTC', event_type: '5m' },
    });
  return { clock, userId, told, service, create };
}

test('the trader hears only of changes that were stored', async () => {
  const { clock, userId, told, service, create } = await begin();
  const made = await create('one', 1);
  if (typeof made === 'string') throw new Error(made);
  const { strategyId } = made;
  expect(await create('two', 1)).toBe('over_cap');
  const change = (active: boolean | null, name: string | null = null, cap = 1) =>
    service.change(strategyId, { userId, active, name, cap });
  await change(null, 'renamed');
  await clock.advance(5_000);
  await change(false);
  const stoppedMs = clock.now() + 1_000;
  await clock.advance(7_000);
  expect(await change(true, null, 0)).toBe('over_cap');
  await change(true);
  const startedMs = clock.now() + 1_000;
  expect(await service.delete(strategyId, { userId: 'usr_other' })).toBe(false);
  expect(await service.delete(strategyId, { userId })).toBe(true);
  expect(await service.delete(strategyId, { userId })).toBe(false);
  // Compiled strategies have functions.
  const { compiled: _, ...live } = liveStrategy(made);
  expect(told).toEqual([
    ['add', expect.objectContaining(live)],
    ['deactivate', strategyId, stoppedMs],
    ['activate', strategyId, startedMs],
    ['remove', strategyId],
  ]);
});

test('a change of an unknown strategy is not found, also where no further one may be active', async () => {
  const { userId, service, create } = await begin();
  await create('one', 1);
  const changed = { userId, active: true, name: null, cap: 1 };
  expect(await service.change('ps_unknown', changed)).toBe('not_found');
});

test('a strategy that is stopped in the table is stopped for the trader, one that is active is not', async () => {
  const { userId, service, create } = await begin();
  const made = await create('one', 1);
  if (typeof made === 'string') throw new Error(made);
  expect(liveStrategy(made).entries).toEqual({ untilMs: Number.POSITIVE_INFINITY });
  const stopped = await service.change(made.strategyId, { userId, active: false, name: null, cap: 1 });
  if (typeof stopped === 'string') throw new Error(stopped);
  expect(liveStrategy(stopped).entries).toEqual({ untilMs: stopped.entriesUntilMs });
});

test('a strategy whose baseline is refused is not created', async () => {
  const { userId, told, service, create } = await begin({ submit: async () => null });
  expect(await create('one', 1)).toBe('too_many');
  expect([told, await service.strategies.list(userId)]).toEqual([[], []]);
});

test('a replay that is refused leaves the one before', async () => {
  let isBusy = false;
  const submit: ComparisonJobs['submit'] = async (wanted) =>
    isBusy ? null : await stubBacktests.submit(wanted);
  const { userId, service, create } = await begin({ submit });
  const made = await create('one', 1);
  if (typeof made === 'string') throw new Error(made);
  const window = async () => (await service.strategies.find(made.strategyId, { userId }))?.windowBacktestId;
  expect([await service.replayWindow(made), await window()]).toEqual([STUB_JOB, STUB_JOB]);
  isBusy = true;
  expect([await service.replayWindow(made), await window()]).toEqual([null, STUB_JOB]);
});
