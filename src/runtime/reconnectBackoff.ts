import { type BackoffLimits, backoffDelayMs } from './backoff.ts';

/** Decides when a failed operation may be retried. */
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
   * @param atLeastMs The wait requested by the other side (Retry-After), if any.
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
