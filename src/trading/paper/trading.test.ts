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

test('a position of a past whose reading ends while trading closes is written before it has closed', async () => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock(BEFORE_MS);
  const { userId } = await new UserRepository(database, { clock, randomBytes }).findOrCreate('a@example.com');
  const strategies = new StrategyRepository(database, { clock, randomBytes });
  await strategies.create({
    ...{ userId, name: 'one', strategy: BUYS, sizeUsd: 10, baselineId: 'bt_1', cap: 1 },
    universe: { ticker: 'BTC', event_type: '5m' },
  });
  const [asked, stretch] = [gate<void>(), gate<Stretch>()];
  const recording = {
    ...NOTHING_RECORDED,
    stretch: () => {
      asked.open();
      return stretch.opened;
    },
  };
  const positions = new PositionReader(database);
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
  while (!isClosed) await clock.advance(0);
  await closed;
  expect(await positions.heldMarkets()).toEqual(['0xtape']);
});
