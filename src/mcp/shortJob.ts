/** Results of jobs without most of their rows: a language model reads all that it gets. */
import type { SweepResultBody } from '../schema/api/backtests.ts';
import { joined, shortened, type ToolAnswer } from './tool.ts';

/** The most points of an equity curve, and skipped markets. */
const POINTS_MAX = 200;
/** A sweep of up to 20 x 20 cells, about 80,000 characters, is whole; of a larger one each axis has at most 20 values. */
const AXIS_VALUES_MAX = 20;
const ALL_OF_IT = 'GET /v1/backtest/{job_id} has all';

type Job = Readonly<Record<string, unknown>> & { readonly result: object | null };
type Result = Readonly<Record<string, unknown>>;

/** @param trades The most trades of the answer. */
export function shortJob(job: Job, trades: number): ToolAnswer {
  if (job.result === null) return { body: job, leftOut: null };
  const [result, left] =
    'cells' in job.result
      ? shortSweep(job.result as SweepResultBody)
      : shortBacktest(job.result as Result, trades);
  return { body: { ...job, result }, leftOut: left === null ? null : `${left}; ${ALL_OF_IT}` };
}

function shortBacktest(whole: Result, trades: number): [Result, string | null] {
  const result: Record<string, unknown> = { ...whole };
  const notes: (string | null)[] = [];
  const cut = (name: string, most: number, what: string) => {
    const list = result[name];
    if (!Array.isArray(list)) return;
    const [kept, note] = shortened(list, most, what);
    result[name] = kept;
    notes.push(note);
  };
  cut('trades', trades, 'trades');
  cut('equity_curve', POINTS_MAX, 'points of the equity curve');
  cut('markets_skipped', POINTS_MAX, 'skipped markets');
  return [result, joined(...notes)];
}

/** A sweep with some values of each axis: the first, the last, that of the best cell and others at equal distances. */
function shortSweep(whole: SweepResultBody): [SweepResultBody, string | null] {
  const { cells, x_axis, y_axis, best } = whole;
  const all = cells.length * x_axis.values.length;
  if (all <= AXIS_VALUES_MAX ** 2) return [whole, null];
  const columns = someOf(x_axis.values.length, best?.x);
  const rows = someOf(cells.length, best?.y);
  const left = all - rows.length * columns.length;
  const pick = <T>(list: readonly T[], kept: readonly number[]) => kept.map((index) => list[index] as T);
  const result = {
    ...whole,
    x_axis: { ...x_axis, values: pick(x_axis.values, columns) },
    y_axis: y_axis && { ...y_axis, values: pick(y_axis.values, rows) },
    cells: pick(cells, rows).map((row) => pick(row, columns)),
    best: best && { x: columns.indexOf(best.x), y: rows.indexOf(best.y) },
  };
  return [
    result,
    `${left} of ${all} cells are left out: some values of each axis are kept, and the best cell`,
  ];
}

/** At most `AXIS_VALUES_MAX` indices of a list, in order, at about equal distances. */
function someOf(length: number, needed: number | undefined): number[] {
  if (length <= AXIS_VALUES_MAX) return Array.from({ length }, (_, index) => index);
  const most = AXIS_VALUES_MAX - 1;
  const kept = Array.from({ length: most }, (_, at) => Math.round((at * (length - 1)) / (most - 1)));
  return [...new Set(needed === undefined ? kept : [...kept, needed])].sort((a, b) => a - b);
}
