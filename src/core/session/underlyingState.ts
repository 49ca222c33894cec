import { isLate } from '../lateness.ts';
import { SecondPrices } from '../pricing/secondPrices.ts';
import { VolatilityEstimator } from '../pricing/volatilityEstimator.ts';

/** An older price is treated as missing. */
export const PRICE_FRESH_MS = 10_000;
/** Window of the model's volatility in seconds. */
const SIGMA_WINDOW_SECONDS = 600;

/** A value of the underlying that few strategies read. */
export interface UnderlyingMeasure {
  /** A move is measured from the price at the window's open, a volatility is annualised. */
  readonly of: 'move_usd' | 'move_pct' | 'volatility';
  /** Length of the volatility's windows; null for a move. */
  readonly windowSeconds: number | null;
}

interface Point {
  readonly receivedMs: number;
  readonly price: number;
}

/** The received prices of one ticker; one instance may serve all markets of the ticker. */
export class UnderlyingState {
  #estimator = new VolatilityEstimator();
  #seconds = new SecondPrices();
  #sigmaFromMs: number;
  readonly #openMs: number;
  /** The newest price of the current second: the estimator gets the last one of each second. */
  #unfinished: Point | null = null;
  /** The price nearest to the window's open that a move may be measured from. */
  #open: Point | null = null;
  /** Volatilities computed in this second, by window. */
  readonly #sigmas = new Map<number, number | null>();
  /** Source of the known prices; null: no price is known. */
  #from: 'feed' | 'quotes' | null = null;
  #price = Number.NaN;
  #receivedMs = Number.NEGATIVE_INFINITY;
  #second = Number.NEGATIVE_INFINITY;
  /** Computed from whole seconds, so that it does not depend on when it is read; null while too few prices are known. */
  sigmaAnnual: number | null = null;

  /**
   * @param sigmaFromMs The model's volatility, which is expensive, is not computed before this time.
   * @param openMs When the window opens; infinite: the prices of several windows, without moves.
   */
  constructor({
    sigmaFromMs = Number.NEGATIVE_INFINITY,
    openMs = Number.POSITIVE_INFINITY,
  }: {
    sigmaFromMs?: number;
    openMs?: number;
  } = {}) {
    this.#sigmaFromMs = sigmaFromMs;
    this.#openMs = openMs;
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
    this.#unfinished = null;
    this.#open = null;
    this.#sigmas.clear();
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
      if (this.#unfinished !== null)
        this.#estimator.push(this.#unfinished.receivedMs, this.#unfinished.price);
      this.#sigmas.clear();
      if (receivedMs >= this.#sigmaFromMs)
        this.sigmaAnnual = this.#estimator.sigmaAnnual(SIGMA_WINDOW_SECONDS);
      this.#second = second;
    }
    if (second === this.#second) this.#unfinished = { receivedMs, price };
    this.#seconds.push(eventMs, price);
    this.#observeOpen({ receivedMs, price });
    this.#price = price;
    this.#receivedMs = receivedMs;
  }

  /** Keeps the newest price up to the open; if that is not fresh, the first one soon after it. */
  #observeOpen(point: Point): void {
    const soonMs = this.#openMs + PRICE_FRESH_MS;
    if (point.receivedMs <= this.#openMs) this.#open = point;
    else if (point.receivedMs <= soonMs && !this.#isNearOpen) this.#open = point;
  }

  get #isNearOpen(): boolean {
    return this.#open !== null && this.#open.receivedMs >= this.#openMs - PRICE_FRESH_MS;
  }

  /** NaN while it is unknown. */
  measure({ of, windowSeconds }: UnderlyingMeasure, nowMs: number): number {
    const spot = this.priceAt(nowMs);
    if (Number.isNaN(spot)) return spot;
    if (of === 'volatility') return this.#sigmaOver(windowSeconds ?? SIGMA_WINDOW_SECONDS) ?? Number.NaN;
    if (nowMs < this.#openMs || this.#open === null || !this.#isNearOpen) return Number.NaN;
    const move = spot - this.#open.price;
    return of === 'move_usd' ? move : (100 * move) / this.#open.price;
  }

  /** From whole seconds, like `sigmaAnnual`. */
  #sigmaOver(windowSeconds: number): number | null {
    const known = this.#sigmas.get(windowSeconds);
    if (known !== undefined) return known;
    const sigma = this.#estimator.sigmaAnnual(windowSeconds);
    this.#sigmas.set(windowSeconds, sigma);
    return sigma;
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
