import { describe, expect, it } from 'vitest';
import { shortJob } from './signalTools.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => ({ index }));
const job = (result: object | null) => ({ job_id: 'bt_1', status: 'complete', result });

describe('a backtest as an answer', () => {
  it('leaves out most trades and points, and says how many', () => {
    const result = { trades: numbers(30), equity_curve: numbers(500), markets_skipped: [], total_pnl: 1.5 };
    const { body, leftOut } = shortJob(job(result), 20);
    expect(leftOut).toBe(
      '10 of 30 trades are left out. 300 of 500 points of the equity curve are left out; GET /v1/backtest/{job_id} has all',
    );
    expect(body).toEqual({
      ...{ job_id: 'bt_1', status: 'complete' },
      result: { trades: numbers(20), equity_curve: numbers(200), markets_skipped: [], total_pnl: 1.5 },
    });
    expect(result.trades).toHaveLength(30);
  });

  it.each([
    ['without a result', null],
    ['that is a sweep', { cells: [[{ total_pnl: 1 }]], n_trials: 1 }],
    ['with few trades', { trades: numbers(20), equity_curve: [], markets_skipped: [] }],
  ])('%s is whole', (_what, result) => {
    expect(shortJob(job(result), 20)).toEqual({ body: job(result), leftOut: null });
  });
});
