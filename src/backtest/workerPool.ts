import { Piscina } from 'piscina';
import { builtEntry } from '../runtime/builtEntry.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { Task, TaskResults, WorkerSettings } from './task.ts';

/** Limit of a thread's JavaScript heap in MB; tapes are outside the heap and have their own limit. */
const HEAP_MB_MAX = 512;
/** An idle thread ends after this long. */
const IDLE_MS = 30_000;
/** Niceness: backtests must not starve the recorder. */
const NICE = 5;
/** A task whose thread ended is tried once more on a new thread, because another job may have ended it. */
const TRIES = 2;

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
    /** Called for every thread that ended on its own. */
    onCrash?: (error: Error) => void;
  }) {
    this.threads = threads;
    this.#pool = new Piscina({
      filename: entry,
      ...{ minThreads: 0, maxThreads: threads, idleTimeout: IDLE_MS },
      ...{ workerData: settings, resourceLimits: { maxOldGenerationSizeMb: heapMbMax } },
      // An empty environment, because threads must not see the service's secrets.
      ...{ niceIncrement: NICE, env: { TZ: 'UTC' } },
    });
    // Also emitted when a task rejects; without a listener it would end the process.
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

/** The error text for a thread that ended on its own; null if the task failed and the thread is alive. */
function endOfThread(error: unknown): string | null {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'the job needs more memory than one may take';
  return /worker (?:thread )?(?:exited|ended|terminated)|unexpected exit|exit code/i.test(String(message))
    ? 'the worker that ran the job ended, twice'
    : null;
}
