import type { Clock, Timer } from '../../src/runtime/clock.ts';

interface Pending {
  at: number;
  order: number;
  run: () => void;
}

/** A clock that only a test advances. Wall and monotonic time advance together unless `stepWall` is called. */
export class FakeClock implements Clock {
  #mono = 0;
  #wall: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 10, 20, 12)) {
    this.#wall = startMs;
  }

  now(): number {
    return Math.floor(this.#wall);
  }

  monotonic(): number {
    return this.#mono;
  }

  after(delayMs: number, run: () => void): Timer {
    const entry: Pending = { at: this.#mono + Math.max(0, delayMs), order: this.#order++, run };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  /** Number of waiting timers. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Advances time, firing due timers in order; lets promises settle between them. */
  async advance(byMs: number): Promise<void> {
    const end = this.#mono + byMs;
    await settle();
    for (;;) {
      const next = this.#nextDue(end);
      if (!next) break;
      this.#moveTo(next.at);
      this.#pending.delete(next);
      next.run();
      await settle();
    }
    this.#moveTo(end);
  }

  /**
   * Advances until `work` settles, each time to the next timer or by `stepMs`, whichever is sooner. While nothing waits
   * for a timer no time passes: work on disks, sockets and threads takes longer on a busy machine, and must not meet
   * other limits there. Throws the error of `work`: a test that expects another outcome fails at once.
   */
  async advanceUntil<T>(work: Promise<T>, stepMs: number): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    void work.then(over, over);
    while (!isOver) {
      const nextAt = Math.min(...[...this.#pending].map(({ at }) => at));
      await this.advance(this.waiting === 0 ? 0 : Math.min(stepMs, nextAt - this.#mono));
    }
    return await work;
  }

  /** Changes only the wall clock, as an operator or a time daemon would. */
  stepWall(byMs: number): void {
    this.#wall += byMs;
  }

  #nextDue(end: number): Pending | null {
    let best: Pending | null = null;
    for (const entry of this.#pending) {
      if (entry.at > end) continue;
      if (!best || entry.at < best.at || (entry.at === best.at && entry.order < best.order)) best = entry;
    }
    return best;
  }

  #moveTo(mono: number): void {
    this.#wall += mono - this.#mono;
    this.#mono = mono;
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
}
