import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { UserRepository } from '../accounts/users/users.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { DiskScarceError } from '../runtime/errors.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { JobControl } from './jobControl.ts';
import type { Job, JobRepository, NewJob } from './jobs.ts';
import { openJobControl } from './service.ts';

const SPEC: JobSpec = {
  kind: 'backtest',
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  ...{ sizeUsd: 10, params: DEFAULT_PARAMS, startMs: 0, endMs: 1, marketLimit: 1 },
};

test('no job is accepted while the disk is nearly full', async () => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const sources = { clock: new FakeClock(), randomBytes };
  const { userId } = await new UserRepository(database, sources).create('a@example.com', 'free');
  let isScarce = true;
  const control = openJobControl({ database, ...sources, isDiskScarce: async () => isScarce });
  const asked = { userId, spec: SPEC, isComparison: false, cap: 1 };
  await expect(control.submit(asked)).rejects.toBeInstanceOf(DiskScarceError);
  expect(await control.jobs.count(userId)).toBe(0);
  isScarce = false;
  expect(await control.submit(asked)).toMatchObject({ userId, status: 'queued' });
});

/** Control over one job, whose state the test sets; null: the user has no such job. */
function rig() {
  const clock = new FakeClock();
  const told: string[] = [];
  const state: { job: { status: Job['status'] } | null } = { job: null };
  const jobs = {
    find: async () => state.job,
    create: async () => state.job,
    cancel: async () => state.job !== null,
  };
  const runner = {
    wake: () => void told.push('wake'),
    abort: (jobId: string) => void told.push(`abort ${jobId}`),
  };
  const isDiskScarce = async () => false;
  const control = new JobControl({ jobs: jobs as unknown as JobRepository, clock, runner, isDiskScarce });
  return { clock, told, state, control };
}

const OWNER = { userId: 'u1' };

test('the runner is woken for a job that was created, and ends one that was found', async () => {
  const { told, state, control } = rig();
  await control.submit({} as NewJob);
  expect(await control.cancel('j1', OWNER)).toBe(false);
  expect(told).toEqual([]);
  state.job = { status: 'queued' };
  await control.submit({} as NewJob);
  expect(await control.cancel('j1', OWNER)).toBe(true);
  expect(told).toEqual(['wake', 'abort j1']);
});

test('a wait returns the job once it has ended', async () => {
  const { clock, state, control } = rig();
  const answers: unknown[] = [];
  state.job = { status: 'queued' };
  const { signal } = new AbortController();
  const waiting = control.wait('j1', OWNER, { limitMs: 60_000, signal }).then((job) => answers.push(job));
  await clock.advance(1_000);
  state.job = { status: 'running' };
  await clock.advance(1_000);
  expect(answers).toEqual([]);
  state.job = { status: 'failed' };
  await clock.advance(100);
  await waiting;
  expect(answers).toEqual([{ status: 'failed' }]);
});

test('a wait ends at its limit, or when it is aborted, with the state of the job', async () => {
  const { clock, state, control } = rig();
  state.job = { status: 'running' };
  const abort = new AbortController();
  const answers: string[] = [];
  const wait = (name: string, limitMs: number) =>
    control
      .wait('j1', OWNER, { limitMs, signal: abort.signal })
      .then((job) => answers.push(`${name} ${job?.status}`));
  const waits = [wait('short', 250), wait('long', 60_000)];
  await clock.advance(249);
  expect(answers).toEqual([]);
  await clock.advance(1);
  expect(answers).toEqual(['short running']);
  abort.abort();
  await clock.advance(0);
  expect(answers).toEqual(['short running', 'long running']);
  await Promise.all(waits);
});
