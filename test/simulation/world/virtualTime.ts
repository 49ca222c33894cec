import type { Clock, Timer } from '../../../src/runtime/clock.ts';

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | null;
}

/** Rounds of the event loop after each instant: modules pass work on by `setImmediate` at most this often in a row. */
const ROUNDS = 2;

/**
 * The time of a simulated world, in whole milliseconds since its start. Everything that happens is a timer in one heap,
 * ordered by time and then by its creation, so a run has one order of events.
 */
export class VirtualTime {
  #nowMs = 0;
  #order = 0;
  readonly #heap: Scheduled[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const atMs = this.#nowMs + Math.max(0, Math.ceil(delayMs));
    const scheduled: Scheduled = { atMs, order: this.#order++, run };
    this.#push(scheduled);
    return {
      cancel: () => {
        scheduled.run = null;
      },
    };
  }

  /** Advances to a time. Timers of one instant run together; promises and immediates settle between instants. */
  async runTo(endMs: number): Promise<void> {
    await settle();
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= endMs; next = this.#heap[0]) {
      this.#nowMs = next.atMs;
      let hasRun = false;
      while (this.#heap[0]?.atMs === this.#nowMs) {
        const { run } = this.#pop();
        if (run === null) continue;
        hasRun = true;
        run();
      }
      if (hasRun) await settle();
    }
    this.#nowMs = endMs;
  }

  #push(scheduled: Scheduled): void {
    const heap = this.#heap;
    let at = heap.push(scheduled) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(scheduled, heap[parent] as Scheduled)) break;
      heap[at] = heap[parent] as Scheduled;
      at = parent;
    }
    heap[at] = scheduled;
  }

  #pop(): Scheduled {
    const heap = this.#heap;
    const first = heap[0] as Scheduled;
    const last = heap.pop() as Scheduled;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Scheduled)) child++;
      if (!isBefore(heap[child] as Scheduled, last)) break;
      heap[at] = heap[child] as Scheduled;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

async function settle(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The wall clock of a machine: it may step and run too fast or too slow against the world's time. */
export class MachineWall {
  readonly #time: VirtualTime;
  readonly #startMs: number;
  #offsetMs = 0;
  #rate = 1;
  #rateSinceMs = 0;

  constructor(time: VirtualTime, startMs: number) {
    this.#time = time;
    this.#startMs = startMs;
  }

  now(): number {
    const sinceMs = this.#time.nowMs - this.#rateSinceMs;
    return Math.floor(this.#startMs + this.#rateSinceMs + this.#offsetMs + sinceMs * this.#rate);
  }

  /** Sets the clock so far before or behind the world's time. */
  stepTo(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#rateSinceMs = this.#time.nowMs;
  }

  /** @param rate Wall milliseconds in a millisecond of the world. */
  drift(rate: number): void {
    const sinceMs = this.#time.nowMs - this.#rateSinceMs;
    this.#offsetMs += sinceMs * (this.#rate - 1);
    this.#rateSinceMs = this.#time.nowMs;
    this.#rate = rate;
  }
}

/**
 * The clock of one process. After `die` no timer of it fires, and none can be set. While it is paused, what comes due
 * waits.
 */
export class ProcessClock implements Clock {
  readonly #time: VirtualTime;
  readonly #wall: MachineWall;
  #isDead = false;
  /** Calls that came due during the pause, in their order; null while the process runs. */
  #held: (() => void)[] | null = null;

  constructor(time: VirtualTime, wall: MachineWall) {
    this.#time = time;
    this.#wall = wall;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  now(): number {
    return this.#wall.now();
  }

  monotonic(): number {
    return this.#time.nowMs;
  }

  after(delayMs: number, run: () => void): Timer {
    if (this.#isDead) return { cancel: () => undefined };
    let isCancelled = false;
    const timer = this.#time.after(delayMs, () =>
      this.whenAwake(() => {
        if (!isCancelled) run();
      }),
    );
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  /** Runs something of the process: now, or when its pause ends; never after its death. */
  whenAwake(run: () => void): void {
    if (this.#isDead) return;
    if (this.#held === null) run();
    else this.#held.push(run);
  }

  pause(): void {
    this.#held ??= [];
  }

  /** Everything that waited runs, in the order in which it came due. */
  resume(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const run of held) this.whenAwake(run);
  }

  die(): void {
    this.#isDead = true;
  }
}
