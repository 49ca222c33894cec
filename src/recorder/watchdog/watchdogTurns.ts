/** Who has not asked for so long does not want a turn any more. */
const LEFT_AFTER_MS = 250;

/** Gives turns to many who want one, in the order in which they came to want it, and no more often than a period. */
export class Turns<T> {
  readonly #periodMs: number;
  /** In order; each with when it last asked. */
  readonly #waiting = new Map<T, number>();
  #givenAt = Number.NEGATIVE_INFINITY;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Whether its turn has come, which it has then had. To be asked at every look while it wants one. */
  take(one: T, nowAt: number): boolean {
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
