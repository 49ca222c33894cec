/** Limits the memory of worker threads. Node's own limit of a thread counts only the JavaScript heap. */
import { MIB } from '../runtime/byteUnits.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { BacktestFailedError } from '../runtime/errors.ts';

/** A thread can allocate about 100 MB within this time, because it has to write each page. */
const POLL_MS = 50;

/** The part of a worker thread that the guard uses. Node's `Worker` has it since 22.16. */
interface MeasuredThread {
  getHeapStatistics(): Promise<{ readonly used_heap_size: number; readonly external_memory: number }>;
}

export interface ThreadMemory {
  /** Null where Node itself ended the thread at its heap limit. */
  readonly usedBytes: number | null;
  readonly limitBytes: number;
}

interface ThreadMemoryGuardOptions<T> {
  readonly threads: () => readonly T[];
  readonly limitMb: number;
  readonly clock: Clock;
  readonly onExceeded: (thread: T, memory: ThreadMemory) => void;
}

/** @param limitMb The exceeded limit, in MiB. */
export function memoryExceeded(limitMb: number, cause?: unknown): BacktestFailedError {
  return new BacktestFailedError(
    `the job needs more than the ${limitMb} MiB of memory of a worker thread; submit a smaller request: fewer cells or markets, or a smaller size_usd`,
    { cause },
  );
}

/**
 * Measures threads while tasks run and reports each thread that exceeds the limit. It counts the heap and typed arrays
 * (`external_memory`). It does not count shared memory, which holds the tapes: `loadTape` limits those.
 */
export class ThreadMemoryGuard<T extends MeasuredThread> {
  readonly #options: ThreadMemoryGuardOptions<T>;
  /** Threads with an open measurement: a busy thread answers late and is not measured again meanwhile. */
  readonly #asked = new WeakSet<T>();
  #tasks = 0;
  #timer: Timer | null = null;

  constructor(options: ThreadMemoryGuardOptions<T>) {
    this.#options = options;
  }

  /** Runs a task under measurement. */
  async during<R>(task: () => Promise<R>): Promise<R> {
    this.#tasks++;
    this.#timer ??= every(this.#options.clock, POLL_MS, () => this.#measureAll());
    try {
      return await task();
    } finally {
      if (--this.#tasks === 0) {
        this.#timer.cancel();
        this.#timer = null;
      }
    }
  }

  #measureAll(): void {
    for (const thread of this.#options.threads()) {
      if (this.#asked.has(thread)) continue;
      this.#asked.add(thread);
      // A thread that is starting or has ended rejects. The next poll measures a starting thread again.
      this.#measure(thread).catch(() => this.#asked.delete(thread));
    }
  }

  async #measure(thread: T): Promise<void> {
    const { used_heap_size, external_memory } = await thread.getHeapStatistics();
    const usedBytes = used_heap_size + external_memory;
    const limitBytes = this.#options.limitMb * MIB;
    // Stays in the set, so that a thread is reported once.
    if (usedBytes > limitBytes) this.#options.onExceeded(thread, { usedBytes, limitBytes });
    else this.#asked.delete(thread);
  }
}
