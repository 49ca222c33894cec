/** Closed segments that wait for insertion, oldest first; waiting segments are joined into large inserts. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { StoreRefusedError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { BatchFile } from './batchFile.ts';
import { atOnce, batchLength, batchToken, INSERTS_AT_ONCE, joinTables } from './joinedBatch.ts';
import type { KeptSegmentRegistry } from './keptSegmentRegistry.ts';
import type { RowInserter } from './rowInserter.ts';
import type { RunDirectory } from './runDirectory.ts';
import { type Segment, TARGETS } from './segment.ts';

/** Closed segments beyond this size stay only on disk until their turn: an absent engine then costs no more memory. */
export const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

/** The pause after a failure of the disk. */
const MACHINE_RETRY_MS = 5_000;

interface Entry {
  readonly segment: Segment;
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

interface SegmentQueueOptions {
  readonly inserter: RowInserter;
  readonly run: RunDirectory;
  /** Receives the file of a segment that is in the engine. */
  readonly kept: KeptSegmentRegistry;
  readonly rejectedDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  onRejected(rows: number): void;
}

export class SegmentQueue {
  readonly #options: SegmentQueueOptions;
  readonly #entries: Entry[] = [];
  readonly #batchFile: BatchFile;
  readonly #stop = new AbortController();
  #working: Promise<void> | null = null;
  /** Number of entries at the front whose rows are being inserted. */
  #inWork = 0;
  /** The entry whose rows are in the engine and whose file is being kept or deleted. */
  #retiring: Entry | null = null;
  /**
   * Segments up to this number were refused together: each is inserted alone, so that only the bad one is set aside.
   */
  #aloneUntil = 0;

  constructor(options: SegmentQueueOptions) {
    this.#options = options;
    this.#batchFile = new BatchFile(options.run.path);
  }

  get segments(): readonly Segment[] {
    return this.#entries.map((entry) => entry.segment);
  }

  /** Adds a closed segment; its `done` resolves when its rows are in the engine. */
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

  /**
   * Resolves when all segments pushed so far are in the engine and their files are kept or deleted.
   * @throws {StoreRefusedError} When rows had to be set aside.
   */
  async settled(): Promise<void> {
    const waiting = this.#retiring === null ? this.#entries : [this.#retiring, ...this.#entries];
    // Waits for all of them first: rows after the refused ones must be inserted too.
    const ended = await Promise.allSettled(waiting.map((entry) => entry.done));
    for (const result of ended) if (result.status === 'rejected') throw result.reason;
  }

  /** Stops after the current batch; remaining segments stay in their files. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
    await this.#batchFile.close();
  }

  /** Frees memory beyond the limit, newest first: the oldest are about to be inserted. */
  relieve(): void {
    let bytes = this.#entries.reduce((sum, entry) => sum + entry.segment.memoryBytes, 0);
    const first = Math.max(1, this.#inWork);
    for (let i = this.#entries.length - 1; i >= first && bytes > MEMORY_BYTES_MAX; i--) {
      const { segment } = this.#entries[i] as Entry;
      if (!segment.isJournalled) continue;
      bytes -= segment.memoryBytes;
      segment.drop();
    }
  }

  async #work(): Promise<void> {
    while (this.#entries.length > 0 && !this.#stop.signal.aborted) {
      const batch = await this.#nextBatch();
      this.#inWork = batch.length;
      try {
        await this.#insert(batch);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        await this.#failed(batch, error);
        continue;
      } finally {
        this.#inWork = 0;
      }
      for (const entry of batch) await this.#done(entry);
    }
  }

  /** The entries to insert together. A single waiting segment is inserted unchanged. */
  async #nextBatch(): Promise<readonly Entry[]> {
    const [oldest] = this.#entries as [Entry];
    if (oldest.segment.number <= this.#aloneUntil) return [oldest];
    const batch = this.#entries.slice(0, batchLength(this.segments));
    if (batch.length === 1) return batch;
    try {
      await this.#batchFile.note(rangeOf(batch));
      return batch;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'store.batch.not_noted');
      return [oldest];
    }
  }

