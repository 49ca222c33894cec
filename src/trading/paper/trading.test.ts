import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { marketOf, NOTHING_RECORDED } from '../../../test/support/paperRig.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { BEFORE_MS, BOUGHT, BUYS } from '../../../test/support/traderRig.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import { Bus } from '../../bus/bus.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { Stretch } from '../live/traderEvents.ts';
import { PositionReader } from './positions.ts';
import { StrategyRepository } from './strategies.ts';
import { startTrading } from './trading.ts';

/** A promise that the test resolves. */
function gate<T>() {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A database with one strategy, which a user has stored. */
async function stored() {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock(BEFORE_MS);
  const { userId } = await new UserRepository(database, { clock, randomBytes }).findOrCreate('a@example.com');
  const strategies = new StrategyRepository(database, { clock, randomBytes });
  await strategies.create({
    ...{ userId, name: 'one', strategy: BUYS, sizeUsd: 10, baselineId: 'bt_1', cap: 1 },
    universe: { ticker: 'BTC', event_type: '5m' },
  });
  return { database, clock, strategies, positions: new PositionReader(database) };
}

test('a start reads the prices and the ended markets of the strategies that are stored', async () => {
  const parts = await stored();
  const asked: unknown[] = [];
  const recording: Recording = {
    ...NOTHING_RECORDED,
    prices: async ({ ticker, source }) => {
      asked.push(`${ticker} ${source}`);
      return [];
    },
    ended: async (universe) => {
      asked.push(universe);
      return [];
    },
  };
  const shared = { log: silentLogger, metrics: new Metrics() };
  const trading = await startTrading(
    { ...shared, ...parts, recording, markets: () => [] },
    { bus: new Bus(shared) },
  );
  await trading.settled();
  expect(asked).toEqual(
    expect.arrayContaining(['BTC chainlink', 'BTC binance_spot', { ticker: 'BTC', event_type: '5m' }]),
  );
  expect(asked).toHaveLength(3);
  await trading.close();
});

test('a position of a past whose reading ends while trading closes is written before it has closed', async () => {
  const { database, clock, strategies, positions } = await stored();
  const [asked, stretch] = [gate<void>(), gate<Stretch>()];
  const recording = {
    ...NOTHING_RECORDED,
    stretch: () => {
      asked.open();
      return stretch.opened;
    },
  };
  const shared = { clock, log: silentLogger, metrics: new Metrics() };
  const [writing, mayWrite] = [gate<void>(), gate<boolean>()];
  const isTrader = () => {
    writing.open();
    return mayWrite.opened;
  };
  const trading = await startTrading(
    { ...shared, database, strategies, positions, recording, markets: () => [marketOf(BOUGHT)] },
    { bus: new Bus(shared), isTrader },
  );
  await asked.opened;
  let isClosed = false;
  const closed = trading.close().then(() => {
    isClosed = true;
  });
  stretch.open({ tape: BOUGHT, toSeq: null });
  await writing.opened;
  for (let turn = 0; turn < 20; turn++) await clock.advance(0);
  expect(isClosed).toBe(false);
  mayWrite.open(true);
  await clock.advanceUntil(closed, 0);
  expect(await positions.heldMarkets()).toEqual(['0xtape']);
});

test('an abandoned trading writes nothing more, though the past of another market is still read', async () => {
  const parts = await stored();
  const [first, second] = [gate<Stretch>(), gate<Stretch>()];
  const asked: string[] = [];
  const recording: Recording = {
    ...NOTHING_RECORDED,
    stretch: ({ marketId }) => {
      asked.push(marketId);
      return marketId === '0xtape' ? first.opened : second.opened;
    },
  };
  const shared = { log: silentLogger, metrics: new Metrics() };
  const markets = ['0xtape', '0xother'].map((marketId) => marketOf(BOUGHT, { marketId }));
  let writes = 0;
  const isTrader = async () => {
    writes++;
    return true;
  };
  const trading = await startTrading(
    { ...shared, ...parts, recording, markets: () => markets },
    { bus: new Bus(shared), isTrader },
  );
  while (asked.length < 2) await parts.clock.advance(0);
  const abandoned = trading.abandon();
  first.open({ tape: BOUGHT, toSeq: null });
  for (let turn = 0; turn < 20; turn++) await parts.clock.advance(0);
  second.open({ tape: BOUGHT, toSeq: null });
  await abandoned;
  expect([writes, parts.clock.waiting]).toEqual([0, 0]);
  expect(await parts.positions.heldMarkets()).toEqual([]);
});
