import { defineStrategy } from '../../src/core/run/defineStrategy.ts';
import { MarketMap, OneAtATime, TRADING_PARAMS } from './oneAtATime.ts';

/** Buys at the first event with this little time left, and holds to the resolution. */
export const timeBeforeResolution = defineStrategy({
  name: 'time_before_resolution',
  params: {
    ...TRADING_PARAMS,
    minutesBefore: { default: 1, min: 0 },
    side: { default: 'buy_yes', choices: ['buy_yes', 'buy_no'] },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () => new MarketMap((marketId) => ({ trading: new OneAtATime(marketId, 1) })),
  onEvent(event, context) {
    const { minutesBefore, side } = context.params;
    for (const marketId of context.state.affected(event, context)) {
      const wants = context.nowMs >= context.market(marketId).endTimeMs - minutesBefore * 60_000;
      context.state.of(marketId).trading.act(wants ? (side as 'buy_yes' | 'buy_no') : null, context);
    }
  },
});
