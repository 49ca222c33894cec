import { type BackoffLimits, backoffDelayMs } from './backoff.ts';

/** When something that failed may be tried again. */
export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #tries = 0;
  #notBeforeMs = 0;

  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  get tries(): number {
    return this.#tries;
  }

  ready(nowMs: number): boolean {
    return nowMs >= this.#notBeforeMs;
  }

  /**
   * @param atLeastMs What the other side asked for (Retry-After), if it did.
   * @returns The wait until the next try.
   */
  failed(nowMs: number, atLeastMs = 0): number {
    const delayMs = Math.max(backoffDelayMs(this.#limits, this.#tries, this.#random), atLeastMs);
    this.#tries++;
    this.#notBeforeMs = nowMs + delayMs;
    return delayMs;
  }

  reset(): void {
    this.#tries = 0;
    this.#notBeforeMs = 0;
  }
}
