/** Seconds kept: the longest average any window is decided by, with room for what comes late. */
const CAPACITY = 256;
/** A mean over fewer than this part of its seconds is none. */
const KNOWN_SHARE_MIN = 0.8;

/**
 * The last price of each of the last seconds: what the running part of a deciding average (TWAP60) is taken from.
 * Prices may come late and in any order; the newest second decides what is kept.
 */
export class SecondPrices {
  readonly #prices = new Float64Array(CAPACITY);
  readonly #seconds = new Float64Array(CAPACITY).fill(-1);

  /** @param timeMs The price's own time, not its receipt. */
  push(timeMs: number, price: number): void {
    const second = Math.floor(timeMs / 1_000);
    const slot = second % CAPACITY;
    if (second < (this.#seconds[slot] as number)) return;
    this.#seconds[slot] = second;
    this.#prices[slot] = price;
  }

  /**
   * Mean price over the whole seconds in (fromMs, toMs]: the point of a second stands at its beginning.
   * @returns Null where fewer than four in five of them are known, or the range holds none or too many to be kept.
   */
  mean({ fromMs, toMs }: { fromMs: number; toMs: number }): number | null {
    const first = Math.floor(fromMs / 1_000) + 1;
    const last = Math.floor(toMs / 1_000);
    const wanted = last - first + 1;
    if (wanted < 1 || wanted > CAPACITY) return null;
    let sum = 0;
    let known = 0;
    for (let second = first; second <= last; second++) {
      const slot = second % CAPACITY;
      if (this.#seconds[slot] !== second) continue;
      sum += this.#prices[slot] as number;
      known++;
    }
    return known < KNOWN_SHARE_MIN * wanted ? null : sum / known;
  }
}
