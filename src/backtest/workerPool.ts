import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { builtEntry } from '../runtime/builtEntry.ts';
import { MIB } from '../runtime/byteUnits.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { Task, TaskResults, WorkerSettings } from './task.ts';
import { memoryExceeded, type ThreadMemory, ThreadMemoryGuard } from './threadMemory.ts';

/** Limit of a thread's JavaScript heap in MB; tapes are outside the heap and have their own limit. */
const HEAP_MB_MAX = 512;
/** Heap and typed arrays of a thread. The largest sweep's 20 million trades are 320 MB of arrays. */
const MEMORY_MB_MAX = 1024;
/** A thread with nothing to do ends after this long. */
const IDLE_MS = 30_000;
/** Niceness: backtests must not starve the recorder. */
const NICE = 5;
/** A task whose thread ended is tried once more on a new thread, because another job may have ended it. */
const TRIES = 2;
const ENDED_TWICE = 'the worker that ran the job ended, twice';

/** Runs tasks in other threads. */
export interface Workers {
  /** Number of tasks that can run at the same time. */
  readonly threads: number;
  /**
   * @throws {BacktestFailedError} If the thread ended twice, or ran out of memory.
   * @throws The signal's reason when it aborts; the thread is then ended.
   */
  run<T extends Task>(task: T, signal: AbortSignal): Promise<TaskResults[T['kind']]>;
  close(): Promise<void>;
}

export class WorkerPool implements Workers {
  readonly threads: number;
  readonly #pool: Piscina;
  readonly #memory: ThreadMemoryGuard<Worker>;
  readonly #heapMbMax: number;
  readonly #onMemoryExceeded: (memory: ThreadMemory) => void;

  constructor({
    threads,
    settings,
    entry = builtEntry('backtest/worker'),
    heapMbMax = HEAP_MB_MAX,
    memoryMbMax = MEMORY_MB_MAX,
    clock = systemClock,
    onCrash = () => undefined,
    onMemoryExceeded = () => undefined,
  }: {
    threads: number;
    settings: WorkerSettings;
    entry?: string;
    heapMbMax?: number;
    memoryMbMax?: number;
    clock?: Clock;
    /** Called for every thread that ended by itself. */
    onCrash?: (error: Error) => void;
    /** Called for every thread that ended because of its memory. */
    onMemoryExceeded?: (memory: ThreadMemory) => void;
  }) {
    this.threads = threads;
    this.#heapMbMax = heapMbMax;
    this.#onMemoryExceeded = onMemoryExceeded;
    this.#pool = new Piscina({
      filename: entry,
      ...{ minThreads: 0, maxThreads: threads, idleTimeout: IDLE_MS },
      ...{ workerData: settings, resourceLimits: { maxOldGenerationSizeMb: heapMbMax } },
      // An empty environment, because threads must not see the service's secrets.
      ...{ niceIncrement: NICE, env: { TZ: 'UTC' } },
    });
    // Also emitted when a task rejects; without a listener it would end the process.
    this.#pool.on('error', onCrash);
    this.#memory = new ThreadMemoryGuard({
      threads: () => this.#pool.threads,
      limitMb: memoryMbMax,
      clock,
      onExceeded: (thread, memory) => {
        onMemoryExceeded(memory);
        // As Node itself reports a thread at its heap limit: the pool ends it and fails its task alone, with this error.
        thread.emit('error', memoryExceeded(memoryMbMax));
      },
    });
  }

  async run<T extends Task>(task: T, signal: AbortSignal): Promise<TaskResults[T['kind']]> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return (await this.#memory.during(() => this.#pool.run(task, { signal }))) as TaskResults[T['kind']];
      } catch (cause) {
        signal.throwIfAborted();
        if (isHeapExceeded(cause)) {
          this.#onMemoryExceeded({ usedBytes: null, limitBytes: this.#heapMbMax * MIB });
          throw memoryExceeded(this.#heapMbMax, cause);
        }
        if (!isEndOfThread(cause)) throw cause;
        if (attempt === TRIES) throw new BacktestFailedError(ENDED_TWICE, { cause });
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function isHeapExceeded(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Whether the thread ended by itself; else the task failed and the thread lives. */
function isEndOfThread(error: unknown): boolean {
  const { message } = error as { message?: string };
  return /worker (?:thread )?(?:exited|ended|terminated)|unexpected exit|exit code/i.test(String(message));
}
