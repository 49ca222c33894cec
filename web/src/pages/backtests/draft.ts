import type { BacktestJob, Operations } from '../../api/schema.ts';
import { METRIC_NAMES, STRATEGIES, type Strategy, singleConditions } from '../../strategy/strategies.ts';

type BacktestBody = Operations['POST /v1/backtest']['body'];
export type SweepBody = Operations['POST /v1/backtest/sweep']['body'];
export type Axis = SweepBody['x_axis'];

/** The request that the form edits: a backtest, or with an axis a sweep. */
export interface Draft extends BacktestBody {
  readonly x_axis?: Axis;
  readonly y_axis?: Axis;
}

export const FIRST_DRAFT: Draft = {
  strategy: STRATEGIES.threshold_entry,
  universe: { ticker: 'BTC', event_type: '5m' },
  size_usd: 10,
  market_limit: 5,
  params: { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: 0.02 },
};

/** The whole request of a job as a draft. Missing bounds and axes are omitted, as in every draft. */
export function draftOf({ request }: Pick<BacktestJob, 'request'>): Draft {
  const { start, end, x_axis, y_axis, ...rest } = request;
  return {
    ...rest,
    ...(start === null ? {} : { start }),
    end,
    ...(x_axis ? { x_axis } : {}),
    ...(y_axis ? { y_axis } : {}),
  };
}

/** Initial start and end of an axis over each of a strategy's own numbers. */
const FIRST_RANGES: Readonly<Record<string, readonly [start: number, end: number]>> = {
  threshold: [0.1, 0.5],
  lookback: [30, 150],
  z_threshold: [1, 3],
  minutes_before: [1, 3],
  max_trades_per_market: [1, 5],
  latency_ms: [0, 1000],
  max_fill_price: [0.5, 0.98],
  max_slippage: [0, 0.04],
  size_usd: [10, 50],
};
const FIRST_STEPS = 5;

const OF_ALL: Readonly<Record<string, string>> = {
  latency_ms: 'latency (ms)',
  max_fill_price: 'max fill price',
  max_slippage: 'max slippage',
  size_usd: 'size per trade ($)',
};
const OF_TYPE: Readonly<Record<Strategy['type'], Readonly<Record<string, string>>>> = {
  threshold_entry: { threshold: 'threshold' },
  mean_reversion: { lookback: 'lookback (s)', z_threshold: 'standard deviations' },
  time_before_resolution: { minutes_before: 'minutes before the end' },
  condition_based: { max_trades_per_market: 'max trades per market' },
};
const PURPOSES = { entry: 'buy', take_profit: 'profit', stop_loss: 'loss' } as const;

/** Labels of the numbers that a sweep may vary for this strategy, by name in the request. */
export function sweepable(strategy: Strategy): Readonly<Record<string, string>> {
  return { ...OF_TYPE[strategy.type], ...conditionValues(strategy), ...OF_ALL };
}

function conditionValues(strategy: Strategy): Record<string, string> {
  if (strategy.type !== 'condition_based') return {};
  const named = (['entry', 'take_profit', 'stop_loss'] as const).flatMap((list) =>
    (strategy[list] ?? []).flatMap((item, at) =>
      singleConditions(item).map(({ metric }, inside) => [
        'any' in item ? `${list}.${at}.any.${inside}.value` : `${list}.${at}.value`,
        `${PURPOSES[list]} ${at + 1}: ${METRIC_NAMES[metric]}`,
      ]),
    ),
  );
  return Object.fromEntries(named);
}

/** The initial axis over this number. */
export function firstAxis(param: string): Axis {
  const [start, end] = FIRST_RANGES[param] ?? [0.1, 0.9];
  return { param, start, end, steps: FIRST_STEPS };
}

/** The same draft for another strategy, without axes over numbers that this strategy does not have. */
export function withStrategy({ x_axis, y_axis, ...rest }: Draft, strategy: Strategy): Draft {
  const known = sweepable(strategy);
  const [x, y] = [x_axis, y_axis].filter((axis) => axis !== undefined && axis.param in known);
  return { ...rest, strategy, ...(x ? { x_axis: x } : {}), ...(y ? { y_axis: y } : {}) };
}
