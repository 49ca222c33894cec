/** Writes the report of a JSON strategy's backtest, with its latency curve. */
import { basename } from 'node:path';
import { requestOf } from '../backtest/asked.ts';
import { type JobContext, reportOfJob } from '../report/jobReport.ts';
import { writeReport } from '../report/writeReport.ts';
import type { BacktestResultBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import type { LatencyPoint } from '../schema/report.ts';
import type { LocalJobs } from './localJobs.ts';

/** Points of the curve in milliseconds; all are on the axis of one sweep, which reads each market once. */
const CURVE_MS = [0, 50, 150, 300, 600];
const CURVE_AXIS = { param: 'latency_ms', start: 0, end: 600, steps: 13 };

interface JobReport extends Pick<JobContext, 'trialsBefore' | 'heldOut'> {
  readonly spec: BacktestSpec;
  readonly result: BacktestResultBody;
  /** Path of the request's file: the report has its name. */
  readonly path: string;
}

export async function writeJobReport(
  directory: string,
  jobs: LocalJobs,
  { spec, result, path, ...selection }: JobReport,
): Promise<void> {
  const own = { kind: 'backtest', ...spec } as const;
  const report = reportOfJob(result, {
    ...selection,
    name: basename(path).replace(/\.json$/, ''),
    request: requestOf(own),
    markets: await jobs.markets(own),
    latencyCurve: await latencyCurve(jobs, spec),
  });
  const names = writeReport(directory, report);
  console.error(`underround: report in ${directory}: ${names.join(', ')}`);
}

async function latencyCurve(jobs: LocalJobs, spec: BacktestSpec): Promise<LatencyPoint[]> {
  const sweep = { ...spec, kind: 'sweep', xAxis: CURVE_AXIS, yAxis: null } as const;
  const { x_axis: axis, cells } = JSON.parse(await jobs.run(sweep, 'latency curve')) as SweepResultBody;
  return CURVE_MS.flatMap((latency_ms) => {
    const cell = cells[0]?.[axis.values.indexOf(latency_ms)];
    if (cell === undefined) return [];
    // The cells of a sweep do not count their orders.
    return [{ latency_ms, total_pnl: cell.total_pnl, trades_total: cell.trades_total, fill_rate: null }];
  });
}
