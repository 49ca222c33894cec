import { isLate } from '../lateness.ts';
import { SecondPrices } from '../pricing/secondPrices.ts';
import { VolatilityEstimator } from '../pricing/volatilityEstimator.ts';

/** An older price is treated as missing. */
export const PRICE_FRESH_MS = 10_000;
/** Window of the volatility in seconds. */
const SIGMA_WINDOW_SECONDS = 600;

/** The received prices of one ticker; one instance may serve all markets of the ticker. */
export class UnderlyingState {
  #estimator = new VolatilityEstimator();
  #seconds = new SecondPrices();
  #sigmaFromMs: number;
  /** Source of the known prices; null: no price is known. */
  #from: 'feed' | 'quotes' | null = null;
  #price = Number.NaN;
  #receivedMs = Number.NEGATIVE_INFINITY;
  #second = Number.NEGATIVE_INFINITY;
  /** From whole seconds, so that it does not depend on when it is read; null while too little is known. */
  sigmaAnnual: number | null = null;

  /** @param sigmaFromMs The volatility, which is expensive, is not computed before this time. */
  constructor(sigmaFromMs = Number.NEGATIVE_INFINITY) {
    this.#sigmaFromMs = sigmaFromMs;
  }

  /** The volatility is needed from this time on, or from an earlier one. */
  computeSigmaFrom(timeMs: number): void {
    this.#sigmaFromMs = Math.min(this.#sigmaFromMs, timeMs);
  }

  /** Adds a price of the feed that resolves the market. */
  push(point: { receivedMs: number; eventMs: number; price: number }): void {
    if (!(point.price > 0)) return;
    // The two feeds differ by more than the price moves: a volatility over both would measure that difference.
    if (this.#from === 'quotes') this.#forget();
    this.#from = 'feed';
    this.#push(point);
  }

  /**
   * Adds a price recorded beside a quote, of whatever feed. Such prices are used until the deciding feed's first price
   * arrives: whether one will arrive is not known before.
   */
  pushBesideQuote({ receivedMs, price }: { receivedMs: number; price: number }): void {
    if (this.#from === 'feed' || !(price > 0)) return;
    this.#from = 'quotes';
    this.#push({ receivedMs, eventMs: receivedMs, price });
  }

  #forget(): void {
    this.#estimator = new VolatilityEstimator();
    this.#seconds = new SecondPrices();
    this.#price = Number.NaN;
    this.#receivedMs = Number.NEGATIVE_INFINITY;
    this.#second = Number.NEGATIVE_INFINITY;
    this.sigmaAnnual = null;
  }

  #push({ receivedMs, eventMs, price }: { receivedMs: number; eventMs: number; price: number }): void {
    if (isLate({ eventTimeMs: eventMs, receivedTimeMs: receivedMs })) {
      // It belongs to a second that a mean may still need, but is not a current price.
      this.#seconds.push(eventMs, price);
      return;
    }
    const second = Math.floor(receivedMs / 1_000);
    if (second > this.#second) {
      if (receivedMs >= this.#sigmaFromMs)
        this.sigmaAnnual = this.#estimator.sigmaAnnual(SIGMA_WINDOW_SECONDS);
      this.#second = second;
    }
    this.#estimator.push(receivedMs, price);
    this.#seconds.push(eventMs, price);
    this.#price = price;
    this.#receivedMs = receivedMs;
  }

  /** NaN if there is no fresh price. */
  priceAt(nowMs: number): number {
    return nowMs - this.#receivedMs <= PRICE_FRESH_MS ? this.#price : Number.NaN;
  }

  /** Mean over the received prices of (fromMs, toMs]; null if too many are missing. */
  mean(range: { fromMs: number; toMs: number }): number | null {
    return this.#seconds.mean(range);
  }
}
