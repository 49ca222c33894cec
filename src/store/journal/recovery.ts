/** Inserts the journals of dead runs into the engine while recording continues. */
import { rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { whenBelowLimit } from '../../runtime/atLimit.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { StoreRefusedError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { namesIn } from '../../runtime/namesIn.ts';
import type { TableName } from '../tables/schema.ts';
import { BatchFile, type SegmentRange } from './batchFile.ts';
import { atOnce, batchLength, batchToken, INSERTS_AT_ONCE, joinTables } from './joinedBatch.ts';
import type { ParsedSegment } from './journalFormat.ts';
import {
  type JournalScan,
  rejectedPath,
  type ScannedRun,
  scanJournals,
  type WaitingSegment,
} from './journalScan.ts';
import { KeptSegmentRegistry } from './keptSegmentRegistry.ts';
import { RowInserter } from './rowInserter.ts';
import { RunClaim } from './runClaim.ts';
import type { DeadRun } from './runDirectory.ts';
import { SegmentFile } from './segmentFile.ts';
import type { WriterOptions } from './writerOptions.ts';

/** How often to poll a run that another process recovers. */
const OTHERS_POLL_MS = 250;

export interface RecoveryReport {
  /** Rows of the journal that were missing in the engine. */
  recoveredRows: number;
  /** Rows of the journal that were already in the engine, or that a newer row replaces. */
  skippedRows: number;
  /** Bytes at the ends of segments that were cut off during a write. */
  tornBytes: number;
  /** When the newest complete write of the journal was made; null without one. */
  lastJournalTimeMs: number | null;
}

interface JournalRecoveryOptions {
  readonly scan: JournalScan;
  readonly inserter: RowInserter;
  readonly kept: KeptSegmentRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onProgress?: ((progress: { segments: number; done: number }) => void) | undefined;
}

interface RecoveryBatch {
  /** The token is derived from it. */
  readonly range: SegmentRange;
  readonly segments: readonly WaitingSegment[];
}

export class JournalRecovery {
  readonly report: RecoveryReport;
  readonly #parts: JournalRecoveryOptions;
  /** Segments whose rows may not be in the engine, by path. */
  readonly #waiting = new Map<string, WaitingSegment>();
  readonly #claims: RunClaim[] = [];
  readonly #stop = new AbortController();
  readonly #segments: number;
  /** Tables whose newest rows are already inserted. */
  readonly #newestInserted = new Set<TableName>();
  #running: Promise<void> | null = null;

  constructor(parts: JournalRecoveryOptions) {
    const { tornBytes, lastJournalTimeMs, runs } = parts.scan;
    this.#parts = parts;
    this.report = { recoveredRows: 0, skippedRows: 0, tornBytes, lastJournalTimeMs };
    for (const { segments, claim } of runs) {
      for (const segment of segments) this.#waiting.set(segment.path, segment);
      if (claim !== null) this.#claims.push(claim);
    }
    this.#segments = this.#waiting.size;
  }

  /** Receive time (wall clock) of the oldest row that may not be in the engine; null once all are. */
  get oldestTimeMs(): number | null {
    let oldest: number | null = null;
    for (const { firstTimeMs } of this.#waiting.values()) {
      if (firstTimeMs !== null && (oldest === null || firstTimeMs < oldest)) oldest = firstTimeMs;
    }
    return oldest;
  }

  /** Inserts everything. Rejects when `stop` was called first; the remaining rows stay in their files. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Stops after the current batch; the remaining rows stay in their files for the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => undefined);
    for (const claim of this.#claims) await claim.release();
  }

  async #run(): Promise<void> {
    const { scan, inserter, kept } = this.#parts;
    await this.#insertNewest();
    for (const scanned of scan.runs) {
      if (await this.#isOurs(scanned)) await this.#recoverRun(scanned);
    }
    this.report.recoveredRows += await kept.reinsert(inserter, this.#stop.signal);
    scan.waiting.clear();
  }

  /** A limit of descriptors or memory says nothing about a file, so none is set aside or passed over because of it. */
  #whenPossible<T>(work: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#parts;
    return whenBelowLimit(work, { clock, log, signal: this.#stop.signal });
  }

  #finished(path: string): void {
    if (!this.#waiting.delete(path)) return;
    this.#parts.onProgress?.({ segments: this.#segments, done: this.#segments - this.#waiting.size });
  }

  /** Inserts the newest markets and gaps first, each once: all other reads depend on them. */
  async #insertNewest(): Promise<void> {
    const { scan, inserter, clock, log } = this.#parts;
    for (const { table, target, rows } of scan.waiting.newest()) {
      const batch = { table, target, rows, token: `newest/${clock.now().toString(36)}/${table}` };
      try {
        const inserted = await inserter.insertMissing(batch, this.#stop.signal);
        this.#newestInserted.add(table);
        // The rows are counted again with their segments, as skipped.
        this.report.recoveredRows += inserted;
        this.report.skippedRows -= inserted;
      } catch (error) {
        if (!(error instanceof StoreRefusedError)) throw error;
        // The segment with the bad row is found below.
        log.warn({ err: error, table }, 'store.recovery.newest_refused');
      }
    }
  }

  /** Waits while another process recovers the run; false once that process has finished. */
  async #isOurs({ run, claim, segments }: ScannedRun): Promise<boolean> {
    if (claim !== null) return true;
    const { clock } = this.#parts;
    for (;;) {
      this.#stop.signal.throwIfAborted();
      const left = new Set(await this.#whenPossible(() => namesIn(run.path)));
      for (const { path } of segments) if (!left.has(basename(path))) this.#finished(path);
      if (segments.every(({ path }) => !this.#waiting.has(path))) return false;
      const taken = await this.#whenPossible(() => RunClaim.of(run.path));
      if (taken !== null) {
        this.#claims.push(taken);
        return true;
      }
      await sleep(clock, OTHERS_POLL_MS, this.#stop.signal);
    }
  }

  async #recoverRun({ run, segments }: ScannedRun): Promise<void> {
    const noted = await this.#whenPossible(() => BatchFile.read(run.path));
    const batchFile = new BatchFile(run.path);
    const left = segments.filter(({ path }) => this.#waiting.has(path));
    const { report } = this;
    // The dead run inserted the first rows that are missing, if any: segments before them are complete in the engine.
    let mayBeInserting = true;
    try {
      while (left.length > 0) {
        const batch = await this.#nextBatch(left, { noted, batchFile, isAlone: mayBeInserting });
        left.splice(0, batch.segments.length);
        const before = report.recoveredRows;
        await this.#recoverBatch(run, batch, batchFile);
        if (report.recoveredRows > before) mayBeInserting = false;
      }
    } finally {
      await batchFile.close();
    }
    await this.#whenPossible(() => this.#parts.kept.adopt(run));
  }

  /**
   * The batch that the dead run was inserting comes first and unchanged: the noted one, or one segment, which a run
   * inserts without a note. Later batches are as large as allowed.
   * @param options.isAlone The dead run may still be inserting the oldest segment, alone and under its own token.
   */
  async #nextBatch(
    left: readonly WaitingSegment[],
    options: { noted: SegmentRange | null; batchFile: BatchFile; isAlone: boolean },
  ): Promise<RecoveryBatch> {
    const { noted, batchFile, isAlone } = options;
    const [oldest] = left as [WaitingSegment];
    if (noted !== null && noted.first <= oldest.number && oldest.number <= noted.last)
      return { range: noted, segments: left.filter(({ number }) => number <= noted.last) };
    const segments = left.slice(0, isAlone ? 1 : batchLength(left));
    const range = { first: oldest.number, last: (segments.at(-1) ?? oldest).number };
    try {
      if (segments.length > 1) await batchFile.note(range);
      return { range, segments };
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'store.batch.not_noted');
      return { range: { first: oldest.number, last: oldest.number }, segments: [oldest] };
    }
  }

  async #recoverBatch(run: DeadRun, batch: RecoveryBatch, batchFile: BatchFile): Promise<void> {
    const { kept, log } = this.#parts;
    const before = { ...this.report };
    try {
      await this.#insertBatch(run, batch);
    } catch (error) {
      if (this.#stop.signal.aborted) throw error;
      const [only, ...others] = batch.segments as [WaitingSegment];
      if (others.length === 0) return await this.#setAside(run, only, error);
      log.warn({ err: error, ...batch.range }, 'store.batch.refused');
      await this.#clearNote(batchFile);
      for (const segment of batch.segments) {
        const range = { first: segment.number, last: segment.number };
        await this.#recoverBatch(run, { range, segments: [segment] }, batchFile);
      }
      return;
    }
    for (const segment of batch.segments) {
      await kept.add({ ...segment, runId: run.runId });
      this.#finished(segment.path);
    }
    const recoveredRows = this.report.recoveredRows - before.recoveredRows;
    const skippedRows = this.report.skippedRows - before.skippedRows;
    const { path } = run;
    log.info({ path, ...batch.range, recoveredRows, skippedRows }, 'store.segment.recovered');
  }

  /** A process that continues after a kill must send each segment alone too. */
  async #clearNote(batchFile: BatchFile): Promise<void> {
    try {
      await batchFile.clear();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'store.batch.not_noted');
    }
  }

  async #insertBatch(run: DeadRun, { range, segments }: RecoveryBatch): Promise<void> {
    const parsed: ParsedSegment[] = [];
    for (const { path } of segments)
      parsed.push(await this.#whenPossible(() => new SegmentFile(path).load()));
    const tables = joinTables(parsed.map((segment) => segment.tables));
    const counts = { recoveredRows: 0, skippedRows: 0 };
    await atOnce(INSERTS_AT_ONCE, [...tables], async ([table, rows]) => {
      const target = parsed.find(({ targets }) => targets[table] !== undefined)?.targets[table] as string;
      const batch = { table, target, rows, token: `${batchToken(run.runId, range)}/${table}` };
      const inserted = this.#newestInserted.has(table)
        ? 0
        : await this.#parts.inserter.insertMissing(batch, this.#stop.signal);
      counts.recoveredRows += inserted;
      counts.skippedRows += rows.rows - inserted;
    });
    this.report.recoveredRows += counts.recoveredRows;
    this.report.skippedRows += counts.skippedRows;
  }

  /** Sets rows aside that the engine refuses: they must not block the others, and must not be lost. */
  async #setAside(run: DeadRun, { path }: WaitingSegment, error: unknown): Promise<void> {
    const { scan, log } = this.#parts;
    const rejected = rejectedPath(scan.rejectedDir, run.runId, path);
    log.error({ err: error, path: rejected }, 'store.segment.set_aside');
    await rename(path, rejected);
    this.#finished(path);
  }
}

/**
 * Inserts the journals of dead runs, for commands that only read a store. Waits while another process does it.
 * @throws {StoreRefusedError} When the store answers but refuses the query.
 */
export async function finishRecovery(
  options: Pick<WriterOptions, 'dataDir' | 'client' | 'clock' | 'log' | 'metrics' | 'onRecovery'>,
): Promise<void> {
  const { clock, log, onRecovery } = options;
  const scan = await scanJournals({ ...options, writerName: 'reader' });
  const kept = new KeptSegmentRegistry({ readableUpTo: () => Number.NEGATIVE_INFINITY, clock, log });
  const inserter = new RowInserter(options);
  const recovery = new JournalRecovery({ scan, inserter, kept, clock, log, onProgress: onRecovery });
  try {
    await recovery.run();
  } finally {
    await recovery.stop();
  }
}
