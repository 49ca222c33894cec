import type { Clock } from '../../../runtime/clock.ts';

/** A long answer waits at most this long before each of its blocks. */
export const YIELD_MS_MAX = 1_000;

/**
 * Counts the short reads in progress. A long answer whose reader is behind waits for them before it makes its next block:
 * its reader does not need the block yet, and on two processors the block would double what a short read takes.
 */
export class ShortReads {
  readonly #clock: Clock;
  #inProgress = 0;
  readonly #yielding = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    this.#inProgress++;
    try {
      return await read();
    } finally {
      this.#inProgress--;
      if (this.#inProgress === 0) for (const resume of this.#yielding) resume();
    }
  }

  /** Resolves when no short read is in progress, at the latest after `YIELD_MS_MAX`. */
  async over(): Promise<void> {
    if (this.#inProgress === 0) return;
    await new Promise<void>((resolve) => {
      const resume = () => {
        timer.cancel();
        this.#yielding.delete(resume);
        resolve();
      };
      const timer = this.#clock.after(YIELD_MS_MAX, resume);
      this.#yielding.add(resume);
    });
  }
}
