import { SEQS_PER_MILLISECOND } from '../schema/records.ts';

/**
 * Numbers records in order of arrival. Numbers derive from the wall clock, so they keep rising over restarts, and stay
 * exact in a double until 2039. After a restart they continue above the stored ones, because the clock may have been set
 * back.
 */
export class Sequence {
  #last = 0;

  /** The next number is above this one. */
  continueAfter(seq: number): void {
    this.#last = Math.max(this.#last, seq);
  }

  next(nowMs: number): number {
    this.#last = Math.max(this.#last + 1, nowMs * SEQS_PER_MILLISECOND);
    return this.#last;
  }
}
