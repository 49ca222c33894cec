import { describe, expect, it } from 'vitest';
import { shortJob } from './shortJob.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => ({ index }));
const job = (result: object | null) => ({ job_id: 'bt_1', status: 'complete', result });

/** A sweep whose cells have their places. */
function sweep({ width, height, best }: { width: number; height: number; best: object | null }) {
  const values = (count: number) => Array.from({ length: count }, (_, index) => index / 100);
  return {
    x_axis: { param: 'threshold', values: values(width) },
    y_axis: height === 1 ? null : { param: 'max_fill_price', values: values(height) },
    cells: values(height).map((y) => values(width).map((x) => ({ x, y }))),
    ...{ best, n_trials: width * height },
  };
}

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
    ['that is a small sweep', sweep({ width: 20, height: 20, best: { x: 3, y: 4 } })],
    ['that is a sweep of one axis', sweep({ width: 50, height: 1, best: null })],
    ['with few trades', { trades: numbers(20), equity_curve: [], markets_skipped: [] }],
  ])('%s is whole', (_what, result) => {
    expect(shortJob(job(result), 20)).toEqual({ body: job(result), leftOut: null });
  });
});

describe('a large sweep as an answer', () => {
  it.each([
    ['within the grid', { x: 7, y: 48 }],
    ['at its corner', { x: 49, y: 0 }],
    ['nowhere, because no cell traded', null],
  ])('has some values of each axis and the best cell: %s', (_where, best) => {
    const { body, leftOut } = shortJob(job(sweep({ width: 50, height: 50, best })), 20);
    const { x_axis, y_axis, cells, best: found, n_trials } = body.result as ReturnType<typeof sweep>;
    const [columns, rows] = [x_axis.values, y_axis?.values ?? []];
    expect(cells).toEqual(rows.map((y) => columns.map((x) => ({ x, y }))));
    for (const values of [columns, rows]) {
      expect([values.at(0), values.at(-1)]).toEqual([0, 0.49]);
      expect(values.length).toBeLessThanOrEqual(20);
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    }
    const { x, y } = (found ?? {}) as { x: number; y: number };
    expect(best && cells[y]?.[x]).toEqual(best && { x: best.x / 100, y: best.y / 100 });
    expect(n_trials).toBe(2_500);
    expect(leftOut).toBe(
      `${2_500 - rows.length * columns.length} of 2500 cells are left out: some values of each axis are kept, and the best cell; GET /v1/backtest/{job_id} has all`,
    );
  });
});
