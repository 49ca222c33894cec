import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { UserRepository } from '../accounts/users/users.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { StoreReader } from '../store/reader.ts';
import { BacktestRunner } from './backtestRunner.ts';
import { JobQueue, LEASE_MS } from './jobQueue.ts';
import { JobRepository } from './jobs.ts';
import { openJobControl } from './service.ts';

const postgres = await openTestPostgres();

const SPEC: JobSpec = {
  ...{ kind: 'backtest', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_000_000, marketLimit: 50 },
};
/** No market is stored, so a job that may run fails at once. */
const emptyStore = { rows: async () => [] } as unknown as StoreReader;

describe.skipIf(postgres.absent)(
  `processes on one PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    async function open() {
      const databaseUrl = await postgres.createDatabase();
      const connect = async () => {
        const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
        onTestFinished(() => db.destroy());
        return db;
      };
      const clock = new FakeClock();
      const database = await connect();
      const users = new UserRepository(database, { clock, randomBytes });
      const control = openJobControl({ database, clock, randomBytes });
      const submit = async (email: string) => {
        const { userId } = await users.findOrCreate(email);
        const job = await control.submit({ userId, spec: SPEC, isComparison: false, cap: 10 });
        return { jobId: job!.jobId, userId };
      };
      /** A process that starts jobs and holds them until `release`. Its clock is its own, so it can be frozen. */
      const worker = async (name: string) => {
        const own = new FakeClock();
        const metrics = new Metrics();
        const held: (() => void)[] = [];
        const runner = new BacktestRunner({
          ...{ store: emptyStore, clock: own, log: silentLogger, metrics, codeVersion: 'test' },
          stored: () => new Promise<void>((resolve) => held.push(resolve)),
          queue: new JobQueue(await connect(), { clock: own, runner: name }),
          trialsBefore: async () => 0,
          workers: { threads: 1, run: () => Promise.reject(new Error('not reached')), close: async () => {} },
          alone: false,
        });
        await runner.start();
        onTestFinished(() => runner.close());
        const ended = async (outcome: string) => {
          const text = await metrics.registry.metrics();
          const line = new RegExp(`^underround_backtest_jobs_total\\{.*outcome="${outcome}"\\} (\\d+)$`, 'm');
          return Number(line.exec(text)?.[1] ?? 0);
        };
        return { name, clock: own, held, ended };
      };
      const runners = async () => {
        const rows = await database.selectFrom('backtest_jobs').select(['job_id', 'runner']).execute();
        return new Map(rows.map(({ job_id, runner }) => [job_id, runner]));
      };
      return { database, clock, control, submit, worker, runners };
    }
    type Ticking = { readonly clock: FakeClock };
    /**
     * Advances the clocks of the given processes until the condition is true. The condition reads the database, so that
     * the clocks do not outrun the statements of the processes.
     */
    async function until(ticking: readonly Ticking[], condition: () => Promise<boolean>) {
      while (!(await condition())) for (const { clock } of ticking) await clock.advance(50);
    }

    test('each job runs in one of them, and a process that runs none reads its state', async () => {
      const { control, submit, worker, runners } = await open();
      const workers = [await worker('a'), await worker('b'), await worker('c')];
      const jobs = [];
      for (let n = 0; n < 12; n++) jobs.push(await submit(`user${n % 4}@example.com`));
      const started = () => workers.reduce((sum, { held }) => sum + held.length, 0);
      await until(workers, async () => [...(await runners()).values()].every((runner) => runner !== null));
      while (started() < 12) await workers[0]?.clock.advance(0);
      const [job] = jobs;
      const running = await control.jobs.find(job!.jobId, job!);
      expect([running?.status, running?.attempts]).toEqual(['running', 1]);
      for (const { held } of workers) for (const release of held) release();
      const ended = async () => [...(await runners()).values()].every((runner) => runner === null);
      await until(workers, ended);
      expect(started()).toBe(12);
      const statuses = await Promise.all(
        jobs.map(async ({ jobId, userId }) => (await control.jobs.find(jobId, { userId }))?.status),
      );
      expect(statuses).toEqual(Array(12).fill('failed'));
      expect((await control.jobs.list(job!.userId, { limit: 9, offset: 0, after: null })).length).toBe(3);
    });

    test('a cancellation by one ends the job in another', async () => {
      const { control, submit, worker, runners } = await open();
      const a = await worker('a');
      const { jobId, userId } = await submit('a@example.com');
      await until([a], async () => (await runners()).size > 0 && a.held.length === 1);
      expect(await control.cancel(jobId, { userId })).toBe(true);
      await until([a], async () => (await runners()).size > 0 && (await a.ended('cancelled')) === 1);
      expect(await control.jobs.find(jobId, { userId })).toMatchObject({ status: 'cancelled', error: null });
    });

    test('the jobs of a killed one are started again by another, and its late result is dropped', async () => {
      const { control, submit, worker, runners } = await open();
      const killed = await worker('killed');
      const job = await submit('a@example.com');
      await until([killed], async () => (await runners()).size > 0 && killed.held.length === 1);
      const b = await worker('b');
      await b.clock.advance(LEASE_MS - 1_000);
      expect((await runners()).get(job.jobId)).toBe('killed');
      await until([b], async () => (await runners()).size > 0 && b.held.length === 1);
      expect((await runners()).get(job.jobId)).toBe('b');
      expect(await control.jobs.find(job.jobId, job)).toMatchObject({ status: 'running', attempts: 2 });
      killed.held[0]?.();
      await until([b], async () => (await killed.ended('failed')) === 1);
      expect((await runners()).get(job.jobId)).toBe('b');
      expect((await control.jobs.find(job.jobId, job))?.status).toBe('running');
      b.held[0]?.();
      await until([b], async () => (await runners()).get(job.jobId) === null);
      expect((await control.jobs.find(job.jobId, job))?.status).toBe('failed');
    });

    test('progress is visible in each of them', async () => {
      const { database, clock, control, submit } = await open();
      const { jobId, userId } = await submit('a@example.com');
      const queue = new JobQueue(database, { clock, runner: 'a' });
      await queue.claim();
      expect(await queue.keep(jobId, 0.5)).toBe(true);
      expect(await control.jobs.find(jobId, { userId })).toMatchObject({ status: 'running', progress: 0.5 });
      expect(await new JobRepository(database, { clock, randomBytes }).find(jobId, { userId })).toMatchObject(
        {
          progress: 0.5,
        },
      );
    });
  },
);
