/** Segments whose rows are in the engine, kept on disk until the parts with those rows were read back. */
import { rename, rm, stat } from 'node:fs/promises';
import { orAtLimit, whenBelowLimit } from '../../runtime/atLimit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import { batchLength, batchToken, joinTables, type SegmentSize } from './joinedBatch.ts';
import type { RowInserter } from './rowInserter.ts';
import { type DeadRun, keptPath, segmentNumber } from './runDirectory.ts';
import { SegmentFile } from './segmentFile.ts';

/** Most files kept; beyond it the oldest is deleted, confirmed or not. */
const KEPT_SEGMENTS_MAX = 1_000;
const KEPT_BYTES_MAX = 256 * 1024 * 1024;

interface InsertedSegment extends SegmentSize {
  readonly runId: string;
  readonly path: string;
}

interface KeptSegment extends InsertedSegment {
  insertedAtMs: number;
}

interface KeptSegmentRegistryOptions {
  /** Monotonic time: rows inserted before it are in parts that were read back. */
  readonly readableUpTo: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

export class KeptSegmentRegistry {
  readonly #options: KeptSegmentRegistryOptions;
  readonly #kept: KeptSegment[] = [];
  #bytes = 0;
  #working: Promise<unknown> = Promise.resolve();
  #isSweeping = false;
  #reinserts = 0;
  #unclaimedRows = 0;

  constructor(options: KeptSegmentRegistryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** Whether rows inserted now are confirmed at once, so that nothing must be kept. */
  get isConfirmedAtOnce(): boolean {
    const nowMs = this.#options.clock.monotonic();
    return nowMs <= this.#options.readableUpTo();
  }

  /** Keeps the file of a segment whose rows were just inserted; deletes it where they are already confirmed. */
  async add(segment: InsertedSegment): Promise<void> {
    if (this.isConfirmedAtOnce) return await this.#remove(segment.path);
    const insertedAtMs = this.#options.clock.monotonic();
    let path = keptPath(segment.path);
    try {
      await rename(segment.path, path);
    } catch (error) {
      // With its old name the next start would query its rows, and find them.
      this.#options.log.warn({ err: error, path: segment.path }, 'store.segment.not_renamed');
      path = segment.path;
    }
    this.#push({ ...segment, path, insertedAtMs });
  }

  /** Adopts the files that a dead run kept. `reinsert` then checks whether the engine still has their rows. */
  async adopt(run: DeadRun): Promise<void> {
    const files = [];
    for (const path of run.kept) {
      const file = await stat(path).catch(orAtLimit(null));
      if (file !== null) files.push({ path, size: file.size });
    }
    for (const { path, size } of files) {
      // A segment has at most as many rows as bytes; batches of unknown row counts are bounded by bytes only.
      this.#push({
        runId: run.runId,
        path,
        rows: 0,
        bytes: size,
        insertedAtMs: Number.POSITIVE_INFINITY,
      });
    }
  }

  /** Deletes confirmed files and the oldest files beyond the limits. Never rejects. */
  async sweep(): Promise<void> {
    if (this.#isSweeping || this.#due().length === 0) return;
    this.#isSweeping = true;
    await this.#alone(async () => {
      for (const segment of this.#due()) {
        this.#kept.splice(this.#kept.indexOf(segment), 1);
        this.#bytes -= segment.bytes;
        await this.#remove(segment.path);
      }
    });
    this.#isSweeping = false;
  }

  /**
   * Inserts rows of kept segments that the engine lost, for example with a detached broken part.
   * @returns How many rows were missing.
   * @throws {StoreUnavailableError} When `signal` aborted before it was done.
   */
  reinsert(inserter: RowInserter, signal: AbortSignal): Promise<number> {
    return this.#alone(async () => {
      const rows = await this.#reinsert(inserter, signal);
      this.#unclaimedRows += rows;
      return rows;
    });
  }

  /** Number of rows reinserted since the last call, including those that the recovery of dead runs found missing. */
  claimReinserted(): number {
    const rows = this.#unclaimedRows;
    this.#unclaimedRows = 0;
    return rows;
  }

  async #reinsert(inserter: RowInserter, signal: AbortSignal): Promise<number> {
    let rows = 0;
    const waiting = [...this.#kept];
    const round = `again-${this.#options.clock.now().toString(36)}-${++this.#reinserts}`;
    while (waiting.length > 0) {
      const [oldest] = waiting as [KeptSegment];
      const ofOther = waiting.findIndex(({ runId }) => runId !== oldest.runId);
      const candidates = ofOther === -1 ? waiting : waiting.slice(0, ofOther);
      const batch = waiting.splice(0, batchLength(candidates));
      try {
        rows += await this.#reinsertBatch(batch, { inserter, signal, round });
      } catch (error) {
        if (signal.aborted) throw error;
        this.#options.log.error({ err: error, path: oldest.path }, 'store.segment.not_reinserted');
      }
      // Its rows may be in new parts now; a segment that could not be checked is not retried forever.
      for (const segment of batch) segment.insertedAtMs = this.#options.clock.monotonic();
    }
    return rows;
  }

  async #reinsertBatch(
    batch: readonly KeptSegment[],
    { inserter, signal, round }: { inserter: RowInserter; signal: AbortSignal; round: string },
  ): Promise<number> {
    const parsed = [];
    const patience = { ...this.#options, signal };
    for (const { path } of batch)
      parsed.push(await whenBelowLimit(() => new SegmentFile(path).load(), patience));
    const [oldest] = batch as [KeptSegment];
    const range = { first: segmentNumber(oldest.path), last: segmentNumber((batch.at(-1) ?? oldest).path) };
    const prefix = `${batchToken(oldest.runId, range)}/${round}`;
    let inserted = 0;
    for (const [table, rows] of joinTables(parsed.map(({ tables }) => tables))) {
      const target = parsed.find(({ targets }) => targets[table] !== undefined)?.targets[table] as string;
      const token = `${prefix}/${table}`;
      inserted += await inserter.insertMissing({ table, target, rows, token }, signal);
    }
    return inserted;
  }

  #due(): readonly KeptSegment[] {
    const readableUpToMs = this.#options.readableUpTo();
    let [count, bytes] = [this.#kept.length, this.#bytes];
    return this.#kept.filter((segment) => {
      const isOver = count > KEPT_SEGMENTS_MAX || bytes > KEPT_BYTES_MAX;
      if (!isOver && segment.insertedAtMs > readableUpToMs) return false;
      count--;
      bytes -= segment.bytes;
      return true;
    });
  }

  #push(segment: KeptSegment): void {
    this.#kept.push(segment);
    this.#bytes += segment.bytes;
  }

  async #remove(path: string): Promise<void> {
    try {
      await rm(path, { force: true });
    } catch (error) {
      // Harmless: the next start finds these rows in the engine and skips them.
      this.#options.log.warn({ err: error, path }, 'store.segment.not_removed');
    }
  }

  /** Runs one task at a time: a file must not be deleted while it is read. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work, work);
    this.#working = done.catch(() => undefined);
    return done;
  }
}
