/** Inserts batches of encoded rows into the engine exactly once, even if a process dies in between. */
import type { Counter, Histogram } from 'prom-client';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { StoreRefusedError, StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { traced } from '../../runtime/tracing/tracer.ts';
import { TABLES, type TableName } from '../tables/schema.ts';
import { missingRows } from './missingRows.ts';
import type { RowBuffer } from './rowBuffer.ts';

const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 5_000;
/** Retries of a refused batch: a table may be under repair. Then the rows are set aside. */
const REFUSALS_MAX = 5;
/** How often an inserter that may not insert checks again. */
const MAY_INSERT_POLL_MS = 250;
/** Rows still missing after this many acknowledged inserts will never appear. */
const RESENDS_MAX = 3;

/** The part of the driver that the inserter uses. */
export interface InsertClient {
  insert(options: {
    target: string;
    format: string;
    data: Uint8Array;
    token: string;
    signal?: AbortSignal;
  }): Promise<void>;
  rows<T>(query: string, params?: Record<string, unknown>): Promise<T[]>;
  /** Resolves when a look-up sees every inserted row; absent where it always does. */
  syncReplicas?(table: TableName): Promise<void>;
}

interface Batch {
  readonly table: TableName;
  readonly target: string;
  readonly rows: RowBuffer;
  /** The engine remembers tokens: a batch sent again with the same token is not stored again. */
  readonly token: string;
  /** An earlier try may have ended in any way: check which rows exist before and after. */
  readonly uncertain: boolean;
}

export class RowInserter {
  readonly #client: InsertClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #mayInsert: () => boolean;
  readonly #inserted: Counter<'table'>;
  readonly #retries: Counter;
  readonly #seconds: Histogram;
  readonly #metrics: Pick<Metrics, 'tracer'>;

  /** @param options.mayInsert While it returns false, nothing is sent to the engine. */
  constructor(options: {
    client: InsertClient;
    clock: Clock;
    log: Logger;
    metrics: Metrics;
    mayInsert?: (() => boolean) | undefined;
  }) {
    const { client, clock, log, metrics, mayInsert = () => true } = options;
    this.#mayInsert = mayInsert;
    this.#client = client;
    this.#metrics = metrics;
    this.#clock = clock;
    this.#log = log;
    this.#inserted = metrics.counter('underround_store_inserted_rows_total', 'Rows brought into the engine', [
      'table',
    ]);
    this.#retries = metrics.counter(
      'underround_store_insert_retries_total',
      'Inserts that had to be tried again',
    );
    this.#seconds = metrics.histogram('underround_store_insert_seconds', 'Time one batch took to insert', {
      buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    });
  }

  /**
   * Inserts the rows partition by partition (a batch is atomic only within one) and retries until it succeeds.
   * @throws {StoreRefusedError} When the engine keeps refusing the rows.
   * @throws {StoreUnavailableError} When `signal` aborted before it was done.
   */
  async insert(batch: Batch, signal: AbortSignal): Promise<void> {
    for (const [day, rows] of byDay(batch.rows)) {
      await this.#insertPartition({ ...batch, rows, token: `${batch.token}/${day}` }, signal);
    }
  }

  /**
   * Inserts the rows that the engine does not have; the result of earlier tries need not be known.
   * @returns How many were missing.
   * @throws {StoreRefusedError} When the engine keeps refusing the rows.
   * @throws {StoreUnavailableError} When `signal` aborted before it was done.
   */
  async insertMissing(batch: Omit<Batch, 'uncertain'>, signal: AbortSignal): Promise<number> {
    const isReplacing = TABLES[batch.table].replacingBy !== null;
    let inserted = 0;
    for (const [day, rows] of byDay(batch.rows)) {
      const missing = await this.#missingInTheEnd(batch.table, rows, signal);
      if (missing.rows === 0) continue;
      // No row stored: reuse the token of the earlier try. Its insert may still run in a living engine and is then not
      // stored beside this one. Some rows stored: that insert is done, and its token would suppress this one. A row of
      // a replacing table may be repeated, so it gets a token that no earlier try can have used.
      let suffix = missing.rows === rows.rows ? '' : '/rest';
      if (isReplacing) suffix = `/rest-${this.#clock.now().toString(36)}`;
      const token = `${batch.token}${suffix}/${day}`;
      await this.#insertPartition({ ...batch, rows: missing, token, uncertain: true }, signal);
      inserted += missing.rows;
    }
    return inserted;
  }

  async #insertPartition(batch: Batch, signal: AbortSignal): Promise<void> {
    let { rows, token, uncertain } = batch;
    let backoffMs = BACKOFF_MS_MIN;
    for (let refusals = 0, resends = 0; ; ) {
      try {
        await this.#untilAllowed(signal);
        const startedAt = this.#clock.monotonic();
        const { target, table } = batch;
        const data = rows.bytes.subarray(0, rows.length);
        const sent = { target, format: 'RowBinary', data, token, signal };
        const attributes = { 'underround.table': table, 'underround.rows': rows.rows };
        await traced(this.#metrics.tracer, 'store.insert', { kind: 'client', attributes }, () =>
          this.#client.insert(sent),
        );
        this.#seconds.observe((this.#clock.monotonic() - startedAt) / 1_000);
        const missing = uncertain ? await this.#missing(table, rows) : null;
        if (missing === null || missing.rows === 0) {
          this.#inserted.inc({ table }, batch.rows.rows);
          return;
        }
        // The engine records a token just before it commits the part. Killed between the two, it treats the retry as a
        // duplicate. Only a query shows this, and only another token avoids it.
        if (++resends > RESENDS_MAX)
          throw new StoreRefusedError('acknowledged rows do not appear', { storeCode: null });
        rows = missing;
        token = `${token}+`;
      } catch (error) {
        if (error instanceof StoreRefusedError && (resends > RESENDS_MAX || ++refusals >= REFUSALS_MAX))
          throw error;
        if (signal.aborted) throw error;
        uncertain = true;
        // Where a repeated row is harmless, a token recorded without its rows is the greater risk.
        if (TABLES[batch.table].replacingBy !== null) token = `${token}+`;
        this.#retries.inc();
        this.#log.warn(
          { err: error, table: batch.table, rows: rows.rows, backoffMs },
          'store.insert.retried',
        );
        await sleep(this.#clock, backoffMs, signal);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
      }
    }
  }

  /**
   * Rows that the engine does not have. Null for tables whose key makes a repeated row harmless: they are never
   * queried.
   */
  async #missing(table: TableName, rows: RowBuffer): Promise<RowBuffer | null> {
    return TABLES[table].replacingBy !== null ? null : await this.#lookUp(table, rows);
  }

  async #lookUp(table: TableName, rows: RowBuffer): Promise<RowBuffer> {
    await this.#client.syncReplicas?.(table);
    return await missingRows(this.#client, table, rows);
  }

  /** Retries until the engine answers. */
  async #missingInTheEnd(table: TableName, rows: RowBuffer, signal: AbortSignal): Promise<RowBuffer> {
    let backoffMs = BACKOFF_MS_MIN;
    for (let refusals = 0; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      try {
        await this.#untilAllowed(signal);
        return await this.#lookUp(table, rows);
      } catch (error) {
        if (signal.aborted || (error instanceof StoreRefusedError && ++refusals >= REFUSALS_MAX)) throw error;
        this.#log.warn({ err: error, table, rows: rows.rows, backoffMs }, 'store.lookup.retried');
        await sleep(this.#clock, backoffMs, signal);
      }
    }
  }

  /** @throws {StoreUnavailableError} When `signal` aborted first. */
  async #untilAllowed(signal: AbortSignal): Promise<void> {
    while (!this.#mayInsert()) {
      if (signal.aborted) throw new StoreUnavailableError('stopped while inserts are not allowed');
      await sleep(this.#clock, MAY_INSERT_POLL_MS, signal);
    }
  }
}

/** Splits rows by day. A segment of one day is returned unchanged; all but one segment a day are like that. */
function byDay(rows: RowBuffer): Map<number, RowBuffer> {
  const days = new Set(rows.days.subarray(0, rows.rows));
  return new Map(
    [...days].map((day) => [day, days.size === 1 ? rows : rows.filter((row) => rows.days[row] === day)]),
  );
}
