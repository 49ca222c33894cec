import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import { ATTEMPTS_MAX, JobQueue, LEASE_MS } from '../../src/backtest/jobQueue.ts';
import { JobRepository } from '../../src/backtest/jobs.ts';
import type { Database } from '../../src/control/schema.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import type { JobSpec } from '../../src/schema/backtest.ts';
import { FakeClock } from '../support/fakeClock.ts';

const SPEC: JobSpec = {
  ...{ kind: 'backtest', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_000_000, marketLimit: 50 },
};

/** Required behaviour of jobs on both databases. */
export function jobSuite(name: string, open: () => Promise<Database>): void {
  const begin = async () => {
    const database = await open();
    onTestFinished(() => database.destroy());
    const clock = new FakeClock();
    const sources = { clock, randomBytes };
    const users = new UserRepository(database, sources);
    const jobs = new JobRepository(database, sources);
    const user = async (email: string) => (await users.findOrCreate(email)).userId;
    const queue = (runner: string) => new JobQueue(database, { clock, runner });
    const submit = async (userId: string, cap = 10, isComparison = false) => {
      await clock.advance(1);
      return await jobs.create({ userId, spec: SPEC, isComparison, cap });
    };
    return { database, clock, users, jobs, user, queue, submit };
  };

  describe(`jobs in ${name}`, () => {
    test.each([true, false])(
      'a cap limits any number of concurrent requests (comparisons: %s); the other kind counts separately',
      async (isComparison) => {
        const { jobs, user, submit } = await begin();
        const userId = await user('a@example.com');
        await submit(userId, 1, !isComparison);
        const wanted = { userId, spec: SPEC, isComparison, cap: 3 };
        const asked = Array.from({ length: 8 }, () => jobs.create(wanted));
        const made = await Promise.all(asked);
        expect(made.filter((job) => job !== null)).toHaveLength(3);
        const one = made.find((job) => job !== null);
        expect(one?.isComparison).toBe(isComparison);
        await jobs.cancel(one?.jobId as string, { userId });
        expect(await submit(userId, 3, isComparison)).not.toBeNull();
        expect(await submit(userId, 3, isComparison)).toBeNull();
      },
    );

    test('a job stored before `max_slippage` existed has no limit, and one stored with it keeps its limit', async () => {
      const { database, jobs, user, submit } = await begin();
      const userId = await user('a@example.com');
      const older = (await submit(userId))?.jobId as string;
      const newer = (await submit(userId))?.jobId as string;
      const { max_slippage: _, ...params } = SPEC.params;
      const spec = JSON.stringify({ ...SPEC, params });
      await database.updateTable('backtest_jobs').set({ spec }).where('job_id', '=', older).execute();
      expect((await jobs.find(older, { userId }))?.spec).toEqual({
        ...SPEC,
        params: { ...params, max_slippage: null },
      });
      expect((await jobs.find(newer, { userId }))?.spec).toEqual(SPEC);
    });

    test('jobs are listed newest first, paged by offset and by cursor, without other users’ jobs', async () => {
      const { jobs, user, submit } = await begin();
      const [a, b] = [await user('a@example.com'), await user('b@example.com')];
      const made = [];
      for (let i = 0; i < 5; i++) made.push((await submit(a))?.jobId as string);
      const ids = async (offset: number, after: Parameters<typeof jobs.list>[1]['after'] = null) =>
        (await jobs.list(a, { limit: 2, offset, after })).map(({ jobId }) => jobId);
      expect(await ids(0)).toEqual([made[4], made[3]]);
      expect(await ids(3)).toEqual([made[1], made[0]]);
      const [, second] = await jobs.list(a, { limit: 2, offset: 0, after: null });
      expect(await ids(0, second)).toEqual([made[2], made[1]]);
      expect([await jobs.count(a), await jobs.count(b)]).toEqual([5, 0]);
      expect(await jobs.find(made[0] as string, { userId: b })).toBeNull();
      expect(await jobs.cancel(made[0] as string, { userId: b })).toBe(false);
      expect((await jobs.find(made[0] as string, { userId: a }))?.status).toBe('queued');
    });

    test('users take turns, however many jobs one of them has queued', async () => {
      const { user, queue, submit } = await begin();
      const [a, b, c] = [
        await user('a@example.com'),
        await user('b@example.com'),
        await user('c@example.com'),
      ];
      for (let i = 0; i < 4; i++) await submit(a);
      await submit(b);
      await submit(c);
      const runner = queue('one');
      const taken = [];
      for (let i = 0; i < 6; i++) taken.push((await runner.claim())?.userId);
      expect(taken).toEqual([a, b, c, a, a, a]);
      expect(await runner.claim()).toBeNull();
    });

    test('a user without a running job is served before one whose last start is longer ago', async () => {
      const { clock, user, queue, submit } = await begin();
      const [a, b] = [await user('a@example.com'), await user('b@example.com')];
      const runner = queue('one');
      const start = async (userId: string) => {
        await submit(userId);
        await clock.advance(1_000);
        return (await runner.claim())?.jobId as string;
      };
      await start(a);
      await runner.finish(await start(b), { result: '{}' });
      for (const userId of [a, b]) await submit(userId);
      expect((await runner.claim())?.userId).toBe(b);
    });

    test('a suspended user’s queued jobs wait until the suspension is lifted', async () => {
      const { users, user, queue, submit } = await begin();
      const [a, b] = [await user('a@example.com'), await user('b@example.com')];
      const waiting = (await submit(a))?.jobId;
      const other = (await submit(b))?.jobId;
      const suspend = (suspended: boolean) => users.update({ userId: a }, { suspended });
      await suspend(true);
      const runner = queue('one');
      expect([(await runner.claim())?.jobId, await runner.claim()]).toEqual([other, null]);
      await suspend(false);
      expect((await runner.claim())?.jobId).toBe(waiting);
    });

    test('of one user, submitted jobs go before comparisons, and two comparisons run at once', async () => {
      const { user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const comparisons = [];
      for (let i = 0; i < 3; i++) comparisons.push((await submit(userId, 10, true))?.jobId);
      const own = (await submit(userId))?.jobId;
      const runner = queue('one');
      const claimed = [];
      for (let i = 0; i < 3; i++) claimed.push((await runner.claim())?.jobId);
      expect(claimed).toEqual([own, ...comparisons.slice(0, 2)]);
      expect(await runner.claim()).toBeNull();
      const ofOther = (await submit(await user('b@example.com'), 10, true))?.jobId;
      expect((await runner.claim())?.jobId).toBe(ofOther);
      await runner.finish(comparisons[0] as string, { result: '{}' });
      expect((await runner.claim())?.jobId).toBe(comparisons[2]);
    });

    test('two processes that claim at once get different jobs', async () => {
      const { user, queue, submit } = await begin();
      const a = await user('a@example.com');
      for (let i = 0; i < 4; i++) await submit(a);
      const [one, two] = [queue('one'), queue('two')];
      const claims = await Promise.all([one.claim(), two.claim(), one.claim(), two.claim()]);
      const ids = claims.flatMap((job) => (job === null ? [] : [job.jobId]));
      expect(new Set(ids).size).toBe(ids.length);
    });

    test('a job of a dead process is restarted, a limited number of times', async () => {
      const { clock, jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const jobId = (await submit(userId))?.jobId as string;
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        expect((await queue(`run ${attempt}`).claim())?.attempts).toBe(attempt);
        expect(await queue('next').recover({ alone: false })).toBe(0);
        const status = async () => (await jobs.find(jobId, { userId }))?.status;
        expect(await status()).toBe('running');
        await clock.advance(LEASE_MS);
        expect(await queue('next').recover({ alone: false })).toBe(0);
        await clock.advance(1);
        await queue('next').recover({ alone: false });
        expect(await status()).toBe(attempt < ATTEMPTS_MAX ? 'queued' : 'failed');
      }
      const found = await jobs.find(jobId, { userId });
      expect(found?.error).toMatch(/several times/);
      expect(found?.completedMs).toBe(clock.now());
    });

    test('a process that runs alone returns the jobs of others to the queue at once, and keeps its own', async () => {
      const { jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const [others, own] = [await submit(userId), await submit(userId)];
      await queue('before').claim();
      await queue('one').claim();
      expect(await queue('one').recover({ alone: true })).toBe(1);
      const statusOf = async (job: typeof own) => (await jobs.find(job?.jobId ?? '', { userId }))?.status;
      expect([await statusOf(others), await statusOf(own)]).toEqual(['queued', 'running']);
    });

    test('a silent job of the process itself returns to the queue, unless the process runs it', async () => {
      const { clock, jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const jobId = (await submit(userId))?.jobId as string;
      await queue('one').claim();
      await clock.advance(LEASE_MS + 1);
      expect(await queue('one').recover({ alone: false, own: [jobId] })).toBe(0);
      expect(await queue('one').recover({ alone: false, own: ['bt_other'] })).toBe(1);
      expect((await jobs.find(jobId, { userId }))?.status).toBe('queued');
    });

    test('only the process that runs a job can finish it, and a cancelled job stays cancelled', async () => {
      const { jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const jobId = (await submit(userId))?.jobId as string;
      const [one, two] = [queue('one'), queue('two')];
      await one.claim();
      expect(await two.keep(jobId, 0.5)).toBe(false);
      expect(await one.keep(jobId, 0.5)).toBe(true);
      expect((await jobs.find(jobId, { userId }))?.progress).toBe(0.5);
      await jobs.cancel(jobId, { userId });
      expect(await one.finish(jobId, { result: '{}' })).toBe(false);
      const found = await jobs.find(jobId, { userId });
      expect([found?.status, await jobs.result(jobId)]).toEqual(['cancelled', null]);
    });

    test('a finished job stays finished, though it is cancelled afterwards', async () => {
      const { jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const jobId = (await submit(userId))?.jobId as string;
      await queue('one').claim();
      await queue('one').finish(jobId, { result: '{}' });
      const finished = await jobs.find(jobId, { userId });
      expect(await jobs.cancel(jobId, { userId })).toBe(true);
      expect(await jobs.find(jobId, { userId })).toEqual(finished);
      expect([finished?.status, await jobs.result(jobId)]).toEqual(['complete', '{}']);
    });

    test('a process that stops returns its jobs without counting the attempt', async () => {
      const { jobs, user, queue, submit } = await begin();
      const userId = await user('a@example.com');
      const jobId = (await submit(userId))?.jobId as string;
      await queue('one').claim();
      await queue('one').keep(jobId, 0.5);
      await queue('one').giveBack(jobId);
      expect(await jobs.find(jobId, { userId })).toMatchObject({
        status: 'queued',
        attempts: 0,
        progress: 0,
      });
    });
  });
}
