import type { Clock, Timer } from '../../src/runtime/clock.ts';

/** A clock that runs its timers synchronously when advanced, without letting promises settle: for long simulations. */
export class SteppedClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Due timers run at `toMs`, wherever in between they were due. */
  stepTo(toMs: number): void {
    this.#nowMs = toMs;
    for (const timer of [...this.#timers]) {
      if (timer.dueMs > toMs || !this.#timers.delete(timer)) continue;
      timer.run();
    }
  }
}
