import type { Market } from '../../schema/market.ts';
import type { LiveStrategy } from './paperSession.ts';

/** Names the series of a market: its ticker and event type. */
export function seriesOf({ ticker, eventType }: Pick<Market, 'ticker' | 'eventType'>): string {
  return `${ticker} ${eventType}`;
}

/** Strategies by series: an event of a market reaches only the strategies of its series. */
export class StrategyIndex {
  readonly #byId = new Map<string, LiveStrategy>();
  readonly #bySeries = new Map<string, Map<string, LiveStrategy>>();

  add(strategy: LiveStrategy): void {
    this.#byId.set(strategy.strategyId, strategy);
    const ofSeries = this.#bySeries.get(strategy.series) ?? new Map<string, LiveStrategy>();
    this.#bySeries.set(strategy.series, ofSeries.set(strategy.strategyId, strategy));
  }

  get(strategyId: string): LiveStrategy | undefined {
    return this.#byId.get(strategyId);
  }

  delete(strategyId: string): void {
    const strategy = this.#byId.get(strategyId);
    if (strategy !== undefined) this.#bySeries.get(strategy.series)?.delete(strategyId);
    this.#byId.delete(strategyId);
  }

  all(): Iterable<LiveStrategy> {
    return this.#byId.values();
  }

  series(): string[] {
    return [...this.#bySeries.keys()];
  }

  ofMarket(market: Market): LiveStrategy[] {
    return [...(this.#bySeries.get(seriesOf(market))?.values() ?? [])];
  }
}
