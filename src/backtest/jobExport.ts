/** Rows of the datasets `job_trades` and `job_cells`, from the stored result of a job. */
import type { BacktestTradeBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { JobKind } from '../schema/backtest.ts';
import { EXPORT_COLUMNS, type ExportColumn, type ExportRange, type JobDataset } from '../schema/export.ts';
import type { RowValue, RowValues } from '../store/export/rowValues.ts';
import type { Job, JobRepository } from './jobs.ts';
import { storedTrades } from './storedResult.ts';

const KINDS: Readonly<Record<JobDataset, JobKind>> = { job_trades: 'backtest', job_cells: 'sweep' };

/** Why a job has no rows of this dataset; null: it has. */
export function missingResult(
  job: Pick<Job, 'jobId' | 'kind' | 'status'>,
  dataset: JobDataset,
): string | null {
  const { jobId, kind, status } = job;
  if (kind !== KINDS[dataset]) return `${jobId} is a ${kind}; ${dataset} needs a ${KINDS[dataset]}`;
  return status === 'complete' ? null : `${jobId} is ${status}; only a complete job has a result`;
}

/** Yields the trades of a backtest that were opened within the range, or the cells of a sweep, row by row. */
export async function* jobRows(
  jobs: Pick<JobRepository, 'result'>,
  { dataset, jobId }: { dataset: JobDataset; jobId: string },
  range: ExportRange,
): AsyncGenerator<RowValues> {
  const stored = await jobs.result(jobId);
  if (stored === null) return;
  if (dataset === 'job_cells') yield* cellRows(jobId, JSON.parse(stored) as SweepResultBody);
  else yield* tradeRows(jobId, stored, range);
}

async function* tradeRows(jobId: string, result: string, range: ExportRange): AsyncGenerator<RowValues> {
  const { startMs, endMs } = range;
  for await (const trade of storedTrades(result)) {
    const openedMs = Date.parse(trade.opened_at);
    if ((startMs !== null && openedMs < startMs) || (endMs !== null && openedMs >= endMs)) continue;
    yield EXPORT_COLUMNS.job_trades.map((column) => {
      if (column.name === 'job_id') return jobId;
      return storedValue(column, trade[column.name as keyof BacktestTradeBody]);
    });
  }
}

function* cellRows(jobId: string, { x_axis: x, y_axis: y, cells }: SweepResultBody): Generator<RowValues> {
  for (const [yAt, row] of cells.entries()) {
    for (const [xAt, cell] of row.entries()) {
      const values: Readonly<Record<string, string | number | null | undefined>> = {
        ...cell,
        ...{ job_id: jobId, x_param: x.param, x_value: x.values[xAt] },
        ...{ y_param: y?.param ?? null, y_value: y?.values[yAt] ?? null },
      };
      yield EXPORT_COLUMNS.job_cells.map((column) => storedValue(column, values[column.name]));
    }
  }
}

/** Results of earlier releases lack some members. */
function storedValue({ kind }: ExportColumn, value: string | number | null | undefined): RowValue {
  if (value === undefined || value === null) return null;
  return kind === 'time' ? Date.parse(String(value)) : value;
}
