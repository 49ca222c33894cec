import { Worker } from 'node:worker_threads';
import type { HistoryProgress } from '../ops/historyProgress.ts';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { HistoryThreadReport, HistoryThreadSettings } from './demoHistoryThread.ts';
import { Progress, printBelowBar } from './progress.ts';

const HOUR_MS = 3_600_000;

/** Records the older part of the demo's history in a thread while the service runs, and reports its progress. */
export class HistoryFill {
  readonly #settings: HistoryThreadSettings;
  readonly #bar = new Progress('recording simulated history');
  #worker: Worker | null = null;
  #state: HistoryProgress | null;
  #isOver = false;

  constructor(settings: HistoryThreadSettings) {
    this.#settings = settings;
    const lengthMs = settings.span.newestFromMs - settings.span.startTimeMs;
    const hours = Math.round((lengthMs / HOUR_MS) * 100) / 100;
    this.#state = lengthMs > 0 ? { share: 0, hours, failure: null } : null;
  }

  /** Null once all of the history can be read. */
  readonly state = (): HistoryProgress | null => this.#state;

  start(): void {
    if (this.#state === null) return;
    this.#worker = new Worker(builtEntry('cli/demoHistoryThread'), {
      ...{ workerData: this.#settings, name: 'history' },
    });
    this.#worker.on('message', (report: HistoryThreadReport) => this.#report(report));
    this.#worker.once('error', (error) => this.#failed(error.message));
    this.#worker.once('exit', (code) => this.#failed(`its thread ended with status ${code}`));
  }

  /** Stops the thread at once. Partial data is harmless, because the next demo starts with an empty directory. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#worker?.terminate();
  }

  #report({ share, frames, stored }: HistoryThreadReport): void {
    if (this.#state === null || this.#isOver) return;
    this.#bar.update(stored ? 1 : Math.min(share, 0.99), `${frames.toLocaleString('en')} frames`);
    this.#state = stored ? null : { ...this.#state, share };
    if (stored) this.#bar.done();
  }

  #failed(failure: string): void {
    if (this.#state === null || this.#isOver || this.#state.failure !== null) return;
    this.#state = { ...this.#state, failure };
    printBelowBar(`underround: the simulated history is incomplete: ${failure}`);
  }
}
