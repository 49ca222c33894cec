/**
 * Late favourite: buys the likely winner shortly before the window ends, and holds it to the resolution.
 *
 * Idea: near the end few things can still change the outcome, but some holders sell the favourite a little below its
 * worth, to have their money at once.
 * Entry: in the last `secondsLeft`, when the best ask of a token is from `minPrice` to `maxPrice`. One purchase a window.
 * Exit: none. The venue pays 1 USDC or nothing for a share.
 * Risk: a purchase at 0.90 has to win nine times out of ten before fees. One loss costs as much as nine gains.
 * Try: `underround sweep` over `minPrice` and `secondsLeft`, and compare the win rate with the price paid.
 */
import { defineStrategy } from '@underround/engine';

export default defineStrategy({
  name: 'late_favourite',
  params: {
    secondsLeft: { default: 60, min: 1, max: 3_600 },
    minPrice: { default: 0.8, min: 0.5, max: 1 },
    maxPrice: { default: 0.95, min: 0.5, max: 1 },
    budgetUsd: { default: 10, min: 1 },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  /** Markets in which it has bought or tried to. */
  state: () => ({ done: new Set<string>() }),
  onEvent(event, context) {
    const { done } = context.state;
    if (event.type === 'resolved') done.delete(event.marketId);
    // An order that filled nothing may be tried again.
    if (event.type === 'order' && event.order.state === 'missed') done.delete(event.order.marketId);
    if (event.type !== 'book' || done.has(event.marketId)) return;
    const { secondsLeft, minPrice, maxPrice, budgetUsd } = context.params;
    const { marketId, trusted, endTimeMs } = context.market(event.marketId);
    const leftMs = endTimeMs - context.nowMs;
    if (!trusted || leftMs <= 0 || leftMs > secondsLeft * 1_000) return;
    if (context.cash !== null && context.cash < budgetUsd) return;
    for (const token of ['yes', 'no'] as const) {
      const ask = context.book(marketId).bestAsk(token);
      if (ask === null || ask < minPrice || ask > maxPrice) continue;
      context.place({ marketId, token, action: 'buy', limitPrice: maxPrice, budget: budgetUsd });
      done.add(marketId);
      return;
    }
  },
});
