/** The threads of a command that run user code: each has some of the runs, and all receive the same recording. */
import { Worker } from 'node:worker_threads';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { Clock } from '../runtime/clock.ts';
import { HangWatchdog, Heartbeat } from './heartbeat.ts';
import type { PaperLine } from './paperLines.ts';
import type {
  FinishedRun,
  RunSeries,
  RunSetting,
  StrategyFacts,
  ThreadReply,
  ThreadRequest,
  ThreadSettings,
} from './protocol.ts';
import type { RunSegment } from './runTape.ts';
import type { ForeignUse } from './usageLog.ts';
import { StrategyFailedError } from './userError.ts';

/** Limit of a thread's JavaScript heap in MB; recordings are outside it. */
const HEAP_MB_MAX = 2_048;

interface StrategyThreadsOptions {
  /** Path of the strategy file. */
  readonly entry: string;
  readonly threads: number;
  readonly clock: Clock;
  /** How long the user's code may take for one event, or to load. */
  readonly eventLimitMs: number;
  /** Receives what the user's code prints. */
  readonly output?: NodeJS.WritableStream;
  /** Path of the compiled module of a thread. */
  readonly module?: string;
}

export interface FinishedRuns {
  /** In the order of the settings. */
  readonly results: readonly FinishedRun[];
  readonly codeHash: string;
  readonly uses: readonly ForeignUse[];
}

export class StrategyThreads {
  readonly #threads: readonly StrategyThread[];
  readonly #watchdog: HangWatchdog;

  constructor({ entry, threads, clock, eventLimitMs, output, module }: StrategyThreadsOptions) {
    this.#threads = Array.from({ length: threads }, () => {
      return new StrategyThread({ entry, module: module ?? builtEntry('strategy/worker'), output });
    });
    this.#watchdog = new HangWatchdog(
      this.#threads.map(({ heartbeat }) => heartbeat),
      {
        ...{ clock, limitMs: eventLimitMs },
        onHang: (message) => this.#fail(new StrategyFailedError({ message, file: entry, line: null })),
      },
    );
  }

  /** What the file declares. @throws {StrategyFailedError} If it cannot be loaded. */
  async describe(): Promise<{ facts: StrategyFacts; codeHash: string }> {
    return await (this.#threads[0] as StrategyThread).ask('described', { kind: 'describe' });
  }

  /**
   * Loads the file once for each run.
   * @param series In place of those of the strategy's inputs; null: those.
   * @throws {StrategyFailedError}
   */
  async begin(settings: readonly RunSetting[], series: RunSeries | null = null): Promise<void> {
    const numbered = settings.map((setting, at) => ({ ...setting, run: at + 1 }));
    await this.#all((_, thread) => {
      const runs = numbered.filter(({ run }) => run % this.#threads.length === thread);
      return { kind: 'begin', runs, series };
    }, 'begun');
  }

  /** Begins a run whose recording arrives in stretches; `series` as in `begin`. @throws {StrategyFailedError} */
  async beginLive(run: RunSetting, fromMs: number, series: RunSeries | null = null): Promise<void> {
    await this.#all(() => ({ kind: 'live', run, fromMs, series }), 'begun');
  }

  /**
   * Passes a part of the recording to every run.
   * @returns How many items each run received, and what a live run did.
   * @throws {StrategyFailedError} If the user's code throws or does not return.
   */
  async process(segment: RunSegment): Promise<{ items: number; lines: readonly PaperLine[] }> {
    const [reply] = await this.#all(() => ({ kind: 'segment', segment }), 'processed');
    return { items: reply?.items ?? 0, lines: reply?.lines ?? [] };
  }

  async finish(): Promise<FinishedRuns> {
    const replies = await this.#all(() => ({ kind: 'finish' }), 'finished');
    const uses = new Map<string, number>();
    for (const use of replies.flatMap((reply) => reply.uses)) {
      uses.set(use.name, (uses.get(use.name) ?? 0) + use.count);
    }
    return {
      results: inOrder(replies.flatMap(({ results }) => results)),
      codeHash: replies[0]?.codeHash ?? '',
      uses: [...uses].map(([name, count]) => ({ name, count })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  async close(): Promise<void> {
    this.#watchdog.stop();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #all<K extends ThreadReply['kind']>(
    request: (thread: StrategyThread, at: number) => ThreadRequest,
    kind: K,
  ): Promise<Extract<ThreadReply, { kind: K }>[]> {
    return await Promise.all(this.#threads.map((thread, at) => thread.ask(kind, request(thread, at))));
  }

  #fail(error: Error): void {
    for (const thread of this.#threads) thread.fail(error);
  }
}

function inOrder(results: readonly FinishedRun[]): FinishedRun[] {
  return [...results].sort((one, other) => one.run - other.run);
}

/** One thread; it answers one request at a time. */
class StrategyThread {
  readonly heartbeat = Heartbeat.memory();
  readonly #worker: Worker;
  readonly #entry: string;
  #waiting: { resolve: (reply: ThreadReply) => void; reject: (error: Error) => void } | null = null;
  #failure: Error | null = null;

  constructor({
    entry,
    module,
    output,
  }: { entry: string; module: string; output: NodeJS.WritableStream | undefined }) {
    this.#entry = entry;
    const settings: ThreadSettings = { entry, heartbeat: this.heartbeat };
    this.#worker = new Worker(module, {
      workerData: settings,
      // User code must not see the secrets of the environment, and its results must not depend on it.
      env: { TZ: 'UTC' },
      ...{
        stdout: true,
        stderr: true,
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
      },
    });
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) {
      if (output === undefined) stream.resume();
      else stream.pipe(output, { end: false });
    }
    this.#worker.on('message', (reply: ThreadReply) => {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.resolve(reply);
    });
    this.#worker.on('error', (error) => this.fail(this.#failed(endOf(error as Error))));
    this.#worker.on('exit', () => this.fail(this.#failed('the strategy ended its thread')));
  }

  async ask<K extends ThreadReply['kind']>(
    kind: K,
    request: ThreadRequest,
  ): Promise<Extract<ThreadReply, { kind: K }>> {
    const reply = await new Promise<ThreadReply>((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(request);
    });
    if (reply.kind === 'failed') throw new StrategyFailedError(reply.fault);
    if (reply.kind !== kind) throw new TypeError(`a thread answered ${reply.kind} instead of ${kind}`);
    return reply as Extract<ThreadReply, { kind: K }>;
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = null;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #failed(message: string): StrategyFailedError {
    return new StrategyFailedError({ message, file: this.#entry, line: null });
  }
}

function endOf(error: Error & { code?: string }): string {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return `the strategy used more than ${HEAP_MB_MAX} MB of memory`;
  return `the strategy ended its thread: ${error.message.split('\n')[0]}`;
}
