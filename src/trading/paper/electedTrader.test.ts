import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FakeElection } from '../../../test/support/fakeElection.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { Bus } from '../../bus/bus.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { ElectedTrader } from './electedTrader.ts';
import { strategiesRevision } from './strategies.ts';
import type { Trading } from './trading.ts';

/** A process whose trading starts when the test says so, and what it did. */
async function candidate() {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock();
  const election = new FakeElection();
  const did: string[] = [];
  const starts: ((error?: Error) => void)[] = [];
  const note = (what: string) => async () => void did.push(what);
  const trading: Trading = {
    runner: { strategies: () => [] } as unknown as Trading['runner'],
    ...{ settled: async () => {}, close: note('close'), abandon: note('abandon') },
  };
  const metrics = new Metrics();
  const trader = new ElectedTrader({
    ...{ database, clock, randomBytes, metrics, log: silentLogger, election: election.candidate() },
    bus: new Bus({ log: silentLogger, metrics }),
    strategies: {
      all: async () => {
        did.push('read');
        return [];
      },
    },
    startTrading: () =>
      new Promise((resolve, reject) => {
        starts.push((error) => (error === undefined ? resolve(trading) : reject(error)));
      }),
  });
  return { database, clock, election, did, starts, trader };
}

/** Resolves when trading was asked to start so many times. */
async function asked(clock: FakeClock, starts: readonly unknown[], times: number): Promise<void> {
  while (starts.length < times) await clock.advance(0);
}

test('a process that loses the election while its trading starts abandons it', async () => {
  const { clock, election, did, starts, trader } = await candidate();
  election.elect(0);
  await asked(clock, starts, 1);
  election.end();
  starts[0]?.();
  await trader.settled();
  expect([did, clock.waiting]).toEqual([['abandon'], 0]);
  await trader.close();
  expect(did).toEqual(['abandon']);
});

test('a start that fails is tried again after a second', async () => {
  const { clock, election, did, starts, trader } = await candidate();
  election.elect(0);
  await asked(clock, starts, 1);
  starts[0]?.(new Error('the database is away'));
  await clock.advance(999);
  expect(starts).toHaveLength(1);
  await clock.advance(1);
  await asked(clock, starts, 2);
  starts[1]?.();
  await trader.settled();
  await trader.close();
  expect([did, clock.waiting]).toEqual([['close'], 0]);
});

test('a process that stops between two failed starts does not wait for the next one', async () => {
  const { clock, election, did, starts, trader } = await candidate();
  election.elect(0);
  await asked(clock, starts, 1);
  starts[0]?.(new Error('the database is away'));
  while (clock.waiting === 0) await clock.advance(0);
  await trader.close();
  await clock.advance(10_000);
  expect([did, starts.length, clock.waiting]).toEqual([[], 1, 0]);
});

test('the stored strategies are read once after every change, within a quarter of a second', async () => {
  const { database, clock, election, did, starts, trader } = await candidate();
  election.elect(0);
  await asked(clock, starts, 1);
  starts[0]?.();
  await trader.settled();
  const readsWithin = async (ms: number) => {
    const before = did.length;
    await clock.advance(ms);
    await trader.settled();
    return did.length - before;
  };
  expect(await readsWithin(1_000)).toBe(0);
  await strategiesRevision.change(database, { clock, randomBytes });
  expect([await readsWithin(249), await readsWithin(1), await readsWithin(1_000)]).toEqual([0, 1, 0]);
  expect(clock.waiting).toBe(1);
  election.end();
  await trader.settled();
  expect([did, clock.waiting]).toEqual([['read', 'abandon'], 0]);
  await trader.close();
});
