import { Piscina } from 'piscina';
import { builtEntry } from '../runtime/builtEntry.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { Task, TaskResults, WorkerSettings } from './task.ts';

/** JavaScript memory of a thread; tapes lie outside it and have their own bound. */
const HEAP_MB_MAX = 512;
/** A thread with nothing to do ends after this long. */
const IDLE_MS = 30_000;
/** Below the recorder, which must not wait for a backtest. */
const NICE = 5;
/** A thread that ended is replaced, and its task tried once more: the next job may be what ended it. */
const TRIES = 2;

/** Runs tasks elsewhere. */
export interface Workers {
  /** Tasks that can run at once. */
  readonly threads: number;
  /**
   * @throws {BacktestFailedError} When the thread ended, twice, or ran out of memory.
   * @throws The signal's reason when it aborts; the thread is then ended.
   */
  run<T extends Task>(task: T, signal: AbortSignal): Promise<TaskResults[T['kind']]>;
  close(): Promise<void>;
}

export class WorkerPool implements Workers {
  readonly threads: number;
  readonly #pool: Piscina;

  constructor({
    threads,
    settings,
    entry = builtEntry('backtest/worker'),
    heapMbMax = HEAP_MB_MAX,
    onCrash = () => undefined,
  }: {
    threads: number;
    settings: WorkerSettings;
    entry?: string;
    heapMbMax?: number;
    /** Told of every thread that ended by itself. */
    onCrash?: (error: Error) => void;
  }) {
    this.threads = threads;
    this.#pool = new Piscina({
      filename: entry,
      ...{ minThreads: 0, maxThreads: threads, idleTimeout: IDLE_MS },
      ...{ workerData: settings, resourceLimits: { maxOldGenerationSizeMb: heapMbMax } },
      // Nothing of our environment: the service's secrets stay in its own thread.
      ...{ niceIncrement: NICE, env: { TZ: 'UTC' } },
    });
    // Also raised for a task whose promise rejects; unheard it would end the process.
    this.#pool.on('error', onCrash);
  }

  async run<T extends Task>(task: T, signal: AbortSignal): Promise<TaskResults[T['kind']]> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return (await this.#pool.run(task, { signal })) as TaskResults[T['kind']];
      } catch (cause) {
        signal.throwIfAborted();
        const reason = endOfThread(cause);
        if (reason === null) throw cause;
        if (attempt === TRIES) throw new BacktestFailedError(reason, { cause });
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** What a user is told of a thread that ended by itself; null where the task failed and the thread lives. */
function endOfThread(error: unknown): string | null {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'the job needs more memory than one may take';
  return /worker (?:thread )?(?:exited|ended|terminated)|unexpected exit|exit code/i.test(String(message))
    ? 'the worker that ran the job ended, twice'
    : null;
}
