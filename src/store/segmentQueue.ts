/** Closed segments on their way into the engine, oldest first. */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { StoreRefusedError } from '../errors.ts';
import type { Logger } from '../ops/log.ts';
import type { Inserter } from './inserter.ts';
import { type Segment, TARGETS } from './segment.ts';

/** Closed segments beyond this many bytes live on disk alone until their turn: an engine that is away costs no more memory. */
export const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

interface Entry {
  readonly segment: Segment;
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export class SegmentQueue {
  readonly #inserter: Inserter;
  readonly #options: {
    runId: string;
    rejectedDir: string;
    clock: Clock;
    log: Logger;
    onRejected(rows: number): void;
  };
  readonly #entries: Entry[] = [];
  readonly #stop = new AbortController();
  #working: Promise<void> | null = null;

  constructor(
    inserter: Inserter,
    options: {
      runId: string;
      rejectedDir: string;
      clock: Clock;
      log: Logger;
      onRejected(rows: number): void;
    },
  ) {
    this.#inserter = inserter;
    this.#options = options;
  }

  get segments(): readonly Segment[] {
    return this.#entries.map((entry) => entry.segment);
  }

  /** Takes a closed segment; the promise is kept when its rows are in the engine. */
  push(segment: Segment): void {
    let resolve = () => {};
    let reject: (error: unknown) => void = () => {};
    const done = new Promise<void>((onDone, onFailed) => {
      resolve = onDone;
      reject = onFailed;
    });
    done.catch(() => undefined);
    this.#entries.push({ segment, done, resolve, reject });
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  /** Everything pushed so far is in the engine. @throws {StoreRefusedError} When rows had to be set aside. */
  async settled(): Promise<void> {
    await Promise.all(this.#entries.map((entry) => entry.done));
  }

  /** Stops after what is in work; what is left stays in its files. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  /** Lets go of memory beyond the bound, newest first: the oldest are about to be inserted. */
  relieve(): void {
    let bytes = this.#entries.reduce((sum, entry) => sum + entry.segment.memoryBytes, 0);
    for (let i = this.#entries.length - 1; i > 0 && bytes > MEMORY_BYTES_MAX; i--) {
      const { segment } = this.#entries[i] as Entry;
      if (!segment.isJournalled) continue;
      bytes -= segment.memoryBytes;
      segment.drop();
    }
  }

  async #work(): Promise<void> {
    for (;;) {
      const entry = this.#entries[0];
      if (!entry || this.#stop.signal.aborted) return;
      try {
        await this.#insert(entry.segment);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#entries.shift();
        await this.#setAside(entry, error);
        continue;
      }
      this.#entries.shift();
      try {
        await entry.segment.remove();
      } catch (error) {
        // Harmless: the next start finds its rows in the engine and skips them.
        this.#options.log.warn({ err: error, path: entry.segment.file.path }, 'store.segment.not_removed');
      }
      entry.resolve();
    }
  }

  async #insert(segment: Segment): Promise<void> {
    for (const [table, rows] of await segment.load()) {
      const target = TARGETS[table] as string;
      const token = `${this.#options.runId}/${segment.number}/${table}`;
      await this.#inserter.insert({ table, target, rows, token, uncertain: false }, this.#stop.signal);
    }
  }

  /** The engine will not have these rows: they must not block the others, and must not vanish. */
  async #setAside(entry: Entry, error: unknown): Promise<void> {
    const { segment } = entry;
    const { rejectedDir, runId, clock, log, onRejected } = this.#options;
    const path = join(rejectedDir, `${runId}-${segment.number}.seg`);
    const rows = segment.rows;
    log.error({ err: error, rows, path }, 'store.segment.set_aside');
    onRejected(rows);
    try {
      await segment.journal(clock.now());
      await segment.file.moveTo(path);
    } catch (failure) {
      log.error({ err: failure, rows }, 'store.segment.lost');
    }
    entry.reject(
      error instanceof StoreRefusedError
        ? error
        : new StoreRefusedError('rows set aside', { storeCode: null, cause: error }),
    );
  }
}
