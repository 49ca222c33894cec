import type { Clock } from '../runtime/clock.ts';

/** Most frames waiting on one connection; further ones are lost, as in a full send buffer. */
const WAITING_MAX = 100_000;

interface WaitingFrame {
  readonly dueAt: number;
  readonly send: () => void;
}

/** Delays the frames of a late connection in order. When the delay ends, all waiting frames are sent at once. */
export class DelayedFrameQueue {
  readonly #clock: Clock;
  #waiting: WaitingFrame[] = [];
  #isArmed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param delayMs 0: no delay. */
  send(delayMs: number, send: () => void): void {
    if (delayMs === 0) {
      this.#release(Number.POSITIVE_INFINITY);
      send();
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) return;
    const dueAt = Math.max(this.#clock.monotonic() + delayMs, this.#waiting.at(-1)?.dueAt ?? 0);
    this.#waiting.push({ dueAt, send });
    this.#arm();
  }

  #release(nowAt: number): void {
    const due = this.#waiting.findIndex(({ dueAt }) => dueAt > nowAt);
    const released = this.#waiting.splice(0, due < 0 ? this.#waiting.length : due);
    for (const { send } of released) send();
  }

  #arm(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#isArmed) return;
    this.#isArmed = true;
    this.#clock.after(Math.max(0, first.dueAt - this.#clock.monotonic()), () => {
      this.#isArmed = false;
      this.#release(this.#clock.monotonic());
      this.#arm();
    });
  }
}
