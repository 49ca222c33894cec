import type { Counter } from 'prom-client';
import { every, sleep, type Timer } from '../../runtime/clock.ts';
import { syncDirectory, syncFile } from '../../runtime/durableFile.ts';
import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordKind,
  RecordSink,
  Records,
  TradeRecord,
  UnderlyingRecord,
} from '../../schema/records.ts';
import { appendRecord, ENCODERS } from '../tables/encoders.ts';
import type { PreviousRun } from './journalScan.ts';
import type { RecoveryReport } from './recovery.ts';
import { disown, forgetDeadRuns, segmentPath } from './runDirectory.ts';
import { BufferPool, Segment } from './segment.ts';
import type { WaitingRowIndex } from './waitingRowIndex.ts';
import type { WriterOptions } from './writerOptions.ts';
import { openParts, type WriterParts } from './writerParts.ts';

/** Half of the 100 ms that a kill may lose, so that even a late timer keeps that limit. */
const JOURNAL_PERIOD_MS = 50;
/** A segment is closed and inserted after this long, or at these sizes. */
const SEGMENT_AGE_MS = 1_000;
const SEGMENT_TABLE_ROWS_MAX = 20_000;
const SEGMENT_TABLE_BYTES_MAX = 16 * 1024 * 1024;
/** Rows stored in neither journal nor engine may use this much memory; further ones are dropped and counted. */
const UNSAVED_BYTES_MAX = 256 * 1024 * 1024;
/** How long `close` waits for the engine; the remaining rows stay in the journal for the next start. */
const CLOSE_LIMIT_MS = 15_000;
/** A larger storage lag makes the service not ready, because readers would take old data for current. */
const LAG_LIMIT_MS = 10_000;

/** Why a service whose writer is in this state is not ready; empty if the writer is no reason. */
export function notReadyReasons({
  journalWorks,
  lagMs,
}: {
  readonly journalWorks: boolean;
  readonly lagMs: number;
}): string[] {
  const reasons = [];
  if (!journalWorks) reasons.push('the journal cannot be written: a crash now would lose what is received');
  if (lagMs > LAG_LIMIT_MS)
    reasons.push(`stored data is ${Math.floor(lagMs / 1000)} s behind what was received`);
  return reasons;
}

/**
 * Writes records to a journal within 100 ms and to the engine within a second or two. Appends return at once and never
 * wait for either.
 */
export class StoreWriter implements RecordSink {
  /** Progress of the recovery of dead runs' journals; it grows until `recovered` resolves. */
  readonly recovery: RecoveryReport;
  /** Resolves once `startRecovery` has inserted the rows of dead runs, or has failed to. Never rejects. */
  readonly recovered: Promise<void>;
  /** How the previous run ended. */
  readonly previousRun: PreviousRun;
  /** Rows of dead runs that recording needs at its start; empty once `recovered` has resolved. */
  readonly waiting: WaitingRowIndex;
  readonly #options: WriterOptions;
  readonly #parts: WriterParts;
  readonly #pool = new BufferPool();
  readonly #droppedRows: Counter;
  readonly #journalFailures: readonly Counter[];
  readonly #timer: Timer;
  readonly #stop = new AbortController();
  #current: Segment;
  #lastNumber = 0;
  #full = false;
  #journalling: Promise<void> | null = null;
  #journalWorks = true;
  #onRecovered = () => {};
  #recovering: Promise<void> | null = null;

