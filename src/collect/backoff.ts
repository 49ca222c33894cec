/** Delays of a bounded back-off: each try waits longer, the last delay repeats. */
export class Backoff {
  readonly #delaysMs: readonly number[];
  #tries = 0;
  #notBeforeMs = 0;

  constructor(delaysMs: readonly number[]) {
    this.#delaysMs = delaysMs;
  }

  get tries(): number {
    return this.#tries;
  }

  ready(nowMs: number): boolean {
    return nowMs >= this.#notBeforeMs;
  }

  /** @param atLeastMs What the other side asked for (Retry-After), if it did. */
  failed(nowMs: number, atLeastMs = 0): number {
    const delayMs = this.#delaysMs[Math.min(this.#tries, this.#delaysMs.length - 1)] as number;
    this.#tries++;
    this.#notBeforeMs = nowMs + Math.max(delayMs, atLeastMs);
    return this.#notBeforeMs - nowMs;
  }

  reset(): void {
    this.#tries = 0;
    this.#notBeforeMs = 0;
  }
}
