import { EVENT_TYPES, type Market, TICKERS } from '../schema/market.ts';

/** The names in one command. Tickers and event types together select markets that match both. */
export interface Selection {
  /** Both are empty if only markets are named. */
  readonly tickers: readonly string[];
  readonly eventTypes: readonly string[];
  readonly marketIds: readonly string[];
}

/** A client's subscriptions: series, which new markets join, and single markets. */
export class StreamSubscriptions {
  readonly #series = new Set<string>();
  readonly #marketIds = new Set<string>();
  /** Markets of a subscribed series that were unsubscribed singly. */
  readonly #without = new Set<string>();

  /** @param marketOf Naming a series again restores its markets that were unsubscribed singly. */
  add(selection: Selection, marketOf: (marketId: string) => Market | null): void {
    const named = new Set(seriesOf(selection));
    for (const series of named) this.#series.add(series);
    for (const marketId of this.#without) {
      const market = marketOf(marketId);
      if (market !== null && named.has(seriesOfMarket(market))) this.#without.delete(marketId);
    }
    for (const marketId of selection.marketIds) {
      this.#without.delete(marketId);
      this.#marketIds.add(marketId);
    }
  }

  /** @param marketOf A name without a market is not remembered: a client may invent any number. */
  remove(selection: Selection, marketOf: (marketId: string) => Market | null): void {
    for (const series of seriesOf(selection)) this.#series.delete(series);
    for (const marketId of selection.marketIds) {
      this.#marketIds.delete(marketId);
      if (marketOf(marketId) !== null) this.#without.add(marketId);
    }
  }

  /**
   * @param isOver Series subscriptions match open markets only; a market subscribed by id matches after resolution too.
   */
  matches(market: Market, isOver = market.status === 'resolved'): boolean {
    if (this.#marketIds.has(market.marketId)) return true;
    if (isOver || this.#without.has(market.marketId)) return false;
    return this.#series.has(seriesOfMarket(market));
  }

  /** Forgets a market that no longer exists. */
  forget(marketId: string): void {
    this.#marketIds.delete(marketId);
    this.#without.delete(marketId);
  }

  /** The subscriptions in the form of an `ack`. */
  toJson() {
    const named = (names: readonly string[], at: 0 | 1) =>
      names.filter((name) => [...this.#series].some((series) => series.split(':')[at] === name));
    return {
      tickers: named(TICKERS, 0),
      event_types: named(EVENT_TYPES, 1),
      market_ids: [...this.#marketIds],
    };
  }
}

function seriesOfMarket({ ticker, eventType }: Market): string {
  return `${ticker}:${eventType}`;
}

function seriesOf({ tickers, eventTypes }: Selection): string[] {
  return tickers.flatMap((ticker) => eventTypes.map((eventType) => `${ticker}:${eventType}`));
}
