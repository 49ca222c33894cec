/**
 * Fade the move: mean reversion of the token after a move of the underlying.
 *
 * Idea: after a jump of the coin the token often moves further than the jump is worth, then part of the way back.
 * Entry: the underlying moved at least `movePct` within `lookbackSeconds`, and the mid of Up moved at least
 * `overshoot` the same way. It buys the other token. One position a market at a time.
 * Exit: the mid of the token gained `takeProfit`, lost `stopLoss`, or the position is `holdSeconds` old.
 * Risk: a real change of direction looks like a jump at first; the stop limits what that costs.
 * Try: a sweep over `movePct` and `overshoot`. With `overshoot` 0 it fades every move, which shows what the filter adds.
 */
import { type Context, defineStrategy, type Token } from '@underround/engine';

interface Sample {
  readonly timeMs: number;
  readonly value: number;
}

interface Holding {
  readonly token: Token;
  readonly sinceMs: number;
  readonly mid: number;
}

/** Adds a sample and drops those before the lookback, but for the newest of them. */
function remember(samples: Sample[], sample: Sample, lookbackMs: number): void {
  samples.push(sample);
  while ((samples[1]?.timeMs ?? Number.POSITIVE_INFINITY) <= sample.timeMs - lookbackMs) samples.shift();
}

/** The change since the start of the lookback; null while the samples do not reach back that far. */
function changeOf(samples: readonly Sample[], fromMs: number): { change: number; from: number } | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || first.timeMs > fromMs) return null;
  return { change: last.value - first.value, from: first.value };
}

function midOf(marketId: string, token: Token, context: Pick<Context, 'book'>): number | null {
  const book = context.book(marketId);
  const [bid, ask] = [book.bestBid(token), book.bestAsk(token)];
  return bid === null || ask === null ? null : (bid + ask) / 2;
}

export default defineStrategy({
  name: 'fade_the_move',
  params: {
    lookbackSeconds: { default: 20, min: 1, max: 600 },
    movePct: { default: 0.03, min: 0 },
    overshoot: { default: 0.02, min: 0, max: 1 },
    takeProfit: { default: 0.02, min: 0, max: 1 },
    stopLoss: { default: 0.04, min: 0, max: 1 },
    holdSeconds: { default: 45, min: 1 },
    budgetUsd: { default: 10, min: 1 },
  },
  // The feeds that decide the markets, and no others.
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true, priceSources: [] },
  state: () => ({
    mids: new Map<string, Sample[]>(),
    prices: new Map<string, Sample[]>(),
    held: new Map<string, Holding>(),
  }),
  onEvent(event, context) {
    const { mids, prices, held } = context.state;
    if (event.type === 'resolved' || event.type === 'gap') {
      // Across a gap no move is known.
      for (const samples of [mids, prices]) samples.delete(event.marketId);
      if (event.type === 'resolved') held.delete(event.marketId);
    }
    if (event.type !== 'book') return;
    const { marketId, trusted, startTimeMs, endTimeMs } = context.market(event.marketId);
    const [mid, price] = [midOf(marketId, 'yes', context), context.price(marketId)];
    if (!trusted || mid === null || price === null) return;
    const { params, nowMs } = context;
    const lookbackMs = params.lookbackSeconds * 1_000;
    const samplesOf = (all: Map<string, Sample[]>) => {
      const known = all.get(marketId) ?? [];
      all.set(marketId, known);
      return known;
    };
    remember(samplesOf(mids), { timeMs: nowMs, value: mid }, lookbackMs);
    remember(samplesOf(prices), { timeMs: nowMs, value: price.price }, lookbackMs);
    if (nowMs < startTimeMs || nowMs >= endTimeMs || context.openOrders(marketId).length > 0) return;
    const holding = held.get(marketId);
    if (holding !== undefined) {
      const { token, sinceMs } = holding;
      const { size } = context.position(marketId, token);
      const gain = (token === 'yes' ? mid : 1 - mid) - holding.mid;
      if (size === 0) held.delete(marketId);
      else if (
        gain >= params.takeProfit ||
        gain <= -params.stopLoss ||
        nowMs - sinceMs >= params.holdSeconds * 1_000
      ) {
        const bid = context.book(marketId).bestBid(token);
        const reason = gain > 0 ? 'take_profit' : 'stop_loss';
        if (bid !== null) context.place({ marketId, token, action: 'sell', limitPrice: bid, size, reason });
      }
      return;
    }
    const move = changeOf(samplesOf(prices), nowMs - lookbackMs);
    const followed = changeOf(samplesOf(mids), nowMs - lookbackMs);
    if (move === null || followed === null) return;
    const direction = Math.sign(move.change);
    const isMove = Math.abs(move.change / move.from) * 100 >= params.movePct;
    if (!isMove || direction === 0 || direction * followed.change < params.overshoot) return;
    const token = direction > 0 ? 'no' : 'yes';
    const ask = context.book(marketId).bestAsk(token);
    if (ask === null || (context.cash !== null && context.cash < params.budgetUsd)) return;
    context.place({ marketId, token, action: 'buy', limitPrice: ask, budget: params.budgetUsd });
    held.set(marketId, { token, sinceMs: nowMs, mid: token === 'yes' ? mid : 1 - mid });
  },
});
