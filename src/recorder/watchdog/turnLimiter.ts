/** A waiter that has not asked for this long forfeits its turn. */
const LEFT_AFTER_MS = 250;

/** Grants turns to many waiters in the order in which they began to wait, at most one per period. */
export class TurnLimiter<T> {
  readonly #periodMs: number;
  /** In order of arrival, each with the time of its last request. */
  readonly #waiting = new Map<T, number>();
  #givenAt = Number.NEGATIVE_INFINITY;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Returns true and consumes the turn if it is this waiter's. A waiter calls it at every tick while it wants a turn. */
  claim(one: T, nowAt: number): boolean {
    this.#waiting.set(one, nowAt);
    if (nowAt - this.#givenAt < this.#periodMs) return false;
    for (const [first, askedAt] of this.#waiting) {
      if (first !== one && nowAt - askedAt < LEFT_AFTER_MS) return false;
      this.#waiting.delete(first);
      if (first === one) break;
    }
    this.#givenAt = nowAt;
    return true;
  }
}
