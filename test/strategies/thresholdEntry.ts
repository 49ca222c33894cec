import { defineStrategy } from '../../src/core/run/defineStrategy.ts';
import { MarketMap, OneAtATime, TRADING_PARAMS } from './oneAtATime.ts';

/** Buys as soon as the best ask of the token is below (above) the threshold, and holds to the resolution. */
export const thresholdEntry = defineStrategy({
  name: 'threshold_entry',
  params: {
    ...TRADING_PARAMS,
    threshold: { default: 0.4, min: 0, max: 1 },
    direction: { default: 'below', choices: ['below', 'above'] },
    side: { default: 'buy_yes', choices: ['buy_yes', 'buy_no'] },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () => new MarketMap((marketId) => ({ trading: new OneAtATime(marketId, 1) })),
  onEvent(event, context) {
    const { threshold, direction, side } = context.params;
    for (const marketId of context.state.affected(event, context)) {
      const ask = context.book(marketId).bestAsk(side === 'buy_yes' ? 'yes' : 'no');
      const wants = ask !== null && (direction === 'below' ? ask < threshold : ask > threshold);
      context.state.of(marketId).trading.act(wants ? (side as 'buy_yes' | 'buy_no') : null, context);
    }
  },
});
