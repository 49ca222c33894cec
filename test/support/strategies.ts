import type { Strategy } from '../../src/schema/strategy.ts';

/** One strategy of each type and more, chosen so that each trades on `randomTape`. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = {
  threshold_entry: { type: 'threshold_entry', threshold: 0.49, direction: 'below', side: 'buy_yes' },
  'threshold_entry above': { type: 'threshold_entry', threshold: 0.55, direction: 'above', side: 'buy_no' },
  mean_reversion: { type: 'mean_reversion', lookback: 20, z_threshold: 1.2 },
  time_before_resolution: { type: 'time_before_resolution', minutes_before: 2.5, side: 'buy_no' },
  'condition_based on the book': {
    type: 'condition_based',
    side: 'buy_yes',
    entry: [
      { metric: 'token_price', operator: 'crosses_below', value: 0.52 },
      { metric: 'spread', operator: 'below', value: 0.1 },
      { metric: 'imbalance', operator: 'above', value: -0.9 },
    ],
    take_profit: [{ metric: 'token_price', operator: 'above', value: 0.53 }],
    stop_loss: [
      { metric: 'token_price', operator: 'crosses_below', value: 0.42 },
      { metric: 'seconds_to_end', operator: 'below', value: 20 },
    ],
    max_trades_per_market: 100,
  },
  'condition_based on the model': {
    type: 'condition_based',
    side: 'buy_no',
    entry: [
      { metric: 'model_probability', operator: 'above', value: 0.3 },
      { metric: 'underlying_distance_sigma', operator: 'below', value: 2 },
    ],
    take_profit: [{ metric: 'underlying_distance_pct', operator: 'crosses_above', value: 0.01 }],
    stop_loss: [{ metric: 'model_probability', operator: 'crosses_below', value: 0.25 }],
    max_trades_per_market: 100,
  },
  'condition_based on moves of the underlying': {
    type: 'condition_based',
    side: 'buy_yes',
    entry: [
      {
        any: [
          { metric: 'underlying_move_usd', operator: '>=', value: 20 },
          { metric: 'underlying_move_pct', operator: '<=', value: -0.02 },
        ],
      },
      { metric: 'underlying_volatility', operator: '!=', value: 0, window_s: 60 },
      { metric: 'token_price', operator: '<=', value: 0.6, token: 'no' },
      { metric: 'seconds_since_open', operator: '>=', value: 10 },
    ],
    take_profit: [{ metric: 'underlying_move_usd', operator: 'crosses_above', value: 30 }],
    stop_loss: [{ metric: 'underlying_volatility', operator: 'crosses_below', value: 1.1, window_s: 90 }],
    max_trades_per_market: 100,
  },
  'condition_based on moves of the token': {
    type: 'condition_based',
    side: 'buy_no',
    entry: [
      {
        any: [
          { metric: 'token_move', operator: '<=', value: -0.01 },
          { metric: 'token_move', operator: 'crosses_below', value: 0.02, token: 'yes' },
        ],
      },
      { metric: 'token_volatility', operator: '>=', value: 0.001, window_s: 8 },
    ],
    take_profit: [{ metric: 'token_move', operator: '>=', value: 0.01 }],
    stop_loss: [{ metric: 'token_volatility', operator: '==', value: 0, window_s: 4 }],
    max_trades_per_market: 100,
  },
};

/** Buys Up while it costs less than `below`, and sells as soon as more than `above` is bid. */
export function buyAndSell(prices: { below: number; above: number; tradesMax: number }): Strategy {
  return {
    type: 'condition_based',
    side: 'buy_yes',
    entry: [{ metric: 'token_price', operator: 'below', value: prices.below }],
    take_profit: [{ metric: 'token_price', operator: 'above', value: prices.above }],
    stop_loss: [],
    max_trades_per_market: prices.tradesMax,
  };
}
