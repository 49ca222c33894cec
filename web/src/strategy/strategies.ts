import type { Operations } from '../api/schema.ts';

export type Strategy = Operations['POST /v1/backtest']['body']['strategy'];
export type EntryCondition = Extract<Strategy, { type: 'condition_based' }>['entry'][number];
export type Execution = NonNullable<Strategy['execution']>;
export type Condition = Exclude<EntryCondition, { any: unknown }>;

/** The initial strategy of each type. */
export const STRATEGIES: Readonly<Record<Strategy['type'], Strategy>> = {
  threshold_entry: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  mean_reversion: { type: 'mean_reversion', lookback: 60, z_threshold: 2 },
  time_before_resolution: { type: 'time_before_resolution', minutes_before: 2, side: 'buy_yes' },
  condition_based: {
    type: 'condition_based',
    entry: [{ metric: 'model_probability', operator: 'above', value: 0.6 }],
    take_profit: [{ metric: 'token_price', operator: 'above', value: 0.9 }],
    stop_loss: [],
    side: 'buy_yes',
    max_trades_per_market: 1,
  },
};

export const STRATEGY_NAMES: Readonly<Record<Strategy['type'], string>> = {
  threshold_entry: 'Price threshold',
  mean_reversion: 'Mean reversion',
  time_before_resolution: 'Time before the end',
  condition_based: 'Conditions',
};

export const OPERATOR_NAMES: Readonly<Record<Condition['operator'], string>> = {
  above: 'above',
  below: 'below',
  crosses_above: 'crosses above',
  crosses_below: 'crosses below',
  '>=': '≥',
  '<=': '≤',
  '==': '=',
  '!=': '≠',
};

export const METRIC_NAMES: Readonly<Record<Condition['metric'], string>> = {
  token_price: 'price of the token',
  underlying_distance_pct: 'distance to the strike, %',
  underlying_distance_sigma: 'distance to the strike, σ',
  seconds_to_end: 'seconds to the end',
  spread: 'spread',
  imbalance: 'imbalance of the best levels',
  model_probability: 'model probability',
  seconds_since_open: 'seconds since the open',
  underlying_move_usd: 'move of the underlying since the open, $',
  underlying_move_pct: 'move of the underlying since the open, %',
  underlying_volatility: 'volatility of the underlying, per year',
  token_move: 'move of the token since the open',
  token_volatility: 'volatility of the token',
};

/** Metrics of one of the two tokens. */
const TOKEN_METRICS: ReadonlySet<Condition['metric']> = new Set([
  ...(['token_price', 'spread', 'imbalance', 'model_probability', 'token_move', 'token_volatility'] as const),
]);

export function isOfToken(metric: Condition['metric']): boolean {
  return TOKEN_METRICS.has(metric);
}

const FIRST_WINDOW_SECONDS = 60;

/** The same condition on another metric, with a window and a token only if this metric has them. */
export function withMetric(condition: Condition, metric: Condition['metric']): Condition {
  const { window_s = FIRST_WINDOW_SECONDS, token, ...rest } = condition;
  const hasWindow = metric === 'underlying_volatility' || metric === 'token_volatility';
  return {
    ...{ ...rest, metric },
    ...(token !== undefined && isOfToken(metric) ? { token } : {}),
    ...(hasWindow ? { window_s } : {}),
  };
}

/** The conditions of an item: its own, or those of its group. */
export function singleConditions(item: EntryCondition): readonly Condition[] {
  return 'any' in item ? item.any : [item];
}
