import { SEQS_PER_MILLISECOND } from '../schema/records.ts';

/**
 * Numbers records in order of arrival. Numbers derive from the wall clock, so they keep rising over restarts
 * without reading the store, and stay exact in a double until 2039.
 */
export class Sequence {
  #last = 0;

  next(nowMs: number): number {
    this.#last = Math.max(this.#last + 1, nowMs * SEQS_PER_MILLISECOND);
    return this.#last;
  }
}
