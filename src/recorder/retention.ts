import { RETAINED_DATASETS, type RetainedDataset, type Retention } from '../config/values.ts';
import type { Config } from '../config.ts';
import { type Clock, every, sleep, type Timer } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type REMOVAL_CAUSES, removalFeed } from '../schema/gap.ts';
import { readDiskSpace, reserveBytes } from '../store/engine/diskGuard.ts';
import type { StoreReader } from '../store/reader.ts';
import {
  type DatasetDay,
  type DiskForecast,
  daysToThin,
  forecastDisk,
  judgedTime,
  planRemovals,
} from '../store/retention/removals.ts';
import { countRows } from '../store/retention/thinBooks.ts';
import { DATABASE, TABLES, type TableName } from '../store/tables/schema.ts';
import type { Recorder } from './recorder.ts';

const PERIOD_MS = 600_000;
/** Windows end at most a day late; a market without an outcome does not keep its rows for ever. */
const OPEN_SECONDS_MAX = 86_400;
/** Gaps that are stored nowhere after this long are written again in the next round, and their rows stay until then. */
const SAVE_LIMIT_MS = 60_000;
/** How often a wait for the engine checks whether it may still get rows. */
const SAVE_POLL_MS = 250;

interface RetentionOptions {
  readonly store: StoreReader & {
    removeDay(table: TableName, day: string): Promise<void>;
    thinBooks(
      day: string,
      options: { readonly rows: number; readonly signal: AbortSignal },
    ): Promise<boolean>;
    removeThinningDraft(): Promise<void>;
    readonly writer: { readonly mayInsert: boolean; flush(): Promise<void>; keep(): Promise<void> };
  };
  readonly recorder: Recorder;
  readonly retention: Retention;
  readonly budgetBytes: number | null;
  /** Free space of the disk beyond its reserve. */
  readonly freeBytes: () => Promise<number>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface RemovedMarket {
  readonly marketId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
}

interface MeasuredDay {
  readonly table: TableName;
  readonly day: string;
  readonly bytes: number;
  readonly stored: number;
}

/**
 * Keeps the embedded engine within its periods and its budget, and measures its growth. It removes whole days, the oldest
 * first. Before it removes rows of a market it writes a gap (`retention`) from the first to the last of them, so that a
 * reader of that time is answered by a gap and not by an empty recording.
 */
export class RetentionKeeper {
  readonly #options: RetentionOptions;
  readonly #timer: Timer;
  readonly #removedBytes;
  readonly #tableBytes;
  #forecast: DiskForecast = { bytesPerDay: null, fullAtMs: null };
  #running: Promise<void> | null = null;
  readonly #stop = new AbortController();
  /** Rows of the days of books that have one state a second; every other day, or number of rows, is examined. */
  readonly #thinDays = new Map<string, number>();

