import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Counter } from 'prom-client';
import { type Clock, every, sleep, type Timer } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordSink,
  TradeRecord,
  UnderlyingRecord,
} from '../schema/records.ts';
import { encodeBook } from './encodeBook.ts';
import {
  encodeGap,
  encodeMarket,
  encodePerpDepth,
  encodeQuote,
  encodeTrade,
  encodeUnderlying,
} from './encodeRecords.ts';
import { type InsertClient, Inserter } from './inserter.ts';
import { forgetDeadRuns, type PreviousRun, type RecoveryReport, recover } from './recovery.ts';
import type { RowBuffer } from './rowBuffer.ts';
import {
  AliveFile,
  createRun,
  disown,
  type RunDirectory,
  segmentPath,
  waitToBeAlone,
} from './runDirectory.ts';
import type { TableName } from './schema.ts';
import { BufferPool, Segment } from './segment.ts';
import { SegmentQueue } from './segmentQueue.ts';

/** Half of the 100 ms a kill may cost, so that a late timer still keeps the promise. */
const JOURNAL_PERIOD_MS = 50;
/** A segment is closed and inserted after this long, or at these sizes. */
const SEGMENT_AGE_MS = 1_000;
const SEGMENT_TABLE_ROWS_MAX = 20_000;
const SEGMENT_TABLE_BYTES_MAX = 16 * 1024 * 1024;
/** Rows that neither journal nor engine took may fill this much memory before further ones are dropped and counted. */
const UNSAVED_BYTES_MAX = 256 * 1024 * 1024;
/** How long `close` waits for the engine; what is not in by then stays in the journal for the next start. */
const CLOSE_LIMIT_MS = 15_000;

export interface WriterOptions {
  dataDir: string;
  client: InsertClient;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  writerName?: string;
}

interface WriterParts {
  run: RunDirectory;
  alive: AliveFile;
  queue: SegmentQueue;
  recovery: RecoveryReport;
  previousRun: PreviousRun;
}

/**
 * Takes records, keeps them in a journal within 100 ms and in the engine within a second or two. Appends return
 * at once and never wait for either.
 */
export class StoreWriter implements RecordSink {
  /** What the journals of dead runs held when this writer was opened. */
  readonly recovery: RecoveryReport;
  /** How the run before this one ended. */
  readonly previousRun: PreviousRun;
  readonly #options: WriterOptions;
  readonly #run: RunDirectory;
  readonly #alive: AliveFile;
  readonly #queue: SegmentQueue;
  readonly #pool = new BufferPool();
  readonly #droppedRows: Counter;
  readonly #journalFailures: Counter;
  readonly #timer: Timer;
  #current: Segment;
  #lastNumber = 0;
  #full = false;
  #journalling: Promise<void> | null = null;
  #journalWorks = true;

