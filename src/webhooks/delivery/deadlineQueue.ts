import type { Clock, Timer } from '../../runtime/clock.ts';

/**
 * Ends tasks that take longer than one time limit shared by all. They are due in the order they began, so one timer
 * serves any number of them.
 */
export class DeadlineQueue<T> {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #ms: number;
  readonly #late: (what: T) => void;
  readonly #dueAt = new Map<T, number>();
  #timer: Timer | null = null;

  /** @param late Called with a task that was not removed within `ms`. */
  constructor(parts: { clock: Pick<Clock, 'monotonic' | 'after'>; ms: number; late: (what: T) => void }) {
    this.#clock = parts.clock;
    this.#ms = parts.ms;
    this.#late = parts.late;
  }

  add(what: T): void {
    this.#dueAt.set(what, this.#clock.monotonic() + this.#ms);
    if (this.#timer === null) this.#arm(this.#ms);
  }

  remove(what: T): void {
    this.#dueAt.delete(what);
    if (this.#dueAt.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.after(delayMs, () => this.#check());
  }

  #check(): void {
    this.#timer = null;
    const now = this.#clock.monotonic();
    for (const [what, dueAt] of this.#dueAt) {
      if (dueAt > now) {
        this.#arm(dueAt - now);
        return;
      }
      this.#dueAt.delete(what);
      this.#late(what);
    }
  }
}
