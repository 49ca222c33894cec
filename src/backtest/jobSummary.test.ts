import { expect, it } from 'vitest';
import { JobSummaries, summaryOf } from './jobSummary.ts';

const FIGURES = { trades_total: 3, total_pnl: 1.5, sharpe_per_market: 0.4, max_drawdown: -2 };
const BACKTEST = JSON.stringify({
  ...{ markets_total: 4, markets_traded: 2, markets_skipped: [{ market_id: '0xa', reason: 'gap' }] },
  ...FIGURES,
  intervals: { total_pnl: [-1, 4] },
  ...{ equity_curve: [{ market_id: '0xa', cumulative_pnl: 1 }], trades: [{ total_pnl: 99 }] },
});
const SUMMARY = { ...FIGURES, markets_traded: 2, cells: null };

it('reads the figures of a backtest before its curve and trades', () => {
  expect(summaryOf('backtest', BACKTEST)).toEqual(SUMMARY);
  expect(summaryOf('backtest', JSON.stringify({ ...FIGURES, markets_traded: 2 }))).toEqual(SUMMARY);
});

it('has the figures of a sweep’s best cell, and none without one', () => {
  const cells = [[{ ...FIGURES, total_pnl: 9 }, FIGURES]];
  const sweep = { cells, best: { x: 1, y: 0 }, n_trials: 2 };
  expect(summaryOf('sweep', JSON.stringify(sweep))).toEqual({ ...FIGURES, markets_traded: null, cells: 2 });
  expect(summaryOf('sweep', JSON.stringify({ ...sweep, best: null }))).toEqual({
    ...{ trades_total: null, total_pnl: null, sharpe_per_market: null, max_drawdown: null },
    ...{ markets_traded: null, cells: 2 },
  });
});

it('reads each result once, and none of a job that has not ended', async () => {
  const read: string[] = [];
  const summaries = new JobSummaries(async (jobId) => {
    read.push(jobId);
    return jobId === 'bt_gone' ? null : BACKTEST;
  });
  const of = (jobId: string, status: 'running' | 'complete') =>
    summaries.of({ jobId, kind: 'backtest', status });
  expect(await of('bt_1', 'running')).toBeNull();
  expect(await of('bt_gone', 'complete')).toBeNull();
  expect([await of('bt_1', 'complete'), await of('bt_1', 'complete')]).toEqual([SUMMARY, SUMMARY]);
  expect(read).toEqual(['bt_gone', 'bt_1']);
});
