/** Bounds what worker threads hold outside the JavaScript heap, which Node's own limit of a thread does not count. */
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { BacktestFailedError } from '../runtime/errors.ts';

/** Memory grows by at most some 100 MB within this time: each page of it has to be written. */
const POLL_MS = 50;
export const MIB = 1024 * 1024;

/** What is asked of a thread; a `Worker` of Node 22.16 or later has it. */
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

/** @param limitMb What was exceeded, MiB. */
export function memoryExceeded(limitMb: number, cause?: unknown): BacktestFailedError {
  return new BacktestFailedError(
    `the job needs more than the ${limitMb} MiB of memory of a worker thread; submit a smaller request: fewer cells or markets, or a smaller size_usd`,
    { cause },
  );
}

/**
 * Measures threads while there is work for them, and reports each one that exceeds the limit. Counted are the heap and
 * typed arrays (`external_memory`). Memory that threads share is not: it holds tapes, which `loadTape` bounds.
 */
export class ThreadMemoryGuard<T extends MeasuredThread> {
  readonly #options: ThreadMemoryGuardOptions<T>;
  /** A thread answers when it next can: it is not asked again before. */
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
      // A thread that starts or has ended refuses; one that starts is asked again.
      this.#measure(thread).catch(() => this.#asked.delete(thread));
    }
  }

  async #measure(thread: T): Promise<void> {
    const { used_heap_size, external_memory } = await thread.getHeapStatistics();
    const usedBytes = used_heap_size + external_memory;
    const limitBytes = this.#options.limitMb * MIB;
    // One that exceeds the limit is reported once.
    if (usedBytes > limitBytes) this.#options.onExceeded(thread, { usedBytes, limitBytes });
    else this.#asked.delete(thread);
  }
}
