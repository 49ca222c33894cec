/** The least delay of the last minutes counts as none. */
const WINDOW_MS = 300_000;
/** No two clocks in order differ by more: a delay above it is one, whatever was seen before. */
const CLOCK_DIFFERENCE_MAX_MS = 60_000;

/**
 * How late messages are, measured between two clocks that may differ: a message's delay is what it takes longer than
 * the fastest one of the last minutes.
 */
export class DelayMeter {
  #leastMs = Number.POSITIVE_INFINITY;
  /** The least of the window before. */
  #earlierMs = Number.POSITIVE_INFINITY;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /**
   * @param differenceMs The reader's clock at receipt minus the sender's clock at sending.
   * @param nowMs Monotonic.
   * @returns The delay in milliseconds, at least 0.
   */
  delayOf(differenceMs: number, nowMs: number): number {
    if (nowMs - this.#sinceMs >= WINDOW_MS) {
      this.#earlierMs = this.#leastMs;
      this.#leastMs = Number.POSITIVE_INFINITY;
      this.#sinceMs = nowMs;
    }
    this.#leastMs = Math.min(this.#leastMs, differenceMs);
    if (differenceMs > CLOCK_DIFFERENCE_MAX_MS) return differenceMs;
    return differenceMs - Math.min(this.#leastMs, this.#earlierMs);
  }
}
