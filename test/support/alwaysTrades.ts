/** Buys and sells again and again, so that it shows whether it still trades. */
export const TRADES = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 100 },
  entry: [{ metric: 'token_price', operator: 'below', value: 0.97 }],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0.001 }],
};