  async #insert(batch: readonly Entry[]): Promise<void> {
    const { inserter, run } = this.#options;
    await this.#journal(batch);
    const range = rangeOf(batch);
    const loaded = [];
    for (const { segment } of batch) loaded.push(await segment.load());
    const prefix = batchToken(run.runId, range);
    const limit = batch.length === 1 ? 1 : INSERTS_AT_ONCE;
    await atOnce(limit, [...joinTables(loaded)], async ([table, rows]) => {
      const common = { table, target: TARGETS[table] as string, rows, token: `${prefix}/${table}` };
      // Some tables of a refused batch may already be in the engine.
      if (range.last <= this.#aloneUntil) await inserter.insertMissing(common, this.#stop.signal);
      else await inserter.insert({ ...common, uncertain: false }, this.#stop.signal);
    });
  }

  /**
   * Runs before the engine gets any row of the batch: a kill between the inserts of two tables would otherwise leave
   * the newest books and lose the trades before them, which no gap would cover.
   */
  async #journal(batch: readonly Entry[]): Promise<void> {
    try {
      for (const { segment } of batch) await segment.journal(this.#options.clock.now());
    } catch {
      // The writer's own rounds log and count the failure; the engine may still accept rows that the journal cannot.
    }
  }

  async #done(entry: Entry): Promise<void> {
    const { kept, run, clock, log } = this.#options;
    const { segment } = entry;
    const { rows, bytes } = segment;
    const { path } = segment.file;
    this.#entries.shift();
    this.#retiring = entry;
    try {
      // For the case that there was no space for it before the insert.
      if (!kept.isConfirmedAtOnce) await segment.journal(clock.now());
      if (await segment.retire()) await kept.add({ runId: run.runId, path, rows, bytes });
    } catch (error) {
      // Harmless: the next start finds these rows in the engine and skips them.
      log.warn({ err: error, path }, 'store.segment.not_removed');
    }
    this.#retiring = null;
    entry.resolve();
  }

  async #failed(batch: readonly Entry[], error: unknown): Promise<void> {
    const [oldest] = batch as [Entry];
    // Reading waiting rows back failed because of the machine, not of the rows.
    if (isSystemError(error)) return await this.#pause(error);
    if (batch.length === 1) return await this.#setAside(oldest, error);
    const { first, last } = rangeOf(batch);
    this.#options.log.warn({ err: error, first, last }, 'store.batch.refused');
    this.#aloneUntil = last;
    try {
      await this.#batchFile.clear();
    } catch (failure) {
      this.#options.log.warn({ err: failure }, 'store.batch.not_noted');
    }
  }

  /** The same rows are tried again afterwards. */
  async #pause(error: unknown): Promise<void> {
    const { clock, log } = this.#options;
    log.error({ err: error, retryMs: MACHINE_RETRY_MS }, 'store.segment.retried');
    await sleep(clock, MACHINE_RETRY_MS, this.#stop.signal);
  }

  /**
   * Sets rows aside that the engine refuses: they must not block the others, and must not be lost. Where they cannot be
   * set aside, they stay the next to be sent.
   */
  async #setAside(entry: Entry, error: unknown): Promise<void> {
    const { segment } = entry;
    const { rejectedDir, run, clock, log, onRejected } = this.#options;
    const path = join(rejectedDir, `${run.runId}-${segment.number}.seg`);
    const rows = segment.rows;
    try {
      await mkdir(rejectedDir, { recursive: true, mode: 0o700 });
      await segment.journal(clock.now());
      await segment.file.moveTo(path);
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') return await this.#pause(failure);
      // Somebody removed the file.
      log.error({ err: failure, rows }, 'store.segment.lost');
    }
    this.#entries.shift();
    log.error({ err: error, rows, path }, 'store.segment.set_aside');
    onRejected(rows);
    entry.reject(
      error instanceof StoreRefusedError
        ? error
        : new StoreRefusedError('rows set aside', { storeCode: null, cause: error }),
    );
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && (error as NodeJS.ErrnoException).code !== 'ENOENT';
}

function rangeOf(batch: readonly Entry[]): { first: number; last: number } {
  const number = (entry: Entry | undefined) => entry?.segment.number ?? 0;
  return { first: number(batch[0]), last: number(batch.at(-1)) };
}