  private constructor(options: WriterOptions, parts: WriterParts) {
    const { metrics, clock } = options;
    this.#options = options;
    this.#run = parts.run;
    this.#alive = parts.alive;
    this.#queue = parts.queue;
    this.recovery = parts.recovery;
    this.previousRun = parts.previousRun;
    this.#droppedRows = metrics.counter(
      'underround_store_dropped_rows_total',
      'Rows dropped because neither journal nor engine could take them',
    );
    this.#journalFailures = metrics.counter(
      'underround_store_journal_failures_total',
      'Writes to the journal that failed and are tried again',
    );
    this.#current = this.#newSegment();
    this.#timer = every(clock, JOURNAL_PERIOD_MS, () => void this.#tick());
  }

  /**
   * Recovers what dead runs left, then opens a journal of its own.
   * @throws {ConfigError} When another process records into the directory: every change would be stored twice.
   */
  static async open(options: WriterOptions): Promise<StoreWriter> {
    const { dataDir, clock, log, metrics, writerName = 'main' } = options;
    const journalDir = join(dataDir, 'journal');
    const rejectedDir = join(journalDir, 'rejected');
    await mkdir(rejectedDir, { recursive: true, mode: 0o700 });
    if (writerName === 'main') await waitToBeAlone(journalDir, writerName, options);
    const inserter = new Inserter(options);
    const { report, previousRun } = await recover({ journalDir, rejectedDir, writerName, inserter, log });
    const runId = `${clock.now().toString(36)}-${process.pid}`;
    const run = await createRun(journalDir, writerName, runId);
    const alive = await AliveFile.create(run);
    await alive.beat(clock.now());
    await forgetDeadRuns(journalDir, writerName);
    const rejected = metrics.counter(
      'underround_store_rejected_rows_total',
      'Rows the engine refused; they lie in journal/rejected',
    );
    const onRejected = (rows: number) => rejected.inc(rows);
    const queue = new SegmentQueue(inserter, { runId, rejectedDir, clock, log, onRejected });
    return new StoreWriter(options, { run, alive, queue, recovery: report, previousRun });
  }

  book(record: BookRecord): void {
    this.#append('books', record, encodeBook);
  }

  quote(record: QuoteRecord): void {
    this.#append('quotes', record, encodeQuote);
  }

  trade(record: TradeRecord): void {
    this.#append('trades', record, encodeTrade);
  }

  underlying(record: UnderlyingRecord): void {
    this.#append('underlying', record, encodeUnderlying);
  }

  /** @throws {InvalidInputError} When a level is no decimal number the store can hold. */
  perpDepth(record: PerpDepthRecord): void {
    this.#append('perp_depth', record, encodePerpDepth);
  }

  market(record: MarketRecord): void {
    this.#append('markets', record, encodeMarket);
  }

  gap(record: GapRecord): void {
    this.#append('gaps', record, encodeGap);
  }

  /**
   * Everything appended so far is in the engine when it resolves; waits as long as the engine is away.
   * @throws {StoreRefusedError} When the engine refused rows; they are set aside.
   */
  async flush(): Promise<void> {
    this.#rotate();
    await this.#queue.settled();
  }

  /** Rows, bytes and segments that are not in the engine yet, and whether the journal can be written. */
  pending(): { rows: number; memoryBytes: number; segments: number; journalWorks: boolean } {
    const segments = [...this.#queue.segments, this.#current];
    return {
      rows: segments.reduce((sum, segment) => sum + segment.rows, 0),
      memoryBytes: segments.reduce((sum, segment) => sum + segment.memoryBytes, 0),
      segments: segments.length,
      journalWorks: this.#journalWorks,
    };
  }

  /** Rows are being dropped: neither journal nor engine takes what comes. */
  get isDropping(): boolean {
    return this.#full;
  }

  /** Brings everything into the engine, or leaves it in the journal when the engine is away. */
  async close(): Promise<void> {
    const { clock, log } = this.#options;
    this.#timer.cancel();
    this.#rotate();
    const limit = new AbortController();
    const settled = this.#queue.settled().catch(() => undefined);
    await Promise.race([settled, sleep(clock, CLOSE_LIMIT_MS, limit.signal)]);
    limit.abort();
    await this.#queue.stop();
    await this.#journalling;
    for (const segment of this.#queue.segments) {
      await segment.journal(clock.now());
      await segment.file.keep();
    }
    const left = this.#queue.segments.length;
    if (left > 0) log.warn({ segments: left }, 'store.writer.closed_with_journal');
    await this.#alive.beat(clock.now(), true);
    await this.#alive.close();
    await disown(this.#run);
  }

  #append<T>(table: TableName, record: T, encode: (out: RowBuffer, record: T) => void): void {
    // The few rows that say what was lost, and of which markets, always find room.
    if (this.#full && table !== 'gaps' && table !== 'markets') {
      this.#droppedRows.inc();
      return;
    }
    const buffer = this.#current.buffer(table);
    const start = buffer.length;
    try {
      encode(buffer, record);
    } catch (error) {
      // Half a row would make the whole segment unreadable.
      buffer.length = start;
      throw error;
    }
    if (buffer.rows >= SEGMENT_TABLE_ROWS_MAX || buffer.length >= SEGMENT_TABLE_BYTES_MAX) this.#rotate();
  }

  #newSegment(): Segment {
    const number = ++this.#lastNumber;
    const path = segmentPath(this.#run, number);
    return new Segment({ number, path, openedAtMs: this.#options.clock.monotonic(), pool: this.#pool });
  }

  #rotate(): void {
    if (this.#current.rows === 0) return;
    const closed = this.#current;
    this.#current = this.#newSegment();
    this.#queue.push(closed);
  }

  async #tick(): Promise<void> {
    const age = this.#options.clock.monotonic() - this.#current.openedAtMs;
    if (age >= SEGMENT_AGE_MS) this.#rotate();
    this.#journalling ??= this.#journal().finally(() => {
      this.#journalling = null;
    });
    await this.#journalling;
  }

  /** Writes what is new to the journal, then says that we are alive; frees memory that the journal now holds. */
  async #journal(): Promise<void> {
    const { clock, log } = this.#options;
    const segments = [...this.#queue.segments, this.#current];
    try {
      for (const segment of segments) await segment.journal(clock.now());
      await this.#alive.beat(clock.now());
      if (!this.#journalWorks) log.info({}, 'store.journal.works_again');
      this.#journalWorks = true;
    } catch (error) {
      this.#journalFailures.inc();
      if (this.#journalWorks) log.error({ err: error }, 'store.journal.failed');
      this.#journalWorks = false;
    }
    this.#queue.relieve();
    const full = this.pending().memoryBytes > UNSAVED_BYTES_MAX;
    if (full && !this.#full) log.error({ limitBytes: UNSAVED_BYTES_MAX }, 'store.writer.full');
    this.#full = full;
  }
}
