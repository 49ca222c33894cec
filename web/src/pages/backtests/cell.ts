import type { BacktestJob, SweepCell, SweepResult } from '../../api/schema.ts';
import { number, percent, usd, withSign } from '../../ui/format.ts';
import type { Draft } from './draft.ts';

export type SweepJob = BacktestJob & { readonly result: SweepResult };

/** Position of a cell: `cells[y][x]`. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A figure by which the cells of a sweep are coloured. */
export interface Metric {
  readonly label: string;
  readonly read: (cell: SweepCell) => number | null;
  readonly print: (value: number | null) => string;
  /** Values above and below zero have different colours; otherwise more is stronger. */
  readonly isSigned: boolean;
  /** Mark of the cells with the highest value; null for none. */
  readonly best: string | null;
}

export const METRICS = {
  total_pnl: {
    ...{ label: 'P&L', read: ({ total_pnl }) => total_pnl, isSigned: true, best: 'best P&L' },
    print: (value) => withSign(value, (one) => usd(one)),
  },
  sharpe_per_market: {
    ...{ label: 'Sharpe per market', read: ({ sharpe_per_market }) => sharpe_per_market, isSigned: true },
    // Its best cell is the sweep's own.
    best: null,
    print: (value) => withSign(value, (one) => number(one, 2)),
  },
  win_rate: {
    ...{ label: 'Won', read: ({ win_rate }) => win_rate, isSigned: false, best: 'most won' },
    print: (value) => percent(value),
  },
  trades_total: {
    ...{ label: 'Trades', read: ({ trades_total }) => trades_total, isSigned: false, best: null },
    print: (value) => number(value),
  },
  max_drawdown: {
    // Below zero: the highest is the smallest drawdown.
    ...{ label: 'Max drawdown', read: ({ max_drawdown }) => max_drawdown, isSigned: true },
    best: 'smallest',
    print: (value) => usd(value),
  },
} as const satisfies Readonly<Record<string, Metric>>;
export type MetricName = keyof typeof METRICS;

/**
 * Marks of a cell: whether it has the best value of the metric, and whether it is the sweep's own best cell, which has
 * the highest Sharpe ratio whatever the metric is.
 */
export function marksOf({ x, y }: Place, { cells, best }: SweepResult, metric: Metric): string[] {
  const isChosen = best?.x === x && best.y === y;
  const cell = cells[y]?.[x];
  const isBest =
    metric.best !== null && cell !== undefined && tradedValue(cell, metric) === bestOf(cells, metric);
  const marks = [isBest ? metric.best : null, isChosen ? 'best Sharpe' : null];
  return marks.filter((mark) => mark !== null);
}

/** The highest value of the cells that traded; NaN, which equals nothing, without one. */
function bestOf(cells: SweepResult['cells'], metric: Metric): number {
  const values = cells.flat().map((cell) => tradedValue(cell, metric) ?? Number.NEGATIVE_INFINITY);
  const highest = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return Number.isFinite(highest) ? highest : Number.NaN;
}

/** Null for a cell that did not run or trade: its zeros are no result. */
function tradedValue(cell: SweepCell, metric: Metric): number | null {
  return cell.error === null && cell.trades_total > 0 ? metric.read(cell) : null;
}

/** Lowest and highest value of a metric over all cells, including 0; null where no cell has one. */
export function rangeOf(cells: SweepResult['cells'], metric: Metric): readonly [number, number] | null {
  const values = cells.flat().flatMap((cell) => {
    const value = cell.error === null ? metric.read(cell) : null;
    return value === null ? [] : [value];
  });
  if (values.length === 0) return null;
  return [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0)];
}

/** Weakest and strongest colour in percent: the least gain is not white, and the text on the largest stays readable. */
const [ALPHA_MIN, ALPHA_MAX] = [10, 50];
const [GAIN, LOSS, AMOUNT] = ['18 184 134', '230 73 128', '34 139 230'] as const;

/** Background of a value within the range of its metric; zero has none. */
export function colourOf(value: number | null, range: readonly [number, number], metric: Metric): string {
  if (value === null || value === 0) return 'transparent';
  const largest = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  const alpha = Math.round(ALPHA_MIN + (Math.abs(value) / largest) * (ALPHA_MAX - ALPHA_MIN));
  return tint(metric, value, alpha);
}

function tint({ isSigned }: Metric, value: number, alpha: number): string {
  return `rgb(${isSigned ? (value < 0 ? LOSS : GAIN) : AMOUNT} / ${alpha}%)`;
}

/**
 * The colours of a range from left to right, as a CSS gradient with a break at zero.
 * @returns `zero` is the place of zero in percent; null at an end, where the bound says it.
 */
export function rampOf(
  range: readonly [number, number],
  metric: Metric,
): { readonly gradient: string; readonly zero: number | null } {
  const [low, high] = range;
  const place = high === low ? 0 : (-low / (high - low)) * 100;
  const stops = [
    ...(low < 0 ? [colourOf(low, range, metric), `${tint(metric, -1, ALPHA_MIN)} ${place}%`] : []),
    ...(high > 0 ? [`${tint(metric, 1, ALPHA_MIN)} ${place}%`, colourOf(high, range, metric)] : []),
  ];
  return {
    gradient: stops.length === 0 ? 'none' : `linear-gradient(to right, ${stops.join(', ')})`,
    zero: low < 0 && high > 0 ? place : null,
  };
}

/** The backtest of one cell: the sweep's request with the cell's values in place of the axes. */
export function cellDraft(draft: Draft, values: readonly (readonly [param: string, value: number])[]): Draft {
  const { x_axis: _x, y_axis: _y, ...rest } = draft;
  return values.reduce((made, [param, value]) => withParam(made, param, value), rest as Draft);
}

const OF_PARAMS = new Set(['latency_ms', 'max_fill_price', 'max_slippage']);

function withParam(draft: Draft, param: string, value: number): Draft {
  if (param === 'size_usd') return { ...draft, size_usd: value };
  if (OF_PARAMS.has(param)) return { ...draft, params: { ...draft.params, [param]: value } };
  return { ...draft, strategy: withValue(draft.strategy, param.split('.'), value) as Draft['strategy'] };
}

/** A copy with the value at a path such as `entry.1.any.0.value`. */
function withValue(within: unknown, [name = '', ...path]: readonly string[], value: number): unknown {
  const inner = (part: unknown) => (path.length === 0 ? value : withValue(part, path, value));
  if (Array.isArray(within)) return within.map((part, at) => (String(at) === name ? inner(part) : part));
  const members = within as Readonly<Record<string, unknown>>;
  return { ...members, [name]: inner(members[name]) };
}
