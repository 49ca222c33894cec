import type { InputOf } from '../../api/client.ts';

export type BacktestBody = NonNullable<InputOf<'POST /v1/backtest'>['body']>;
export type SweepBody = NonNullable<InputOf<'POST /v1/backtest/sweep'>['body']>;
export type Strategy = BacktestBody['strategy'];

/** A strategy of each type to begin with. */
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
  threshold_entry: 'Price beyond a threshold',
  mean_reversion: 'Return to the mean',
  time_before_resolution: 'Some minutes before the end',
  condition_based: 'Conditions',
};

/** Numbers of a strategy that a sweep can vary. */
export const SWEPT: Readonly<Record<Strategy['type'], readonly string[]>> = {
  threshold_entry: ['threshold'],
  mean_reversion: ['lookback', 'z_threshold'],
  time_before_resolution: ['minutes_before'],
  condition_based: [],
};

export const FIRST_DRAFT: BacktestBody = {
  strategy: STRATEGIES.threshold_entry,
  universe: { ticker: 'BTC', event_type: '5m' },
  size_usd: 10,
  market_limit: 5,
};
