import { YEAR_SECONDS } from './probability.ts';
import { exponentialMean, sumOfSquares, twoScaleFromSums } from './twoScaleVariance.ts';

/** Longest window of a sigma, and the history kept: an hour of prices, one per second. */
const WINDOW_SECONDS_MAX = 3_600;
/** Fewer seconds than this are too few for any sigma. */
const RETURNS_MIN = 30;
/** A second without a price keeps the last one for at most this long; a longer silence is cut out of the record. */
const SILENCE_SECONDS_MAX = 10;

/** Weight of all windows before the newest one: the memory's half-life is one window. */
const WINDOW_LAMBDA = 0.5;
const FAST_LAG = 1;
/** The slow scale K in seconds, for windows from `LONG_WINDOW` returns up and for shorter ones. */
const SLOW_LAG_LONG = 10;
const SLOW_LAG_SHORT = 5;
const LONG_WINDOW = 300;
/** Least share of the observed variance that is not noise; below it, one stretch's noise would pass for calm. */
const SIGNAL_SHARE_MIN = 1 / 20;

const CAPACITY = WINDOW_SECONDS_MAX + 1;

/**
 * Volatility of one ticker from its last hour of prices, one per second: two-scale realised variance of each window,
 * newest back, weighted by `WINDOW_LAMBDA`. A price costs O(1), a sigma one pass over the hour (some microseconds).
 */
export class VolatilityEstimator {
  /** Log prices by known second, oldest first in [#from, #to); a cut-out silence shifts all later ones. */
  readonly #levels = new Float64Array(2 * CAPACITY);
  #from = 0;
  #to = 0;
  #second: number | null = null;
  #shift = 0;

  /** Seconds of prices kept. */
  get count(): number {
    return this.#to - this.#from;
  }

  /**
   * Adds a price; the last price of a second is used for it.
   * @param price > 0.
   * @returns False for a price of an earlier second, which is ignored.
   */
  push(timeMs: number, price: number): boolean {
    const second = Math.floor(timeMs / 1_000);
    const level = Math.log(price);
    if (this.#second === null) this.#append(level);
    else if (second < this.#second) return false;
    else if (second === this.#second) this.#levels[this.#to - 1] = level + this.#shift;
    else this.#advance(second - this.#second, level);
    this.#second = second;
    return true;
  }

  /**
   * Volatility of log prices per square root of a year of 31,536,000 s.
   * @param windowSeconds 60..3600.
   * @returns Null if fewer than `RETURNS_MIN` seconds are known, or no price moved.
   */
  sigmaAnnual(windowSeconds: number): number | null {
    const known = this.count - 1;
    if (known < RETURNS_MIN) return null;
    const size = Math.min(windowSeconds, known);
    const windows = [];
    for (let i = Math.floor(known / size); i >= 1; i--) {
      windows.push(this.#window(this.#to - 1 - i * size, size + 1));
    }
    const variances = windows.map(({ variance }) => variance);
    const seen = windows.map((window) => window.seen);
    const variance = Math.max(
      exponentialMean(variances, WINDOW_LAMBDA) ?? 0,
      SIGNAL_SHARE_MIN * (exponentialMean(seen, WINDOW_LAMBDA) ?? 0),
    );
    return variance > 0 ? Math.sqrt(variance * YEAR_SECONDS) : null;
  }

  /** Variance per second of one window: by two scales, and as observed with its noise. */
  #window(from: number, prices: number): { variance: number; seen: number } {
    const slowLag = prices > LONG_WINDOW ? SLOW_LAG_LONG : SLOW_LAG_SHORT;
    const levels = this.#levels;
    const slowSquares = sumOfSquares(levels, { from, count: prices, lag: slowLag });
    const fastSquares = sumOfSquares(levels, { from, count: prices, lag: FAST_LAG });
    const scales = { prices, slowLag, fastLag: FAST_LAG };
    // The reading for a walk of variance 1 per second: dividing by it removes the loss at the ends exactly.
    const unit = twoScaleFromSums({
      ...scales,
      slowSquares: (prices - slowLag) * slowLag,
      fastSquares: prices - FAST_LAG,
    });
    return {
      variance: twoScaleFromSums({ ...scales, slowSquares, fastSquares }) / unit,
      seen: fastSquares / (prices - FAST_LAG),
    };
  }

  #advance(seconds: number, level: number): void {
    const last = this.#levels[this.#to - 1] as number;
    if (seconds > SILENCE_SECONDS_MAX) {
      // The move during a silence is not the return of a second.
      this.#shift = last - level;
      this.#append(last);
      return;
    }
    for (let i = 1; i < seconds; i++) this.#append(last);
    this.#append(level + this.#shift);
  }

  #append(level: number): void {
    if (this.#to === this.#levels.length) {
      // Once an hour the newest hour moves to the front.
      this.#levels.copyWithin(0, this.#to - CAPACITY + 1, this.#to);
      this.#to = CAPACITY - 1;
      this.#from = 0;
    }
    this.#levels[this.#to++] = level;
    if (this.#to - this.#from > CAPACITY) this.#from++;
  }
}
