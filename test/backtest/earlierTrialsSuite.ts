import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import { earlierTrials } from '../../src/backtest/earlierTrials.ts';
import { JobQueue } from '../../src/backtest/jobQueue.ts';
import { JobRepository } from '../../src/backtest/jobs.ts';
import type { Database } from '../../src/control/schema.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import type { JobSpec, SweepSpec } from '../../src/schema/backtest.ts';
import { FakeClock } from '../support/fakeClock.ts';

const ONE: Omit<SweepSpec, 'xAxis' | 'yAxis'> = {
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_000_000, marketLimit: 50 },
};
const BACKTEST: JobSpec = { kind: 'backtest', ...ONE };
const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)];

function sweep(steps: number, changes: Partial<SweepSpec> = {}): JobSpec {
  const xAxis = { param: 'threshold', start: 0.1, end: 0.9, steps };
  return { kind: 'sweep', ...ONE, xAxis, yAxis: null, ...changes };
}

/** Required behaviour of the count of a user's trials on both databases. */
export function earlierTrialsSuite(name: string, open: () => Promise<Database>): void {
  const begin = async () => {
    const database = await open();
    onTestFinished(() => database.destroy());
    const clock = new FakeClock();
    const sources = { clock, randomBytes };
    const users = new UserRepository(database, sources);
    const jobs = new JobRepository(database, sources);
    const queue = new JobQueue(database, { clock, runner: 'one' });
    const user = async (email: string) => (await users.findOrCreate(email)).userId;
    const submit = async (userId: string, spec: JobSpec, isComparison = false) => {
      await clock.advance(1);
      const job = await jobs.create({ userId, spec, isComparison, cap: 1_000 });
      return job?.jobId as string;
    };
    /** Submits a job and finishes it, with a result on these data. */
    const done = async (userId: string, spec: JobSpec, dataHash = OLD, characters = 5_000) => {
      const jobId = await submit(userId, spec);
      await queue.claim();
      const result = {
        cells: 'x'.repeat(characters),
        receipt: { data_hash: dataHash, code_version: 'test', seed: 1 },
      };
      await queue.finish(jobId, { result: JSON.stringify(result) });
      return jobId;
    };
    const trialsBefore = async (userId: string, spec: JobSpec, dataHash = OLD) => {
      const jobId = await submit(userId, spec);
      return await earlierTrials(database, { jobId, userId, spec, dataHash });
    };
    return { clock, jobs, queue, user, submit, done, trialsBefore, database };
  };

  describe(`trials before a job in ${name}`, () => {
    test('are the cells of the same user’s earlier jobs on the same universe', async () => {
      const { user, done, trialsBefore } = await begin();
      const [a, b] = [await user('a@example.com'), await user('b@example.com')];
      await done(a, sweep(17));
      await done(a, sweep(5, { yAxis: { param: 'latency_ms', start: 0, end: 100, steps: 2 } }));
      await done(a, BACKTEST);
      await done(a, sweep(100, { universe: { ticker: 'BTC', event_type: '15m' } }));
      await done(a, sweep(100, { universe: { ticker: 'ETH', event_type: '5m' } }));
      await done(b, sweep(100));
      expect(await trialsBefore(a, sweep(40))).toBe(17 + 10 + 1);
    });

    test('are those of the same series, however the universe names them, with or without a stress', async () => {
      const { user, done, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      const stress = { void_share: 0.1, disputed_share: 0, dispute_delay_hours: 1 };
      await done(userId, sweep(17, { universe: { tickers: ['BTC', 'BTC'], event_types: ['5m'] } }));
      await done(userId, sweep(17, { params: { ...DEFAULT_PARAMS, stress } }));
      await done(userId, sweep(100, { universe: { tickers: ['BTC', 'ETH'], event_types: ['5m'] } }));
      expect(await trialsBefore(userId, sweep(40))).toBe(17);
    });

    test('include a running job, but not a failed, cancelled or paper comparison job', async () => {
      const { jobs, queue, user, submit, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      const failed = await submit(userId, sweep(100));
      await queue.claim();
      await queue.finish(failed, { error: 'no market' });
      await jobs.cancel(await submit(userId, sweep(200)), { userId });
      await submit(userId, sweep(300), true);
      await submit(userId, sweep(7));
      expect(await trialsBefore(userId, sweep(40))).toBe(7);
    });

    test('of a repeated job equal those of its first run, whatever was run in between', async () => {
      const { user, done, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      await done(userId, sweep(17));
      await done(userId, sweep(40, { endMs: 1_795_176_000_001 }));
      await done(userId, sweep(9));
      expect(await trialsBefore(userId, sweep(40))).toBe(17);
    });

    test('recognise a job that a release without `max_slippage` stored', async () => {
      const { user, done, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      const { max_slippage: _, ...olderParams } = DEFAULT_PARAMS;
      await done(userId, sweep(17, { params: olderParams as typeof DEFAULT_PARAMS }));
      expect(await trialsBefore(userId, sweep(17, { params: { ...olderParams, max_slippage: null } }))).toBe(
        0,
      );
    });

    test('count a job repeated on the same data once, and on other data again', async () => {
      const { user, done, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      for (const dataHash of [OLD, OLD, NEW]) await done(userId, sweep(17), dataHash);
      expect(await trialsBefore(userId, sweep(40))).toBe(34);
      expect(await trialsBefore(userId, sweep(17), 'c'.repeat(64))).toBe(34 + 40);
    });

    test('know the data of a job however short its result is', async () => {
      const { user, done, trialsBefore } = await begin();
      const userId = await user('a@example.com');
      const lengths = [0, 500, 700, 800, 850, 870, 880, 890, 900, 1_000, 2_000];
      for (const [at, characters] of lengths.entries())
        await done(userId, sweep(17, { sizeUsd: 10 + at }), NEW, characters);
      // A job without known data would be the same question on the same data, and end the count.
      for (const at of lengths.keys())
        expect(await trialsBefore(userId, sweep(17, { sizeUsd: 10 + at }))).toBe(17 * (lengths.length + at));
    });

    test('exclude later jobs, and include every page of earlier jobs', async () => {
      const { clock, user, submit, done, database } = await begin();
      const userId = await user('a@example.com');
      // More than one page, several in each millisecond.
      const jobs = new JobRepository(database, { clock, randomBytes });
      for (let at = 0; at < 410; at++) {
        if (at % 3 === 0) await clock.advance(1);
        await jobs.create({ userId, spec: sweep(1, { sizeUsd: 10 + at }), isComparison: false, cap: 1_000 });
      }
      const spec = sweep(40);
      const jobId = await submit(userId, spec);
      await submit(userId, sweep(99));
      await done(userId, sweep(98));
      expect(await earlierTrials(database, { jobId, userId, spec, dataHash: OLD })).toBe(410);
    });
  });
}
