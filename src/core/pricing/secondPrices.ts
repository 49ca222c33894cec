/** Seconds kept: the longest deciding average of any window, with room for late prices. */
const CAPACITY = 256;
/** Below this known share of its seconds a mean is null. */
const KNOWN_SHARE_MIN = 0.8;

/**
 * The last price of each recent second: the input for the elapsed part of a deciding average (TWAP60). Prices may
 * arrive late and in any order; the newest second decides which ones are kept.
 */
export class SecondPrices {
  readonly #prices = new Float64Array(CAPACITY);
  readonly #seconds = new Float64Array(CAPACITY).fill(-1);

  /** @param timeMs The price's own time, not its receive time. */
  push(timeMs: number, price: number): void {
    const second = Math.floor(timeMs / 1_000);
    const slot = second % CAPACITY;
    if (second < (this.#seconds[slot] as number)) return;
    this.#seconds[slot] = second;
    this.#prices[slot] = price;
  }

  /**
   * Mean price over the whole seconds in (fromMs, toMs]; a second's price belongs to its beginning.
   * @returns Null if fewer than four in five of them are known, or the range has no second or more than are kept.
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
