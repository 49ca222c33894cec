import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { UserRepository } from '../accounts/users/users.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { StoreReader } from '../store/reader.ts';
import { BacktestRunner } from './backtestRunner.ts';
import { JobQueue, LEASE_MS } from './jobQueue.ts';
import { openJobControl } from './service.ts';

const SPEC: JobSpec = {
  ...{ kind: 'backtest', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_000_000, marketLimit: 50 },
};

type Call = 'claim' | 'finish';

/** The connection to the database breaks in one call, before or after the call's effect. */
class InterruptedQueue extends JobQueue {
  failing: { readonly call: Call; readonly isSaved: boolean } | null = null;

  override claim(...args: Parameters<JobQueue['claim']>) {
    return this.#called('claim', () => super.claim(...args));
  }

  override finish(...args: Parameters<JobQueue['finish']>) {
    return this.#called('finish', () => super.finish(...args));
  }

  async #called<T>(call: Call, run: () => Promise<T>): Promise<T> {
    if (this.failing?.call !== call) return await run();
    const { isSaved } = this.failing;
    this.failing = null;
    if (isSaved) await run();
    throw new Error('Connection terminated unexpectedly');
  }
}

test.each([
  ['end could not be saved', { call: 'finish', isSaved: false }],
  ['end was saved without an answer', { call: 'finish', isSaved: true }],
  ['claim was saved without an answer', { call: 'claim', isSaved: true }],
] as const)('a single process runs a job to its end, though its %s', async (_, failing) => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock();
  const control = openJobControl({ database, clock, randomBytes });
  const { userId } = await new UserRepository(database, { clock, randomBytes }).findOrCreate('a@example.com');
  const asked = { userId, spec: SPEC, isComparison: false, cap: 1 };
  const job = await control.submit(asked);
  const queue = new InterruptedQueue(database, { clock, runner: 'run_1' });
  queue.failing = failing;
  const runner = new BacktestRunner({
    // Without a market the job fails, which is an end too.
    store: { rows: async () => [] } as unknown as StoreReader,
    ...{ queue, clock, log: silentLogger, metrics: new Metrics(), codeVersion: 'test' },
    trialsBefore: async () => 0,
    workers: { threads: 1, run: () => Promise.reject(new Error('not reached')), close: async () => {} },
    alone: true,
  });
  await runner.start();
  onTestFinished(() => runner.close());
  for (let ms = 0; ms <= LEASE_MS + 5_000; ms += 1_000) await clock.advance(1_000);
  expect(queue.failing).toBeNull();
  expect((await control.jobs.find(job?.jobId as string, { userId }))?.status).toBe('failed');
  // The user's cap is free again.
  expect(await control.submit(asked)).not.toBeNull();
});
