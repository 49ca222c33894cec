import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FakeElection } from '../../../test/support/fakeElection.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { Bus } from '../../bus/bus.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { LiveStrategy } from '../live/paperSession.ts';
import { ElectedTrader } from './electedTrader.ts';
import { type PaperStrategy, strategiesRevision } from './strategies.ts';
import type { Trading } from './trading.ts';

/**
 * A process whose trading starts when the test says so, and what it did.
 * @param all The strategies that are stored. @param live Those that the trader runs.
 */
async function candidate(
  all: () => readonly Partial<PaperStrategy>[] = () => [],
  live: readonly Partial<LiveStrategy>[] = [],
) {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock();
  const election = new FakeElection();
  const did: string[] = [];
  const starts: ((error?: Error) => void)[] = [];
  const note = (what: string) => async () => void did.push(what);
  const told =
    (what: string) =>
    (...of: readonly unknown[]) =>
      void did.push([what, ...of].join(' '));
  const runner = {
    ...{ strategies: () => live, remove: told('remove') },
    ...{ activate: told('activate'), deactivate: told('deactivate') },
  };
  const trading: Trading = {
    runner: runner as unknown as Trading['runner'],
    ...{ settled: async () => {}, close: note('close'), abandon: note('abandon') },
  };
  const metrics = new Metrics();
  const trader = new ElectedTrader({
    ...{ database, clock, randomBytes, metrics, log: silentLogger, election: election.candidate() },
    bus: new Bus({ log: silentLogger, metrics }),
    strategies: {
      all: async () => {
        did.push('read');
        return [...all()] as PaperStrategy[];
      },
    },
    startTrading: () =>
      new Promise((resolve, reject) => {
        starts.push((error) => (error === undefined ? resolve(trading) : reject(error)));
      }),
  });
  /** Elects it, and lets its trading start. */
  const trade = async () => {
    election.elect(0);
    await asked(clock, starts, 1);
    starts[0]?.();
    await trader.settled();
  };
  return { database, clock, election, did, starts, trader, trading, metrics, trade };
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
  const { database, clock, election, did, trader, trade } = await candidate();
  // Trading starts with the strategies of this change.
  await strategiesRevision.change(database, { clock, randomBytes });
  await trade();
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

test('a process that trades is settled once its trading is', async () => {
  const { clock, trader, trading, trade } = await candidate();
  await trade();
  const caughtUp = Promise.withResolvers<void>();
  trading.settled = () => caughtUp.promise;
  let isSettled = false;
  const settling = trader.settled().then(() => {
    isSettled = true;
  });
  await clock.advance(0);
  expect(isSettled).toBe(false);
  caughtUp.resolve();
  await settling;
  trading.settled = async () => {};
  await trader.close();
});

test.each(['add', 'remove', 'activate', 'deactivate'] as const)(
  'a change that this process stored is read at once: %s',
  async (change) => {
    const { database, clock, did, trader, trade } = await candidate();
    await trade();
    await strategiesRevision.change(database, { clock, randomBytes });
    trader[change]();
    await trader.settled();
    expect([did, clock.monotonic()]).toEqual([['read'], 0]);
    await trader.close();
  },
);

test('a change that is stored while trading starts is read afterwards', async () => {
  const { database, clock, election, did, starts, trader } = await candidate();
  election.elect(0);
  await asked(clock, starts, 1);
  await strategiesRevision.change(database, { clock, randomBytes });
  starts[0]?.();
  await trader.settled();
  await clock.advance(250);
  await trader.settled();
  expect(did).toEqual(['read']);
  await trader.close();
});

test('while it closes, a process looks for no more changes', async () => {
  const { database, clock, did, trader, trading, trade } = await candidate();
  await trade();
  let written = () => {};
  const writing = new Promise<void>((resolve) => {
    written = resolve;
  });
  trading.close = async () => {
    did.push('close');
    await writing;
  };
  const closed = trader.close();
  await strategiesRevision.change(database, { clock, randomBytes });
  for (let look = 0; look < 3; look++) await clock.advance(250);
  written();
  await closed;
  expect([did, clock.waiting]).toEqual([['close'], 0]);
});

test('a process that is elected again while it closes does not begin to trade again', async () => {
  const { clock, election, did, starts, trader, trading, trade } = await candidate();
  await trade();
  const written = Promise.withResolvers<void>();
  trading.close = async () => {
    did.push('close');
    await written.promise;
  };
  const closed = trader.close();
  while (did.length === 0) await clock.advance(0);
  election.elect(0);
  for (let turn = 0; turn < 20; turn++) await clock.advance(0);
  expect(starts).toHaveLength(1);
  written.resolve();
  await closed;
  expect([did, clock.waiting]).toEqual([['close', 'abandon'], 0]);
});

test('strategies that were read when the election is lost are applied to nothing, which is no failure', async () => {
  const lose = { now: () => {} };
  const { database, clock, election, did, trader, metrics, trade } = await candidate(() => {
    lose.now();
    return [{ strategyId: 'ps_1', activeFromMs: 1, entriesUntilMs: null }];
  });
  lose.now = () => election.end();
  await trade();
  await strategiesRevision.change(database, { clock, randomBytes });
  trader.add();
  await trader.settled();
  expect(did).toEqual(['read', 'abandon']);
  const name = 'underround_paper_strategy_read_failures_total';
  expect(await metrics.registry.getSingleMetricAsString(name)).toContain(`${name} 0`);
  await trader.close();
});

test('a read of the strategies that fails is counted, and is repeated at the next look', async () => {
  let failures = 1;
  const { database, clock, did, trader, metrics, trade } = await candidate(() => {
    if (failures-- > 0) throw new Error('the database is away');
    return [];
  });
  await trade();
  await strategiesRevision.change(database, { clock, randomBytes });
  for (let look = 0; look < 3; look++) {
    await clock.advance(250);
    await trader.settled();
  }
  expect(did).toEqual(['read', 'read']);
  const name = 'underround_paper_strategy_read_failures_total';
  expect(await metrics.registry.getSingleMetricAsString(name)).toContain(`${name} 1`);
  await trader.close();
});

test('the trader gets each stored strategy that differs from the one it runs, and no other', async () => {
  const active = Number.POSITIVE_INFINITY;
  const live = (strategyId: string, activeFromMs: number, untilMs: number) =>
    ({ strategyId, activeFromMs, entries: { untilMs } }) as const;
  const stored = (strategyId: string, activeFromMs: number, entriesUntilMs: number | null) =>
    ({ strategyId, activeFromMs, entriesUntilMs }) as const;
  const { database, clock, did, trader, trade } = await candidate(
    () => [
      ...[stored('same', 1, null), stored('stopped before', 1, 5), stored('stopped', 1, 6)],
      ...[stored('started', 7, null), stored('started and stopped', 7, 9), stored('stopped anew', 1, 8)],
    ],
    [
      ...[live('same', 1, active), live('stopped before', 1, 5), live('stopped', 1, active)],
      ...[live('started', 1, 5), live('started and stopped', 1, 5), live('stopped anew', 1, 5)],
      live('deleted', 1, active),
    ],
  );
  await trade();
  await strategiesRevision.change(database, { clock, randomBytes });
  trader.add();
  await trader.settled();
  expect(did).toEqual([
    ...['read', 'deactivate stopped 6', 'activate started 7', 'activate started and stopped 7'],
    ...['deactivate started and stopped 9', 'deactivate stopped anew 8', 'remove deleted'],
  ]);
  await trader.close();
});
