/** An action at a simulated time. */
type Task = (atMs: number) => void;

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly run: Task;
}

/**
 * Simulated time: tasks run in order of time, and in order of insertion for equal times. The length of each advance
 * does not change the order, so history at full speed and live operation produce the same run.
 */
export class Schedule {
  readonly #heap: Entry[] = [];
  #order = 0;
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get waiting(): number {
    return this.#heap.length;
  }

  /** Schedules a task; a time in the past runs at the next advance. */
  at(atMs: number, run: Task): void {
    this.#push({ atMs: Math.max(atMs, this.#nowMs), order: this.#order++, run });
  }

  /** Runs every task due up to and including `toMs`. */
  advance(toMs: number): void {
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.atMs > toMs) break;
      this.#pop();
      this.#nowMs = first.atMs;
      first.run(first.atMs);
    }
    this.#nowMs = Math.max(this.#nowMs, toMs);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      const below = heap[child] as Entry;
      if (!isBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
