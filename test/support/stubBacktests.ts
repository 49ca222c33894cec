import type { ApiDependencies } from '../../src/api/createApi.ts';
import type { Job } from '../../src/backtest/jobs.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import type { ComparisonJobs } from '../../src/trading/paper/divergence.ts';

/** The only job of the stub. */
export const STUB_JOB = 'bt_stub';

const NOW = Date.UTC(2026, 10, 20, 12);
const JOB: Job = {
  ...{ jobId: STUB_JOB, userId: 'usr_1', kind: 'backtest', status: 'failed', progress: 0.5, attempts: 1 },
  ...{ isComparison: false },
  ...{
    submittedMs: NOW,
    startedMs: NOW,
    completedMs: NOW,
    error: 'no BTC 5m market ended in the range asked for',
  },
  spec: {
    kind: 'backtest',
    strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
    universe: { ticker: 'BTC', event_type: '5m' },
    ...{ sizeUsd: 10, params: DEFAULT_PARAMS, startMs: null, endMs: NOW, marketLimit: 50 },
  },
};

/** Jobs of a user who has one, which ended; every submission is that one again. */
export const stubBacktests: ApiDependencies['backtests'] & ComparisonJobs = {
  submit: async ({ spec }) => ({ ...JOB, kind: spec.kind, spec }),
  wait: async () => JOB,
  cancel: async (jobId) => jobId === STUB_JOB,
  jobs: {
    find: async (jobId) => (jobId === STUB_JOB ? JOB : null),
    list: async (_user, { limit, offset, after }) => (after === null ? [JOB] : []).slice(offset, limit),
    count: async () => 1,
    result: async () => null,
  },
};
