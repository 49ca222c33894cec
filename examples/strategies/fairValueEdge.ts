/**
 * Fair value with a stop: buys a token that costs less than the model says it is worth.
 *
 * Idea: the model turns the price of the underlying, the strike, the time left and the volatility into P(Up). A slow
 * book is cheaper than that for a moment.
 * Entry: probability of the token less its best ask is at least `edge`, with at least `secondsLeft` to go. The edge has
 * to pay the taker's fee too, which is highest near a price of 0.5.
 * Exit: the bid reached the model's value (nothing is left to earn), or fell `stopLoss` below the price paid. After a
 * stop it buys nothing more in that window.
 * Risk: the model is wrong in a trend, and its volatility lags. Look at docs/CALIBRATION.md before trusting it.
 * Try: the latency curve of the report. An edge that is gone after 150 ms belongs to others.
 */
import { defineStrategy, type Token } from '@underround/engine';

export default defineStrategy({
  name: 'fair_value_edge',
  params: {
    edge: { default: 0.05, min: 0, max: 1 },
    stopLoss: { default: 0.1, min: 0, max: 1 },
    secondsLeft: { default: 20, min: 0 },
    budgetUsd: { default: 10, min: 1 },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true, model: true },
  /** Markets in which it was stopped. */
  state: () => ({ stopped: new Set<string>() }),
  onEvent(event, context) {
    const { stopped } = context.state;
    if (event.type === 'resolved') stopped.delete(event.marketId);
    if (event.type !== 'book') return;
    const { marketId, trusted, startTimeMs, endTimeMs } = context.market(event.marketId);
    const { nowMs, params } = context;
    if (!trusted || nowMs < startTimeMs || nowMs >= endTimeMs) return;
    // One order at a time: its outcome decides what comes next.
    if (context.openOrders(marketId).length > 0) return;
    const { yesProbability } = context.model(marketId);
    if (yesProbability === null) return;
    const worthOf = (token: Token) => (token === 'yes' ? yesProbability : 1 - yesProbability);
    const book = context.book(marketId);
    for (const token of ['yes', 'no'] as const) {
      const { size, averagePrice } = context.position(marketId, token);
      const bid = book.bestBid(token);
      if (size === 0 || averagePrice === null) continue;
      if (bid === null) return;
      const isStopped = bid <= averagePrice - params.stopLoss;
      if (isStopped) stopped.add(marketId);
      if (isStopped || bid >= worthOf(token)) {
        const reason = isStopped ? 'stop_loss' : 'take_profit';
        context.place({ marketId, token, action: 'sell', limitPrice: bid, size, reason });
      }
      return;
    }
    if (context.cash !== null && context.cash < params.budgetUsd) return;
    if (stopped.has(marketId) || endTimeMs - nowMs < params.secondsLeft * 1_000) return;
    for (const token of ['yes', 'no'] as const) {
      const ask = book.bestAsk(token);
      if (ask === null || worthOf(token) - ask < params.edge) continue;
      context.place({ marketId, token, action: 'buy', limitPrice: ask, budget: params.budgetUsd });
      return;
    }
  },
});