  private constructor(options: WriterOptions, parts: WriterParts) {
    const { metrics, clock } = options;
    this.#options = options;
    this.#parts = parts;
    this.recovery = parts.recovery.report;
    this.previousRun = parts.scan.previousRun;
    this.waiting = parts.scan.waiting;
    this.recovered = new Promise((resolve) => {
      this.#onRecovered = resolve;
    });
    this.#droppedRows = metrics.counter(
      'underround_store_dropped_rows_total',
      'Rows dropped because neither journal nor engine could take them',
    );
    this.#journalFailures = [
      'underround_journal_failures_total',
      'underround_store_journal_failures_total',
    ].map((name) => metrics.counter(name, 'Writes to the journal that failed and are tried again'));
    metrics.gauge(
      'underround_store_lag_seconds',
      'Age of the oldest row received that is not in the engine; 0 when all are',
      [],
      (gauge) => gauge.set(this.lagMs() / 1_000),
    );
    this.#current = this.#newSegment();
    this.#timer = every(clock, JOURNAL_PERIOD_MS, () => void this.#tick());
  }

  /**
   * Opens a new journal, before or after the rows of dead runs are in the engine.
   * @throws {ConfigError} When another process records into the directory: every change would be stored twice.
   */
  static async open(options: WriterOptions): Promise<StoreWriter> {
    const writer = new StoreWriter(options, await openParts(options));
    if (options.recovery !== 'background') {
      const recovered = writer.startRecovery();
      if (options.mayInsert?.() ?? true) await recovered;
    }
    return writer;
  }

  /** Inserts the rows of dead runs while recording continues; returns `recovered`. */
  startRecovery(): Promise<void> {
    this.#recovering ??= this.#recover().then(this.#onRecovered);
    return this.recovered;
  }

  book(record: BookRecord): void {
    this.#append('book', record);
  }

  quote(record: QuoteRecord): void {
    this.#append('quote', record);
  }

  trade(record: TradeRecord): void {
    this.#append('trade', record);
  }

  underlying(record: UnderlyingRecord): void {
    this.#append('underlying', record);
  }

  /** @throws {InvalidInputError} When a level is not a decimal number the store can hold. */
  perpDepth(record: PerpDepthRecord): void {
    this.#append('perpDepth', record);
  }

  market(record: MarketRecord): void {
    this.#append('market', record);
  }

  gap(record: GapRecord): void {
    this.#append('gap', record);
  }

  /**
   * Resolves when all rows appended so far and all rows of dead runs are in the engine; waits while the engine is away.
   * @throws {StoreRefusedError} When the engine refused rows; they are set aside.
   */
  async flush(): Promise<void> {
    this.#rotate();
    await Promise.all([this.#parts.queue.settled(), this.recovered]);
  }

  /**
   * Resolves once no crash of process or machine loses the rows appended so far: they are in the journal, synced to the
   * disk, or, while that cannot be written, in the engine.
   * @throws {StoreRefusedError} When the engine refused rows that the journal does not have.
   */
  async keep(): Promise<void> {
    const { queue, run } = this.#parts;
    const segments = [...queue.segments, this.#current];
    // A write that is under way may have missed the newest rows.
    await this.#journalling;
    await this.#journalNew();
    if (!this.#journalWorks) return await this.flush();
    // The file of a segment that is in the engine by now is gone.
    for (const { file } of segments) await syncFile(file.path);
    await syncDirectory(run.path);
  }

  /**
   * Reinserts rows that the engine lost of the segments kept until they were read back.
   * @returns How many rows were missing since the last call, including those found at a start.
   * @throws {StoreUnavailableError} When the writer was closed before it was done.
   */
  async reinsertKept(): Promise<number> {
    const { kept, inserter } = this.#parts;
    await this.recovered;
    await kept.reinsert(inserter, this.#stop.signal);
    return kept.claimReinserted();
  }

  /** Rows, bytes and segments that are not in the engine yet, and whether the journal can be written. */
  pending(): { rows: number; memoryBytes: number; segments: number; journalWorks: boolean } {
    const segments = [...this.#parts.queue.segments, this.#current];
    return {
      rows: segments.reduce((sum, segment) => sum + segment.rows, 0),
      memoryBytes: segments.reduce((sum, segment) => sum + segment.memoryBytes, 0),
      segments: segments.length,
      journalWorks: this.#journalWorks,
    };
  }

  /** Age of the oldest received row that is not in the engine, including rows of dead runs; 0 when all are. */
  lagMs(): number {
    const { clock } = this.#options;
    const oldest = [...this.#parts.queue.segments, this.#current].find(
      (segment) => segment.firstRowAtMs !== null,
    );
    const ownMs = oldest?.firstRowAtMs == null ? 0 : clock.monotonic() - oldest.firstRowAtMs;
    const { oldestTimeMs } = this.#parts.recovery;
    return Math.max(ownMs, oldestTimeMs === null ? 0 : clock.now() - oldestTimeMs);
  }

  /** Why the service is not ready; empty if the writer is no reason. Read from memory. */
  reasons(): string[] {
    return notReadyReasons({ journalWorks: this.#journalWorks, lagMs: this.lagMs() });
  }

  /**
   * Whether neither journal nor engine accepts rows: new rows exist only in memory, or are dropped when that is full.
   */
  get isDropping(): boolean {
    return this.#full || (!this.#journalWorks && !this.mayInsert);
  }

  /** Whether the engine may get rows: it may not on a full disk. */
  get mayInsert(): boolean {
    return this.#options.mayInsert?.() ?? true;
  }

  /** Inserts everything into the engine, or leaves it in the journal when the engine is away. */
  async close(): Promise<void> {
    const { clock, log } = this.#options;
    const { queue, recovery, alive, run } = this.#parts;
    this.#timer.cancel();
    this.#rotate();
    this.#stop.abort();
    const recoveryStopped = recovery.stop();
    const limit = new AbortController();
    const settled = queue.settled().catch(() => undefined);
    if (this.mayInsert) await Promise.race([settled, sleep(clock, CLOSE_LIMIT_MS, limit.signal)]);
    limit.abort();
    await queue.stop();
    await recoveryStopped;
    await this.#journalling;
    const left = queue.segments.length;
    if (left > 0) log.warn({ segments: left }, 'store.writer.closed_with_journal');
    // Without the final beat, the next start opens a gap from the previous one.
    if (await this.#keepSegments()) await alive.beat(clock.now(), true);
    await alive.close();
    await disown(run);
  }

  /** Journals the rows that are not in the engine; false where the disk had no room for all of them. */
  async #keepSegments(): Promise<boolean> {
    const { clock, log } = this.#options;
    let whole = true;
    for (const segment of this.#parts.queue.segments) {
      try {
        await segment.journal(clock.now());
      } catch (error) {
        whole = false;
        log.error({ err: error, rows: segment.rows }, 'store.segment.lost');
      }
      await segment.file.keep();
    }
    return whole;
  }

  async #recover(): Promise<void> {
    const { recovery, scan } = this.#parts;
    const { log, writerName = 'main' } = this.#options;
    try {
      await recovery.run();
      await forgetDeadRuns(scan.journalDir, writerName);
    } catch (error) {
      // The remaining rows stay in their files, and the lag includes them.
      if (!this.#stop.signal.aborted) log.error({ err: error }, 'store.recovery.failed');
    }
  }

  #append<K extends RecordKind>(kind: K, record: Records[K]): void {
    // Gap and market rows are few and always accepted: they record the losses and their markets.
    if (this.#full && kind !== 'gap' && kind !== 'market') {
      this.#droppedRows.inc();
      return;
    }
    const buffer = this.#current.buffer(ENCODERS[kind].table);
    // One process records in the order in which it publishes.
    appendRecord(buffer, kind, record, false);
    this.#current.firstRowAtMs ??= this.#options.clock.monotonic();
    if (buffer.rows >= SEGMENT_TABLE_ROWS_MAX || buffer.length >= SEGMENT_TABLE_BYTES_MAX) this.#rotate();
  }

  #newSegment(): Segment {
    const number = ++this.#lastNumber;
    const path = segmentPath(this.#parts.run, number);
    const { clock, makeRoom } = this.#options;
    return new Segment({ number, path, openedAtMs: clock.monotonic(), pool: this.#pool, makeRoom });
  }

  #rotate(): void {
    if (this.#current.rows === 0) return;
    const closed = this.#current;
    this.#current = this.#newSegment();
    this.#parts.queue.push(closed);
  }

  async #tick(): Promise<void> {
    const age = this.#options.clock.monotonic() - this.#current.openedAtMs;
    if (age >= SEGMENT_AGE_MS) this.#rotate();
    await this.#journalNew();
    await this.#parts.kept.sweep();
  }

  #journalNew(): Promise<void> {
    this.#journalling ??= this.#journal().finally(() => {
      this.#journalling = null;
    });
    return this.#journalling;
  }

  /**
   * Writes new rows to the journal, then records that the process is alive; frees memory of rows that the journal now
   * has.
   */
  async #journal(): Promise<void> {
    const { clock, log } = this.#options;
    const segments = [...this.#parts.queue.segments, this.#current];
    try {
      for (const segment of segments) {
        await segment.journal(clock.now());
        // A backlog of minutes has hundreds of segments, more files than a process may open.
        if (segment !== this.#current) await segment.file.keep();
      }
      await this.#parts.alive.beat(clock.now());
      if (!this.#journalWorks) log.info({}, 'store.journal.works_again');
      this.#journalWorks = true;
    } catch (error) {
      for (const counter of this.#journalFailures) counter.inc();
      if (this.#journalWorks) log.error({ err: error }, 'store.journal.failed');
      this.#journalWorks = false;
    }
    this.#parts.queue.relieve();
    const full = this.pending().memoryBytes > UNSAVED_BYTES_MAX;
    if (full && !this.#full) log.error({ limitBytes: UNSAVED_BYTES_MAX }, 'store.writer.full');
    this.#full = full;
  }
}
