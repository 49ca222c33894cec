import type { UnderlyingEvent } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';

/** A price older than this says nothing about now. */
export const UNDERLYING_AGE_MAX_MS = 10_000;

/** The last spot price per ticker, as books and quotes are stamped with it. */
export class UnderlyingPrices {
  readonly #last = new Map<string, UnderlyingEvent>();

  /** Takes spot trades only: relayed prices (Chainlink, TWAP) come seconds after the book has moved. */
  update(event: UnderlyingEvent): void {
    if (event.source === 'binance_spot' || event.source === 'coinbase_spot')
      this.#last.set(event.ticker, event);
  }

  /** The last price received at or before `receivedTimeMs`; null when none is, or it is too old. */
  at(ticker: Ticker | string, receivedTimeMs: number): number | null {
    const last = this.#last.get(ticker);
    if (last === undefined || receivedTimeMs - last.receivedTimeMs > UNDERLYING_AGE_MAX_MS) return null;
    return last.price;
  }
}
