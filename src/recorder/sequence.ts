/** Sequence numbers per millisecond before they run ahead of the clock. */
const PER_MILLISECOND = 4096;

/**
 * Numbers records in order of arrival. Numbers derive from the wall clock, so they keep rising over restarts
 * without reading the store, and stay exact in a double until 2039.
 */
export class Sequence {
  #last = 0;

  next(nowMs: number): number {
    this.#last = Math.max(this.#last + 1, nowMs * PER_MILLISECOND);
    return this.#last;
  }
}
