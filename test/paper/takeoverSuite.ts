import { describe, expect, onTestFinished, test } from 'vitest';
import { NEVER_ELECTED } from '../../src/bus/fixedElections.ts';
import type { Database } from '../../src/control/schema.ts';
import type { Recording } from '../../src/trading/catchUp/recording.ts';
import { FakeElection } from '../support/fakeElection.ts';
import { STRATEGIES } from '../support/strategies.ts';
import { randomTape } from '../support/tapes.ts';
import { balances, dealt, RESOLVED_UP, TradedMarket } from './tradedMarket.ts';

/** Several processes on one database: the first serves the API, two others can trade. */
async function processes(traded: TradedMarket, recording: Partial<Recording> = {}): Promise<FakeElection> {
  const election = new FakeElection();
  traded.clock.holdsPolls = true;
  await traded.begin({}, { election: NEVER_ELECTED });
  for (let i = 0; i < 2; i++) await traded.begin(recording, { election: election.candidate() });
  return election;
}

interface Step {
  /** Share of the market's events published before it. */
  readonly at: number;
  readonly run: (run: Run) => void | Promise<void>;
}

interface Run {
  readonly traded: TradedMarket;
  /** Null: one process trades alone. */
  readonly election: FakeElection | null;
}

/** Required behaviour on both databases when one of several processes trades. */
export function takeoverSuite(driver: string, open: () => Promise<Database>): void {
  /** Trades a market in several processes, or in one. */
  const run = async (steps: readonly Step[], { alone = false } = {}) => {
    const db = await open();
    onTestFinished(() => db.destroy());
    const traded = new TradedMarket(db, randomTape('taken over', { books: 1_200, levels: 6, gaps: false }));
    const election = alone ? null : await processes(traded);
    if (alone) await traded.begin();
    for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
    for (const step of steps) {
      traded.publishTo(step.at);
      await step.run({ traded, election });
    }
    traded.publishTo(1);
    await traded.settled();
    traded.correct(RESOLVED_UP);
    await traded.end();
    await balances(db);
    return dealt(await traded.positions());
  };
  const alone = (steps: readonly Step[] = []) => run(steps, { alone: true });
  const elect = (at: number, candidate: number): Step => ({
    at,
    run: async ({ traded, election }) => {
      election?.elect(candidate);
      await traded.settled();
    },
  });
  const change = (at: number, active: boolean): Step => ({
    at,
    run: async ({ traded }) => {
      const { trading, userId } = traded.rig;
      for (const { strategyId } of await trading.paperStrategies.strategies.list(userId))
        await trading.paperStrategies.change(strategyId, { userId, active, name: null, cap: 100 });
    },
  });
  /** The trader notices what other processes changed. */
  const poll = (at: number): Step => ({
    at,
    run: async ({ traded }) => {
      traded.clock.poll();
      await traded.settled();
    },
  });

  describe(`takeovers of paper trading on ${driver}`, () => {
    test('leave the positions of a process that traded alone: none twice, none lost', async () => {
      const expected = await alone();
      expect(expected.length).toBeGreaterThan(8);
      expect(await run([elect(0, 0)])).toEqual(expected);
      expect(await run([elect(0, 0), elect(0.3, 1), elect(0.31, 0), elect(0.8, 1)])).toEqual(expected);
      // Nobody trades for a while.
      const end: Step = { at: 0.4, run: ({ election }) => election?.end() };
      expect(await run([elect(0, 0), end, elect(0.7, 1)])).toEqual(expected);
      // The first trader's last writes are under way.
      const atOnce: Step = { at: 0.5, run: ({ election }) => election?.elect(1) };
      expect(await run([elect(0, 0), atOnce])).toEqual(expected);
    });

    test('a trader that does not know that it was replaced writes nothing more', async () => {
      const pause: Step = {
        at: 0.4,
        run: async ({ traded, election }) => {
          // The first process serves the API.
          traded.pause(1);
          election?.electUnnoticed(1);
          await traded.settled();
        },
      };
      const proceed: Step = {
        at: 1,
        run: async ({ traded }) => {
          await traded.settled();
          traded.correct(RESOLVED_UP);
          await traded.settled();
          await traded.proceed();
        },
      };
      expect(await run([elect(0, 0), pause, proceed])).toEqual(await alone());
    });

    test('a process that loses the election while it starts to trade does not trade', async () => {
      const db = await open();
      onTestFinished(() => db.destroy());
      const traded = new TradedMarket(db, randomTape('taken over', { books: 1_200, levels: 6, gaps: false }));
      const election = await processes(traded);
      for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
      election.elect(0);
      election.end();
      await traded.settled();
      traded.publishTo(1);
      await traded.end();
      expect(await traded.positions()).toEqual([]);
    });

    test('a strategy stopped and activated by another process is stopped and active for the trader', async () => {
      const steps = [change(0.33, false), poll(0.33), change(0.5, true), poll(0.5)];
      const expected = await alone(steps);
      expect(expected).not.toEqual(await alone());
      expect(await run([elect(0, 0), ...steps])).toEqual(expected);
      // Noticed only after rows that the change concerned.
      const late = [change(0.33, false), poll(0.4), change(0.5, true), poll(0.6)];
      expect(await run([elect(0, 0), ...late])).toEqual(expected);
    });

    test('a strategy created by another process trades from its first second on, noticed late or not', async () => {
      const expected = await alone();
      const before = elect(0, 0);
      const db = await open();
      onTestFinished(() => db.destroy());
      const traded = new TradedMarket(db, randomTape('taken over', { books: 1_200, levels: 6, gaps: false }));
      const election = await processes(traded);
      await before.run({ traded, election });
      for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
      traded.publishTo(0.3);
      await poll(0.3).run({ traded, election });
      traded.publishTo(1);
      await traded.settled();
      traded.correct(RESOLVED_UP);
      await traded.end();
      expect(dealt(await traded.positions())).toEqual(expected);
    });

    test('a strategy stopped while the trader catches up, and noticed late, is stopped in time', async () => {
      const db = await open();
      onTestFinished(() => db.destroy());
      const traded = new TradedMarket(db, randomTape('taken over', { books: 1_200, levels: 6, gaps: false }));
      let release = () => {};
      let isReading = false;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const stretch: Recording['stretch'] = async (_, { afterSeq }) => {
        isReading = true;
        await released;
        return traded.recorded(afterSeq);
      };
      const election = await processes(traded, { stretch });
      for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
      traded.publishTo(0.33);
      election.elect(0);
      while (!isReading) await new Promise((resolve) => setImmediate(resolve));
      await change(0.33, false).run({ traded, election });
      traded.publishTo(0.6);
      traded.clock.poll();
      // The trader's reads come before these.
      for (let i = 0; i < 10; i++) await traded.positions();
      release();
      traded.publishTo(1);
      await traded.settled();
      traded.correct(RESOLVED_UP);
      await traded.end();
      expect(dealt(await traded.positions())).toEqual(await alone([change(0.33, false)]));
    });

    test('a strategy deleted by another process trades no more', async () => {
      const remove: Step = {
        at: 0.5,
        run: async ({ traded }) => {
          const { trading, userId } = traded.rig;
          for (const { strategyId } of await trading.paperStrategies.strategies.list(userId))
            expect(await trading.paperStrategies.delete(strategyId, { userId })).toBe(true);
        },
      };
      expect(await run([elect(0, 0), remove, poll(0.6)])).toEqual([]);
    });
  });
}
