/** Changes remembered since the book was last proven; a book unproven for longer waits for a snapshot in any case. */
const CHANGES_MAX = 4096;

/**
 * The levels set since a book was last proven, with their times. A late frame (lost by the other socket or
 * out of order) may still set the levels that nothing newer has set.
 */
export class RecentChangeLog {
  /** Older changes are never applied late: the book at this time was proven or replaced as a whole. */
  #sinceTimeMs = 0;
  #count = 0;
  readonly #keys = new Uint32Array(CHANGES_MAX);
  readonly #timesMs = new Float64Array(CHANGES_MAX);

  /** @param price In ticks of 1/10000 USDC. */
  note(token: 0 | 1, side: 'BUY' | 'SELL', price: number, eventTimeMs: number): void {
    if (this.#count >= CHANGES_MAX) return;
    this.#keys[this.#count] = keyOf(token, side, price);
    this.#timesMs[this.#count++] = eventTimeMs;
  }

  /** The book is proven as of `eventTimeMs`. */
  proven(eventTimeMs: number): void {
    this.#sinceTimeMs = eventTimeMs;
    this.#count = 0;
  }

  /**
   * Whether no newer change has set this level since `eventTimeMs`.
   * @param untilMs Changes after this time do not count: the question is about the book of that time.
   */
  isNewest(
    token: 0 | 1,
    side: 'BUY' | 'SELL',
    price: number,
    eventTimeMs: number,
    untilMs = Number.POSITIVE_INFINITY,
  ): boolean {
    if (eventTimeMs <= this.#sinceTimeMs || this.#count >= CHANGES_MAX) return false;
    const key = keyOf(token, side, price);
    for (let i = 0; i < this.#count; i++) {
      const timeMs = this.#timesMs[i] as number;
      if (this.#keys[i] === key && timeMs >= eventTimeMs && timeMs <= untilMs) return false;
    }
    return true;
  }
}

function keyOf(token: 0 | 1, side: 'BUY' | 'SELL', price: number): number {
  return (price << 2) | (token << 1) | (side === 'BUY' ? 1 : 0);
}
