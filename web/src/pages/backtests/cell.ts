import type { BacktestJob, SweepCell, SweepResult } from '../../api/schema.ts';
import { number, percent, usd, withSign } from '../../ui/format.ts';
import type { Draft } from './draft.ts';

export type SweepJob = BacktestJob & { readonly result: SweepResult };

/** A figure by which the cells of a sweep are coloured. */
export interface Metric {
  readonly label: string;
  readonly read: (cell: SweepCell) => number | null;
  readonly print: (value: number | null) => string;
  /** Values above and below zero have different colours; otherwise more is stronger. */
  readonly isSigned: boolean;
}

export const METRICS = {
  total_pnl: {
    ...{ label: 'P&L', read: ({ total_pnl }) => total_pnl, isSigned: true },
    print: (value) => withSign(value, (one) => usd(one)),
  },
  sharpe_per_market: {
    ...{ label: 'Sharpe per market', read: ({ sharpe_per_market }) => sharpe_per_market, isSigned: true },
    print: (value) => withSign(value, (one) => number(one, 2)),
  },
  win_rate: {
    ...{ label: 'Won', read: ({ win_rate }) => win_rate, isSigned: false },
    print: (value) => percent(value),
  },
  trades_total: {
    ...{ label: 'Trades', read: ({ trades_total }) => trades_total, isSigned: false },
    print: (value) => number(value),
  },
  max_drawdown: {
    ...{ label: 'Max drawdown', read: ({ max_drawdown }) => max_drawdown, isSigned: true },
    print: (value) => usd(value),
  },
} as const satisfies Readonly<Record<string, Metric>>;
export type MetricName = keyof typeof METRICS;

/** Lowest and highest value of a metric over all cells, including 0; null where no cell has one. */
export function rangeOf(cells: SweepResult['cells'], metric: Metric): readonly [number, number] | null {
  const values = cells.flat().flatMap((cell) => {
    const value = cell.error === null ? metric.read(cell) : null;
    return value === null ? [] : [value];
  });
  if (values.length === 0) return null;
  return [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0)];
}

/** Strongest colour, so that the text on it stays readable. */
const ALPHA_MAX = 40;
const [GAIN, LOSS, AMOUNT] = ['18 184 134', '230 73 128', '34 139 230'] as const;

/** Background of a value within the range of its metric. */
export function colourOf(value: number | null, range: readonly [number, number], metric: Metric): string {
  if (value === null) return 'transparent';
  const largest = Math.max(Math.abs(range[0]), Math.abs(range[1])) || 1;
  const alpha = Math.round((Math.abs(value) / largest) * ALPHA_MAX);
  const colour = metric.isSigned ? (value < 0 ? LOSS : GAIN) : AMOUNT;
  return `rgb(${colour} / ${alpha}%)`;
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
