import { isLate } from '../core/lateness.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { MarketTicker } from '../schema/market.ts';

/** An older price says nothing about now. */
export const UNDERLYING_AGE_MAX_MS = 10_000;

/** The last prices by source, and the spot price stamped on books and quotes. */
export class UnderlyingPriceCache {
  readonly #spot = new Map<string, UnderlyingEvent>();
  readonly #relayedTimeMs = new Map<string, number>();

  /**
   * Spot trades become the current price. Relayed prices (Chainlink, TWAP) do not, because they arrive seconds after the
   * book has moved; nor do late trades.
   * @returns False for a relayed point seen before: the relay repeats recent points at every subscribe.
   */
  update(event: UnderlyingEvent): boolean {
    const { ticker, source, eventTimeMs } = event;
    if (source === 'binance_spot' || source === 'coinbase_spot') {
      if (!isLate(event)) this.#spot.set(ticker, event);
      return true;
    }
    const key = `${ticker}:${source}`;
    if (eventTimeMs <= (this.#relayedTimeMs.get(key) ?? 0)) return false;
    this.#relayedTimeMs.set(key, eventTimeMs);
    return true;
  }

  /** The last price received at or before `receivedTimeMs`; null when there is none or it is too old. */
  at(ticker: MarketTicker, receivedTimeMs: number): number | null {
    const last = this.#spot.get(ticker);
    if (last === undefined || receivedTimeMs - last.receivedTimeMs > UNDERLYING_AGE_MAX_MS) return null;
    return last.price;
  }
}
