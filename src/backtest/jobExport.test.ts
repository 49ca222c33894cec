import { expect, test } from 'vitest';
import type { BacktestTradeBody } from '../schema/api/backtests.ts';
import { EXPORT_COLUMNS, type JobDataset } from '../schema/export.ts';
import { jobRows, missingResult } from './jobExport.ts';

const EVERYTHING = { startMs: null, endMs: null };
const SECOND_MS = 1_000;
const START_MS = Date.UTC(2026, 10, 20, 12);

const trade = (facts: Partial<BacktestTradeBody>) => ({
  ...{ market_id: '0x1', side: 'buy_yes', decided_at: '2026-11-20T12:00:00.000+00:00' },
  ...{ opened_at: '2026-11-20T12:00:01.000+00:00', closed_at: null, net_pnl: 0, fees_usd: 0.25 },
  ...{ exit_price: null, ...facts },
});

/** The rows by the names of their columns. */
async function rowsOf(stored: object | null, dataset: JobDataset, range = EVERYTHING as Range) {
  const jobs = { result: async () => (stored === null ? null : JSON.stringify(stored)) };
  const rows: Record<string, unknown>[] = [];
  for await (const row of jobRows(jobs, { dataset, jobId: 'job_1' }, range))
    rows.push(Object.fromEntries(EXPORT_COLUMNS[dataset].map(({ name }, at) => [name, row[at]])));
  return rows;
}
type Range = Parameters<typeof jobRows>[2];

test('only a complete job of the right kind has rows of a dataset', () => {
  const job = { jobId: 'job_1', kind: 'backtest', status: 'complete' } as const;
  expect(missingResult(job, 'job_trades')).toBeNull();
  expect(missingResult({ ...job, kind: 'sweep' }, 'job_cells')).toBeNull();
  expect(missingResult(job, 'job_cells')).toBe('job_1 is a backtest; job_cells needs a sweep');
  for (const status of ['queued', 'running', 'failed'] as const)
    expect(missingResult({ ...job, status }, 'job_trades')).toBe(
      `job_1 is ${status}; only a complete job has a result`,
    );
});

test('a job without a stored result has no rows', async () => {
  expect(await rowsOf(null, 'job_trades')).toEqual([]);
  expect(await rowsOf(null, 'job_cells')).toEqual([]);
});

test('a trade’s times are in milliseconds, a zero stays 0, and a value that was not stored is null', async () => {
  const [row, ...more] = await rowsOf({ trades: [trade({})] }, 'job_trades');
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    ...{ job_id: 'job_1', market_id: '0x1', side: 'buy_yes', net_pnl: 0, fees_usd: 0.25 },
    ...{ decided_at: START_MS, opened_at: START_MS + SECOND_MS, closed_at: null },
    ...{ exit_price: null, entry_levels: null },
  });
});

test('a range of trades contains its start and not its end, by the time at which they were opened', async () => {
  const trades = [1, 2, 3].map((second) =>
    trade({ market_id: `0x${second}`, opened_at: `2026-11-20T12:00:0${second}.000+00:00` }),
  );
  const ids = async (startMs: number | null, endMs: number | null) =>
    (await rowsOf({ trades }, 'job_trades', { startMs, endMs })).map((row) => row.market_id);
  const at = (second: number) => START_MS + second * SECOND_MS;
  expect(await ids(at(2), null)).toEqual(['0x2', '0x3']);
  expect(await ids(at(2) + 1, null)).toEqual(['0x3']);
  expect(await ids(null, at(2))).toEqual(['0x1']);
  expect(await ids(null, at(2) + 1)).toEqual(['0x1', '0x2']);
  expect(await ids(at(1), at(3))).toEqual(['0x1', '0x2']);
});

test('a cell has the values of its column and its row; a sweep of one parameter has no second one', async () => {
  const cells = [
    [{ total_pnl: 1 }, { total_pnl: 2 }, { total_pnl: 0 }],
    [{ total_pnl: 4 }, { total_pnl: null, error: 'no market' }, { total_pnl: 6 }],
  ];
  const x_axis = { param: 'threshold', values: [0.1, 0.2, 0.3] };
  const y_axis = { param: 'take_profit', values: [0.8, 0.9] };
  const shown = (rows: Record<string, unknown>[]) =>
    rows.map((row) => [row.x_param, row.x_value, row.y_param, row.y_value, row.total_pnl, row.error]);
  expect(shown(await rowsOf({ x_axis, y_axis, cells }, 'job_cells'))).toEqual([
    ['threshold', 0.1, 'take_profit', 0.8, 1, null],
    ['threshold', 0.2, 'take_profit', 0.8, 2, null],
    ['threshold', 0.3, 'take_profit', 0.8, 0, null],
    ['threshold', 0.1, 'take_profit', 0.9, 4, null],
    ['threshold', 0.2, 'take_profit', 0.9, null, 'no market'],
    ['threshold', 0.3, 'take_profit', 0.9, 6, null],
  ]);
  const one = await rowsOf({ x_axis, y_axis: null, cells: cells.slice(0, 1) }, 'job_cells');
  expect(shown(one).map((row) => row.slice(0, 4))).toEqual(
    x_axis.values.map((value) => ['threshold', value, null, null]),
  );
  expect(one.map((row) => row.job_id)).toEqual(['job_1', 'job_1', 'job_1']);
});
