import { isLate } from '../core/lateness.ts';
import { PointTape } from '../core/priceTape.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { MarketTicker } from '../schema/market.ts';
import { isOtherPrice } from '../venues/polymarket/pointPrice.ts';

/** An older price says nothing about now. */
export const UNDERLYING_AGE_MAX_MS = 10_000;

/** The recent points of one relayed price, from all feeds that carry it. */
interface RelayedPoints {
  newestMs: number;
  readonly tape: PointTape;
}

/** `known`: the point, or a newer one, arrived before; `differs`: it arrived before with another price. */
type PriceNews = 'new' | 'known' | 'differs';

/** The last prices by source, and the spot price stamped on books and quotes. */
export class UnderlyingPriceCache {
  readonly #spot = new Map<string, UnderlyingEvent>();
  readonly #relayed = new Map<string, RelayedPoints>();

  /**
   * Spot trades become the current price. Relayed prices (Chainlink, TWAP) do not, because they arrive seconds after the
   * book has moved; nor do late trades. A relayed point arrives several times: the relay repeats recent points at every
   * subscribe, and two feeds carry the same points.
   */
  update(event: UnderlyingEvent): PriceNews {
    const { ticker, source, eventTimeMs, price } = event;
    if (source === 'binance_spot' || source === 'coinbase_spot') {
      if (!isLate(event)) this.#spot.set(ticker, event);
      return 'new';
    }
    const points = this.#pointsOf(`${ticker}:${source}`);
    const known = points.tape.at(eventTimeMs);
    if (known !== null) return isOtherPrice(price, known) ? 'differs' : 'known';
    points.tape.add(eventTimeMs, price);
    if (eventTimeMs <= points.newestMs) return 'known';
    points.newestMs = eventTimeMs;
    return 'new';
  }

  /** The last price received at or before `receivedTimeMs`; null when there is none or it is too old. */
  at(ticker: MarketTicker, receivedTimeMs: number): number | null {
    const last = this.#spot.get(ticker);
    if (last === undefined || receivedTimeMs - last.receivedTimeMs > UNDERLYING_AGE_MAX_MS) return null;
    return last.price;
  }

  #pointsOf(key: string): RelayedPoints {
    const known = this.#relayed.get(key);
    if (known !== undefined) return known;
    const made = { newestMs: 0, tape: new PointTape() };
    this.#relayed.set(key, made);
    return made;
  }
}
