/**
 * Inserts one partition of a merged stream without a journal of its own: the stream keeps every message until its rows
 * are stored. A batch is inserted completely, or its error makes the stream give its messages again.
 */
import type { Counter } from 'prom-client';
import type { Clock, Timer } from '../runtime/clock.ts';
import { StoreRefusedError, StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { KindedRecord } from '../schema/records.ts';
import { atOnce, INSERTS_AT_ONCE } from './journal/joinedBatch.ts';
import { RejectedRowFiles } from './journal/rejectedRows.ts';
import { RowBuffer } from './journal/rowBuffer.ts';
import { type InsertClient, RowInserter } from './journal/rowInserter.ts';
import { TARGETS } from './journal/segment.ts';
import { appendRecord, ENCODERS } from './tables/encoders.ts';
import { TABLES, type TableName } from './tables/schema.ts';

/** A batch that makes no progress for this long is given up; the stream gives its messages again. */
const PROGRESS_LIMIT_MS = 30_000;
/**
 * Engine codes about a table or an access, not about rows: unknown column, not implemented, unknown table, syntax,
 * unknown database, unknown setting, read-only, unknown user or password (192-194, 516), access denied.
 */
const NOT_ABOUT_ROWS: ReadonlySet<string> = new Set([
  ...['16', '48', '60', '62', '81', '115', '164', '192', '193', '194', '291', '497', '516'],
]);

interface PartitionWriterOptions {
  readonly client: InsertClient;
  readonly partition: number;
  /** Rows that the engine refuses are set aside in its `journal/rejected`. */
  readonly dataDir: string;
  /** While it returns false, nothing is sent to the engine. */
  readonly mayInsert?: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Tables = ReadonlyMap<TableName, RowBuffer>;

interface EncodedBatch {
  readonly tables: Tables;
  readonly token: string;
  /** The engine may have some of its rows. */
  readonly isUncertain: boolean;
}

export class PartitionWriter {
  readonly #options: PartitionWriterOptions;
  readonly #inserter: RowInserter;
  readonly #rejected: RejectedRowFiles;
  readonly #failures: Counter;
  #progress: ProgressLimit | null = null;
  #isClosed = false;
  #uncertainUpTo = Number.NEGATIVE_INFINITY;
  /** A batch whose insert failed: it is finished under its own token before any other one. */
  #unfinished: EncodedBatch | null = null;
  /** The rows of a batch that failed and was finished later: the stream gives them again. */
  #finished: Tables = new Map();

  private constructor(options: PartitionWriterOptions, rejected: RejectedRowFiles) {
    this.#options = options;
    this.#inserter = new RowInserter(options);
    this.#rejected = rejected;
    this.#failures = options.metrics.counter(
      'underround_partition_batches_failed_total',
      'Batches of the merged stream that could not be stored; the stream gives them again',
    );
  }

  static async open(options: PartitionWriterOptions): Promise<PartitionWriter> {
    return new PartitionWriter(options, await RejectedRowFiles.open(options.dataDir, options));
  }

  /**
   * Call it when taking the partition over from another process or run: that one may have stored records up to this
   * `seq` without a checkpoint. Of batches that begin below it, the engine is asked which rows it has.
   */
  mayBeStoredUpTo(seq: number): void {
    this.#uncertainUpTo = seq;
  }

  /**
   * Stores records exactly once. Call it again only after the call before has ended.
   * @param records In the order of the stream; the call keeps none of them.
   * @param token Unique to stream, partition, and numbers of the first and last message: the engine ignores a second
   * insert with the same token.
   * @throws {StoreUnavailableError} When the engine did not accept them in time: give the same records again.
   * @throws {StoreRefusedError} When the engine refuses a table, not rows: likewise.
   */
  async insert(records: readonly KindedRecord[], token: string): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailableError('the writer of this partition is closed');
    const progress = new ProgressLimit(this.#options.clock);
    this.#progress = progress;
    try {
      if (this.#unfinished !== null) await this.#finish(this.#unfinished, progress);
      const batch = await this.#encode(records, token);
      this.#unfinished = batch;
      await this.#insertTables(batch, progress);
      this.#unfinished = null;
    } catch (error) {
      this.#failures.inc();
      const { log, partition } = this.#options;
      log.warn({ err: error, partition, records: records.length, token }, 'store.partition.batch_failed');
      throw error;
    } finally {
      progress.end();
    }
  }

  /** Ends a running insert: its records are the business of the next owner of the partition. */
  close(): void {
    this.#isClosed = true;
    this.#progress?.abort();
  }

  async #finish(batch: EncodedBatch, progress: ProgressLimit): Promise<void> {
    await this.#insertTables({ ...batch, isUncertain: true }, progress);
    this.#unfinished = null;
    this.#finished = batch.tables;
  }

  async #encode(records: readonly KindedRecord[], token: string): Promise<EncodedBatch> {
    const tables = new Map<TableName, RowBuffer>();
    const stored = this.#storedSeqs(records);
    let seqMin = Number.POSITIVE_INFINITY;
    for (const item of records) {
      const { table } = ENCODERS[item.kind];
      if (stored.get(table)?.has(item.record.seq)) continue;
      const rows = tables.get(table) ?? new RowBuffer();
      try {
        appendRecord(rows, item.kind, item.record, item.isLate === true);
      } catch (error) {
        await this.#rejected.addRecord(item, error);
        continue;
      }
      tables.set(table, rows);
      seqMin = Math.min(seqMin, item.record.seq);
    }
    return { tables, token, isUncertain: seqMin <= this.#uncertainUpTo };
  }

  /** Seqs of the records that a batch finished before has; a repeated row of a replacing table does no harm. */
  #storedSeqs(records: readonly KindedRecord[]): Map<TableName, ReadonlySet<number>> {
    const stored = new Map<TableName, ReadonlySet<number>>();
    let seqMax = Number.NEGATIVE_INFINITY;
    for (const [table, { seqs, rows }] of this.#finished) {
      const own = seqs.subarray(0, rows);
      if (TABLES[table].replacingBy === null) stored.set(table, new Set(own));
      for (const seq of own) seqMax = Math.max(seqMax, seq);
    }
    // The stream is beyond that batch.
    if (records.every(({ record }) => record.seq > seqMax)) this.#finished = new Map();
    return stored;
  }

  async #insertTables({ tables, token, isUncertain }: EncodedBatch, progress: ProgressLimit): Promise<void> {
    await atOnce(INSERTS_AT_ONCE, [...tables], async ([table, rows]) => {
      await this.#insertRows({ table, rows, token: `${token}/${table}`, isUncertain }, progress);
    });
  }

  /** Inserts rows; of refused ones each half alone, so that only the bad rows are set aside. */
  async #insertRows(batch: TableBatch, progress: ProgressLimit): Promise<void> {
    const { table, rows, token, isUncertain } = batch;
    const common = { table, rows, token, target: TARGETS[table] as string };
    try {
      if (isUncertain) await this.#inserter.insertMissing(common, progress.signal);
      else await this.#inserter.insert({ ...common, uncertain: false }, progress.signal);
    } catch (error) {
      if (progress.signal.aborted || !isAboutRows(error)) throw error;
      progress.extend();
      const timeMs = this.#options.clock.now();
      if (rows.rows === 1) return await this.#rejected.addRows(table, rows, { error, timeMs });
      const middle = rows.rows >> 1;
      const halves = [rows.filter((row) => row < middle), rows.filter((row) => row >= middle)];
      for (const [index, half] of halves.entries())
        await this.#insertRows(
          { table, rows: half, token: `${token}.${index}`, isUncertain: true },
          progress,
        );
    }
    progress.extend();
  }
}

interface TableBatch {
  readonly table: TableName;
  readonly rows: RowBuffer;
  readonly token: string;
  readonly isUncertain: boolean;
}

function isAboutRows(error: unknown): boolean {
  if (!(error instanceof StoreRefusedError) || error.storeCode === null) return false;
  return !NOT_ABOUT_ROWS.has(error.storeCode);
}

/** Aborts work that makes no progress. */
class ProgressLimit {
  readonly #clock: Clock;
  readonly #aborted = new AbortController();
  readonly signal = this.#aborted.signal;
  #timer: Timer;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#timer = this.#start();
  }

  extend(): void {
    this.#timer.cancel();
    this.#timer = this.#start();
  }

  abort(): void {
    this.#aborted.abort();
  }

  end(): void {
    this.#timer.cancel();
  }

  #start(): Timer {
    return this.#clock.after(PROGRESS_LIMIT_MS, () => this.abort());
  }
}
