import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import { JobQueue } from '../../src/backtest/jobQueue.ts';
import { KEPT_JOBS } from '../../src/backtest/jobRetention.ts';
import { JobRepository } from '../../src/backtest/jobs.ts';
import type { Database } from '../../src/control/schema.ts';
import { MIB } from '../../src/runtime/byteUnits.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import type { JobSpec } from '../../src/schema/backtest.ts';
import { FakeClock } from '../support/fakeClock.ts';

const SPEC: JobSpec = {
  ...{ kind: 'backtest', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_000_000, marketLimit: 50 },
};

/** Which finished jobs are kept, on both databases. */
export function jobRetentionSuite(name: string, open: () => Promise<Database>): void {
  const begin = async (kept = KEPT_JOBS) => {
    const database = await open();
    onTestFinished(() => database.destroy());
    const clock = new FakeClock();
    const users = new UserRepository(database, { clock, randomBytes });
    const jobs = new JobRepository(database, { clock, randomBytes, kept });
    const queue = new JobQueue(database, { clock, runner: 'one' });
    const user = async (email: string) => (await users.findOrCreate(email)).userId;
    const submit = async (userId: string, isComparison = false) => {
      await clock.advance(1);
      const job = await jobs.create({ userId, spec: SPEC, isComparison, cap: 10 });
      return job?.jobId as string;
    };
    const complete = async (userId: string, result: string, isComparison = false) => {
      const jobId = await submit(userId, isComparison);
      expect((await queue.claim())?.jobId).toBe(jobId);
      expect(await queue.finish(jobId, { result })).toBe(true);
      return jobId;
    };
    const cancelled = async (userId: string) => {
      const jobId = await submit(userId);
      await jobs.cancel(jobId, { userId });
      return jobId;
    };
    const stored = async () =>
      (await database.selectFrom('backtest_jobs').select('job_id').orderBy('submitted_ms').execute()).map(
        (row) => row.job_id,
      );
    return { user, submit, complete, cancelled, stored };
  };

  describe(`finished jobs in ${name}`, () => {
    test('of a user the newest are kept; unfinished ones, comparisons and other users’ jobs have their own count', async () => {
      const { user, submit, complete, cancelled, stored } = await begin({ jobs: 2, resultBytes: 1_000 });
      const [a, b] = [await user('a@example.com'), await user('b@example.com')];
      const kept = [await complete(b, '{}'), await complete(a, '{}', true)];
      await complete(a, '{}');
      await cancelled(a);
      kept.push(await complete(a, '{}'), await cancelled(a), await submit(a), await submit(a));
      expect(await stored()).toEqual(kept);
    });

    test('comparisons of paper strategies have the same limits', async () => {
      const { user, submit, complete, stored } = await begin({ jobs: 2, resultBytes: 1_000 });
      const userId = await user('a@example.com');
      await complete(userId, '{}', true);
      const kept = [await complete(userId, '{}'), await complete(userId, '{}', true)];
      kept.push(await complete(userId, '{}', true), await submit(userId, true));
      expect(await stored()).toEqual(kept);
    });

    test('older jobs are deleted once the results of newer ones fill their space, counted in bytes', async () => {
      const { user, submit, complete, stored } = await begin({ jobs: 100, resultBytes: 10 });
      const userId = await user('a@example.com');
      const older = await complete(userId, '123');
      const newer = [await complete(userId, '12345'), await complete(userId, '1234')];
      newer.push(await submit(userId));
      expect(await stored()).toEqual([older, ...newer]);
    });

    test('a character of two bytes counts as two', async () => {
      const { user, submit, complete, stored } = await begin({ jobs: 100, resultBytes: 10 });
      const userId = await user('a@example.com');
      await complete(userId, '123');
      const newer = [await complete(userId, '12345'), await complete(userId, '123é')];
      newer.push(await submit(userId));
      expect(await stored()).toEqual(newer);
    });

    test('the newest result is kept, whatever its size', async () => {
      const { user, submit, complete, stored } = await begin({ jobs: 100, resultBytes: 10 });
      const userId = await user('a@example.com');
      await complete(userId, '{}');
      const kept = [await complete(userId, '12345678901'), await submit(userId)];
      expect(await stored()).toEqual(kept);
    });

    test('the limits are 1,000 jobs and 128 MiB of results', () => {
      expect(KEPT_JOBS).toEqual({ jobs: 1_000, resultBytes: 128 * MIB });
    });
  });
}
