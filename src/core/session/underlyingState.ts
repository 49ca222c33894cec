import { isLate } from '../lateness.ts';
import { SecondPrices } from '../pricing/secondPrices.ts';
import { VolatilityEstimator } from '../pricing/volatilityEstimator.ts';

/** An older price is none. */
export const PRICE_FRESH_MS = 10_000;
/** Seconds the volatility is measured over. */
export const SIGMA_WINDOW_SECONDS = 600;

/** What has been received of one ticker's price; one may serve all markets of the ticker. */
export class UnderlyingState {
  #estimator = new VolatilityEstimator();
  #seconds = new SecondPrices();
  readonly #sigmaFromMs: number;
  /** Source of the known prices; null: no price is known. */
  #from: 'feed' | 'quotes' | null = null;
  #price = Number.NaN;
  #receivedMs = Number.NEGATIVE_INFINITY;
  #second = Number.NEGATIVE_INFINITY;
  /** Of whole seconds, so that it does not depend on when it is asked; null while too little is known. */
  sigmaAnnual: number | null = null;

  /** @param sigmaFromMs Before it nobody asks for the volatility, which is the dear part. */
  constructor(sigmaFromMs = Number.NEGATIVE_INFINITY) {
    this.#sigmaFromMs = sigmaFromMs;
  }

  /** A price of the feed that decides the market. */
  push(point: { receivedMs: number; eventMs: number; price: number }): void {
    if (!(point.price > 0)) return;
    // The two feeds differ by more than the price moves: a volatility over both would measure that.
    if (this.#from === 'quotes') this.#forget();
    this.#from = 'feed';
    this.#push(point);
  }

  /**
   * A price recorded beside a quote, of whatever feed. It serves until the deciding feed's first price has been
   * received: whether one will come is not known before.
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
      // Of a second that a mean may still need, but no price of now.
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

  /** NaN where none is fresh. */
  priceAt(nowMs: number): number {
    return nowMs - this.#receivedMs <= PRICE_FRESH_MS ? this.#price : Number.NaN;
  }

  /** Mean over (fromMs, toMs] as far as it was received; null where too much is missing. */
  mean(range: { fromMs: number; toMs: number }): number | null {
    return this.#seconds.mean(range);
  }
}
