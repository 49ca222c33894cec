import { TakerFee } from '../core/fees.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { EXECUTABLE_AFTER_MS } from '../schema/export.ts';
import type { Market } from '../schema/market.ts';
import { loadMarket } from '../store/queries/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import { loadBookReceivedBy } from '../store/tables/bookReceived.ts';
import type { AuditLog } from './auditLog.ts';
import type { AuditReader, AuditRecord, UnsettledMarket } from './auditReader.ts';
import { executableFill } from './executable.ts';

const PERIOD_MS = 60_000;
/** Younger rows may still be evaluated from memory, or their books may not be stored yet; the store's lag is added. */
const AGE_MIN_MS = 30_000;
/** Rows and markets per round; the rest waits for the next. */
const ROUND_MAX = 500;

interface AuditFinisherOptions {
  readonly audit: AuditLog;
  readonly reader: AuditReader;
  readonly store: StoreReader;
  /** Age of the oldest received row that is not in the store. */
  readonly storeLagMs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/**
 * Finishes audit rows: settles them when their market is resolved, and reads fills from the store if the process ended
 * before the live books gave them.
 */
export class AuditFinisher {
  readonly #options: AuditFinisherOptions;
  readonly #timer: Timer;
  readonly #failures;
  /**
   * Where the previous round ended; null: a round begins with the oldest market. So markets that the venue never
   * resolves do not hold up the later ones.
   */
  #lastAsked: UnsettledMarket | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: AuditFinisherOptions) {
    this.#options = options;
    this.#failures = options.metrics.counter(
      'underround_audit_catch_up_failures_total',
      'Rounds of finishing audit rows that failed and are tried again a minute later',
    );
    this.#timer = every(options.clock, PERIOD_MS, () => this.round());
  }

  /** Settles a market's rows when its record is resolved. */
  onMarket(market: Market): void {
    if (market.status !== 'resolved' || market.payoutYes === null) return;
    this.#run(() => this.#settle(market));
  }

  /** Finishes the rows that are due; resolves when it is done. Never rejects. */
  round(): Promise<void> {
    this.#run(async () => {
      await this.#fillAll();
      await this.#settleAll();
    });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#timer.cancel();
    await this.#running;
  }

  #run(work: () => Promise<void>): void {
    this.#running = this.#running.then(work).catch((error: unknown) => {
      this.#failures.inc();
      this.#options.log.error({ err: error }, 'audit.catch_up_failed');
    });
  }

  async #settle(market: Market): Promise<void> {
    const { audit, reader, log } = this.#options;
    if (market.payoutYes === null || !(await reader.hasRows(market.marketId))) return;
    const rows = await audit.settle(market, market.payoutYes);
    const { marketId, outcome, payoutYes } = market;
    if (rows > 0) log.info({ marketId, outcome, payoutYes, rows }, 'audit.settled');
  }

  async #settleAll(): Promise<void> {
    const { reader, store, clock } = this.#options;
    const untilMs = clock.now() - AGE_MIN_MS;
    const page = await reader.unsettled(this.#lastAsked, ROUND_MAX);
    const ended = page.filter(({ endMs }) => endMs <= untilMs);
    for (const { marketId } of ended) {
      const market = await loadMarket(store, marketId);
      if (market !== null && market.status === 'resolved') await this.#settle(market);
    }
    this.#lastAsked = ended.length === ROUND_MAX ? (ended.at(-1) ?? null) : null;
  }

  async #fillAll(): Promise<void> {
    const { reader, clock, storeLagMs } = this.#options;
    const storedUntilMs = clock.now() - storeLagMs();
    for (const record of await reader.unexecuted(storedUntilMs - AGE_MIN_MS, ROUND_MAX))
      await this.#fill(record);
  }

  async #fill({ detection }: AuditRecord): Promise<void> {
    const { audit, store } = this.#options;
    const { auditId, marketId, detectedMs, legs } = detection;
    const fee = new TakerFee(detection.feeRule);
    const fills = [];
    for (const afterMs of EXECUTABLE_AFTER_MS) {
      const book = await loadBookReceivedBy(store, { marketId, timeMs: detectedMs + afterMs });
      fills.push(executableFill(book, { legs, fee, afterMs }));
    }
    await audit.executable(auditId, fills);
  }
}