  constructor(options: RetentionOptions) {
    const { metrics, clock } = options;
    this.#options = options;
    this.#removedBytes = metrics.counter(
      'underround_retention_removed_bytes_total',
      'Bytes of recorded rows that retention or the disk budget removed',
      ['table'],
    );
    this.#tableBytes = metrics.gauge(
      'underround_store_table_bytes',
      'Size of a table of the engine on disk',
      ['table'],
    );
    metrics.gauge(
      'underround_store_growth_bytes_per_day',
      'Mean growth of the engine over the last complete days; 0 before the first',
      [],
      (gauge) => gauge.set(this.#forecast.bytesPerDay ?? 0),
    );
    metrics.gauge(
      'underround_disk_full_timestamp_seconds',
      'When the disk is full at this growth; 0 if unknown',
      [],
      (gauge) => gauge.set((this.#forecast.fullAtMs ?? 0) / 1_000),
    );
    this.#timer = every(clock, PERIOD_MS, () => void this.run());
  }

  /** Runs one round; concurrent calls share it. A failure is logged, and the next round tries again. */
  run(): Promise<void> {
    this.#running ??= this.#round()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.log.warn({ err: error }, 'retention.failed');
      })
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  /** Ends a running round after its current statement: the store is about to close. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    this.#stop.abort();
    await this.#running;
  }

  async #round(): Promise<void> {
    const { clock, retention, budgetBytes, log, freeBytes, store } = this.#options;
    await store.removeThinningDraft();
    const { days, otherBytes, bookRows } = await this.#measure();
    this.#forecast = forecastDisk(days, { freeBytes: await freeBytes(), nowMs: clock.now() });
    const nowMs = judgedTime(days, clock.now());
    const openSinceMs = await this.#oldestOpenMs(nowMs);
    const limits = { retention, budgetBytes, otherBytes, nowMs, openSinceMs };
    const { removals, overBudgetBytes } = planRemovals(days, limits);
    for (const removal of removals) await this.#remove(removal);
    for (const day of daysToThin(days, { retention, removals, nowMs, openSinceMs }))
      await this.#thin(day, bookRows.get(day) ?? 0);
    if (overBudgetBytes > 0) log.warn({ overBudgetBytes, budgetBytes }, 'retention.over_budget');
  }

  /** @returns `bookRows`: the number of books of each day. */
  async #measure(): Promise<{ days: DatasetDay[]; otherBytes: number; bookRows: Map<string, number> }> {
    const rows = await this.#options.store.rows<MeasuredDay>(
      `SELECT table, partition AS day, sum(bytes_on_disk) AS bytes, sum(rows) AS stored FROM system.parts
       WHERE active AND database = '${DATABASE}' GROUP BY table, partition`,
    );
    const bytesOf = new Map<string, number>();
    for (const { table, bytes } of rows) bytesOf.set(table, (bytesOf.get(table) ?? 0) + Number(bytes));
    const books = rows.filter(({ table }) => table === 'books');
    const bookRows = new Map(books.map(({ day, stored }) => [day, Number(stored)]));
    for (const [table, bytes] of bytesOf) this.#tableBytes.set({ table }, bytes);
    const days: DatasetDay[] = [];
    let otherBytes = 0;
    for (const { table, day, bytes } of rows) {
      if (isRetained(table)) days.push({ table, day, bytes: Number(bytes) });
      else otherBytes += Number(bytes);
    }
    return { days, otherBytes, bookRows };
  }

  /** Start of the recording of the oldest window that has not ended, or ended less than a day ago. */
  async #oldestOpenMs(nowMs: number): Promise<number> {
    const [found] = await this.#options.store.rows<{ sinceMs: number; markets: number }>(
      `SELECT toUnixTimestamp64Milli(min(least(start_time, coalesce(recorded_since, start_time)))) AS sinceMs,
         count() AS markets FROM markets FINAL
       WHERE end_time > fromUnixTimestamp64Milli({nowMs:Int64}) - ${OPEN_SECONDS_MAX}`,
      { nowMs },
    );
    return found === undefined || Number(found.markets) === 0 ? nowMs : Number(found.sinceMs);
  }

  async #remove({ table, day, bytes }: DatasetDay): Promise<void> {
    this.#stop.signal.throwIfAborted();
    const { store, log } = this.#options;
    const rows = await countRows(store, table, day);
    const markets = await this.#marketsOf(table, day);
    await this.#writeGaps(markets, { cause: 'retention', table });
    if ((await countRows(store, table, day)) !== rows) return this.#postpone(table, day);
    await store.removeDay(table, day);
    this.#removedBytes.inc({ table }, bytes);
    log.info({ table, day, bytes, markets: markets.length }, 'retention.removed');
  }

  /** Thins a day of books. The states between the kept ones are then unknown, so the market's day becomes a gap. */
  async #thin(day: string, storedRows: number): Promise<void> {
    if (this.#thinDays.get(day) === storedRows) return;
    const { signal } = this.#stop;
    signal.throwIfAborted();
    const { store, log } = this.#options;
    const rows = await countRows(store, 'books', day);
    const markets = await this.#marketsOf('books', day, 'HAVING uniqExact(toUnixTimestamp(ts)) < count()');
    if (markets.length === 0) {
      this.#thinDays.set(day, storedRows);
      return;
    }
    await this.#writeGaps(markets, { cause: 'thinned', table: 'books' });
    if (!(await store.thinBooks(day, { rows, signal }))) return this.#postpone('books', day);
    log.info({ day, markets: markets.length }, 'retention.thinned');
  }

  /** Rows were stored meanwhile, for example by an import, and the gaps do not cover them. */
  #postpone(table: RetainedDataset, day: string): void {
    this.#options.log.info({ table, day }, 'retention.postponed');
  }

  /** The gaps are stored before the rows are gone. */
  async #writeGaps(
    markets: readonly RemovedMarket[],
    { cause, table }: { cause: (typeof REMOVAL_CAUSES)[number]; table: RetainedDataset },
  ): Promise<void> {
    const { recorder, clock } = this.#options;
    if (markets.length === 0) return;
    for (const { marketId, fromMs, toMs, receivedFromMs, receivedToMs } of markets) {
      const start = { eventTimeMs: fromMs, receivedTimeMs: receivedFromMs };
      const end = { eventTimeMs: toMs, receivedTimeMs: receivedToMs };
      const gap = { marketId, cause, feed: removalFeed(table), start } as const;
      recorder.gaps.lost({ ...gap, knownTimeMs: clock.now() }, end);
    }
    await this.#saveGaps();
  }

  /**
   * Resolves once the gaps are in the engine. Where the engine may get no rows because the disk is full, they are in the
   * journal: space for the engine may come only from the removal that waits here.
   */
  async #saveGaps(): Promise<void> {
    const { writer } = this.#options.store;
    if (writer.mayInsert && (await this.#isDone(writer.flush(), () => writer.mayInsert))) return;
    if (await this.#isDone(writer.keep(), () => true)) return;
    throw new StoreUnavailableError('neither engine nor journal accepted the gaps of removed rows');
  }

  /** False where a condition ended first, or the limit passed. @throws The reason of a stop. */
  async #isDone(work: Promise<void>, isWorthwhile: () => boolean): Promise<boolean> {
    const { clock } = this.#options;
    const ended = new AbortController();
    const wait = AbortSignal.any([this.#stop.signal, ended.signal]);
    let isDone = false;
    const done = work.then(() => {
      isDone = true;
    });
    const end = () => ended.abort();
    done.then(end, end);
    const startedAt = clock.monotonic();
    while (!ended.signal.aborted && isWorthwhile() && clock.monotonic() - startedAt < SAVE_LIMIT_MS) {
      await sleep(clock, SAVE_POLL_MS, wait);
      this.#stop.signal.throwIfAborted();
    }
    if (ended.signal.aborted) await done;
    return isDone;
  }

  /** @param only A condition on the rows of each market. */
  async #marketsOf(table: RetainedDataset, day: string, only = ''): Promise<RemovedMarket[]> {
    if (!TABLES[table].orderBy.includes('market_id')) return [];
    const [from, to] = ['min', 'max'].map(
      (bound) => (column: string) => `toUnixTimestamp64Milli(${bound}(${column}))`,
    ) as [(column: string) => string, (column: string) => string];
    const rows = await this.#options.store.rows<RemovedMarket>(
      `SELECT market_id AS marketId, ${from('ts')} AS fromMs, ${to('ts')} AS toMs,
         ${from('received')} AS receivedFromMs, ${to('received')} AS receivedToMs
       FROM ${table} WHERE toDate(ts) = toDate({day:String}) GROUP BY market_id ${only} ORDER BY market_id`,
      { day },
    );
    return rows;
  }
}

/** Starts the keeper of a process that has the embedded engine; null where a server's operator keeps the rows. */
export function keepRetention({
  config,
  ...parts
}: Pick<RetentionOptions, 'store' | 'recorder' | 'clock' | 'log' | 'metrics'> & {
  readonly config: Config;
}): RetentionKeeper | null {
  if (config.clickhouseUrl !== null) return null;
  const { dataDir, retention, diskBudgetBytes: budgetBytes, diskReserve } = config;
  const freeBytes = async () => {
    const space = await readDiskSpace(dataDir);
    return Math.max(0, space.freeBytes - reserveBytes(diskReserve, space.totalBytes));
  };
  return new RetentionKeeper({ ...parts, retention, budgetBytes, freeBytes });
}

function isRetained(table: string): table is RetainedDataset {
  return (RETAINED_DATASETS as readonly string[]).includes(table);
}
