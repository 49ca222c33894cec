import { type BackoffLimits, backoffDelayMs } from './backoff.ts';

/** Decides when a failed operation may be retried. Times are monotonic: the wall clock may be set back. */
export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #tries = 0;
  #notBefore = 0;

  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  get tries(): number {
    return this.#tries;
  }

  ready(nowAt: number): boolean {
    return nowAt >= this.#notBefore;
  }

  /**
   * @param atLeastMs The wait requested by the other side (Retry-After), if any.
   * @returns The wait until the next try.
   */
  failed(nowAt: number, atLeastMs = 0): number {
    const delayMs = Math.max(backoffDelayMs(this.#limits, this.#tries, this.#random), atLeastMs);
    this.#tries++;
    // Of two operations at once, the one that may be retried sooner must not shorten the wait of the other.
    this.#notBefore = Math.max(this.#notBefore, nowAt + delayMs);
    return delayMs;
  }

  reset(): void {
    this.#tries = 0;
    this.#notBefore = 0;
  }
}
