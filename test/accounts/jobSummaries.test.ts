import { expect, it } from 'vitest';
import type { Job } from '../../src/backtest/jobs.ts';
import { unaskedStore } from '../support/api.ts';
import { openDashboard } from '../support/dashboard.ts';
import { STUB_JOB, stubBacktests } from '../support/stubBacktests.ts';

const FIGURES = { trades_total: 3, total_pnl: 1.5, sharpe_per_market: null, max_drawdown: -2 };

it('lists jobs with their key figures, and marks comparisons of paper strategies', async () => {
  const job = (await stubBacktests.jobs.find(STUB_JOB, { userId: 'usr_1' })) as Job;
  const complete: Job = { ...job, jobId: 'bt_done', status: 'complete', isComparison: true };
  const { signedUp } = await openDashboard({
    store: unaskedStore,
    backtests: {
      ...stubBacktests,
      jobs: {
        ...stubBacktests.jobs,
        list: async (_user, { limit }) => [complete, job].slice(0, limit),
        result: async (jobId) =>
          jobId === 'bt_done' ? JSON.stringify({ markets_traded: 2, ...FIGURES }) : null,
      },
    },
  });
  const reader = await signedUp('a@example.com');
  const all = (await reader.ask('GET', '/app/backtests')).json();
  expect(all).toMatchObject({
    jobs: [
      {
        ...{ job_id: 'bt_done', status: 'complete', is_comparison: true },
        summary: { ...FIGURES, markets_traded: 2, cells: null },
      },
      { job_id: STUB_JOB, status: 'failed', is_comparison: false, summary: null },
    ],
    next_cursor: null,
  });
  const first = (await reader.ask('GET', '/app/backtests?limit=1')).json();
  expect([first.jobs.length, typeof first.next_cursor]).toEqual([1, 'string']);
});
