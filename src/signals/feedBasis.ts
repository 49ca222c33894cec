/** Seconds of exchange prices kept: relayed points arrive up to a few seconds late. */
const SECONDS_KEPT = 64;
/** Fewer pairs than this are not used; the mean covers about the last 30. */
const PAIRS_MIN = 5;
const PAIRS_MEMORY = 30;
/** Without a new pair for this long the two feeds may have diverged. */
const AGE_MAX_MS = 30_000;

/**
 * The difference between a relayed feed and an exchange, as the log of their ratio, averaged over about half a minute.
 * Each second's relayed point is compared with the last trade before it.
 */
export class FeedBasis {
  readonly #seconds = new Float64Array(SECONDS_KEPT).fill(-1);
  readonly #prices = new Float64Array(SECONDS_KEPT);
  #exchange: string | null = null;
  #pairs = 0;
  #mean = 0;
  #pairedMs = 0;

  traded(timeMs: number, price: number, exchange: string): void {
    if (exchange !== this.#exchange) this.#begin(exchange);
    const second = Math.floor(timeMs / 1_000);
    const slot = second % SECONDS_KEPT;
    this.#seconds[slot] = second;
    this.#prices[slot] = price;
  }

  relayed(timeMs: number, price: number): void {
    const before = Math.floor(timeMs / 1_000) - 1;
    const slot = before % SECONDS_KEPT;
    if (this.#seconds[slot] !== before) return;
    // A mean that starts again after a silence must not contain the difference from before it.
    this.#pairs = timeMs - this.#pairedMs > AGE_MAX_MS ? 1 : this.#pairs + 1;
    const log = Math.log(price / (this.#prices[slot] as number));
    this.#mean += (log - this.#mean) / Math.min(this.#pairs, PAIRS_MEMORY);
    this.#pairedMs = timeMs;
  }

  /** Null if there are too few pairs for this exchange, or they are too old. */
  value(exchange: string, nowMs: number): number | null {
    if (exchange !== this.#exchange || this.#pairs < PAIRS_MIN) return null;
    return nowMs - this.#pairedMs > AGE_MAX_MS ? null : this.#mean;
  }

  #begin(exchange: string): void {
    this.#exchange = exchange;
    this.#seconds.fill(-1);
    this.#pairs = 0;
    this.#mean = 0;
  }
}
