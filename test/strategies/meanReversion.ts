import { defineStrategy } from '../../src/core/run/defineStrategy.ts';
import type { Context, ParamSpecs } from '../../src/core/run/definition.ts';
import { MarketMap, OneAtATime, TRADING_PARAMS, ticksOf, type Wish } from './oneAtATime.ts';

/** The YES mids of the last seconds of one market, one per second. */
class RecentMids {
  /** Twice the mid, in ticks: whole numbers have exact sums. */
  readonly #samples: number[] = [];
  #second = 0;
  #last: number | null = null;

  /** @returns Mean and deviation over the whole lookback; null while it is not known. */
  add(doubled: number | null, nowMs: number, lookback: number): { mean: number; variance: number } | null {
    if (doubled === null) {
      this.#samples.length = 0;
      this.#last = null;
      return null;
    }
    const second = Math.floor(nowMs / 1_000);
    if (this.#last !== null)
      for (let n = Math.min(second - this.#second, lookback); n > 0; n--) this.#samples.push(this.#last);
    this.#samples.splice(0, this.#samples.length - lookback);
    this.#second = second;
    this.#last = doubled;
    if (this.#samples.length < lookback) return null;
    const sum = this.#samples.reduce((total, one) => total + one, 0);
    const squares = this.#samples.reduce((total, one) => total + one * one, 0);
    const mean = sum / lookback;
    return { mean, variance: (squares - sum * mean) / (lookback - 1) };
  }
}

/** Buys the token that is cheap against its own recent mean, and sells it when the mean is reached again. */
export const meanReversion = defineStrategy({
  name: 'mean_reversion',
  params: {
    ...TRADING_PARAMS,
    lookback: { default: 20, min: 2, whole: true },
    zThreshold: { default: 1.2, min: 0 },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () =>
    new MarketMap((marketId) => ({ trading: new OneAtATime(marketId, 1), mids: new RecentMids() })),
  onEvent(event, context) {
    const { lookback, zThreshold } = context.params;
    for (const marketId of context.state.affected(event, context)) {
      const { trading, mids } = context.state.of(marketId);
      const doubled = doubledMid(marketId, context);
      const recent = mids.add(doubled, context.nowMs, lookback);
      const held = trading.held(context);
      let wish: Wish = null;
      if (recent !== null && doubled !== null) {
        const { mean, variance } = recent;
        const z = variance > 0 ? (doubled - mean) / Math.sqrt(variance) : 0;
        if (held === 'yes') wish = doubled >= mean ? 'take_profit' : null;
        else if (held === 'no') wish = doubled <= mean ? 'take_profit' : null;
        else if (variance > 0 && z <= -zThreshold) wish = 'buy_yes';
        else if (variance > 0 && z >= zThreshold) wish = 'buy_no';
      }
      trading.act(wish, context);
    }
  },
});

function doubledMid(marketId: string, context: Context<ParamSpecs, unknown>): number | null {
  const book = context.book(marketId);
  const [bid, ask] = [book.bestBid('yes'), book.bestAsk('yes')];
  if (!context.market(marketId).trusted || bid === null || ask === null) return null;
  return ticksOf(bid) + ticksOf(ask);
}
