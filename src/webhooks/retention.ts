import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../accounts/schema.ts';
import { type Clock, every, type Timer } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';

/** How long the log of a delivery is kept, unless there are too many. */
export const LOG_AGE_MAX_MS = 7 * 86_400_000;
/** Deliveries kept in all; beyond it the oldest go first. */
export const LOG_ROWS_MAX = 200_000;
const PERIOD_MS = 60_000;
/** Rows of one transaction: a few milliseconds, so that no event waits behind it for long. */
const DELETE_MAX = 500;
/** Transactions of one round; what is left waits for the next. */
const ROUND_MAX = 1_000;

/** Keeps the delivery log bounded. What still waits is never deleted. */
export class Retention {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #deleted;
  readonly #rowsMax: number;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(
    db: Database,
    parts: { clock: Clock; log: Logger; metrics: Pick<Metrics, 'counter'>; rowsMax?: number },
  ) {
    this.#db = db;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#rowsMax = parts.rowsMax ?? LOG_ROWS_MAX;
    this.#deleted = parts.metrics.counter(
      'underround_webhook_log_deleted_total',
      'Rows of the delivery log deleted because of their age or number',
    );
  }

  start(): void {
    this.#timer = every(this.#clock, PERIOD_MS, () => {
      this.#running ??= this.prune()
        .catch((error: unknown) => this.#log.error({ err: error }, 'webhooks.retention_failed'))
        .finally(() => {
          this.#running = null;
        });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** Deletes what is too old or too much. */
  async prune(): Promise<void> {
    const overflow = await this.#db
      .selectFrom('webhook_deliveries')
      .select('created_ms')
      .orderBy('created_ms', 'desc')
      .limit(1)
      .offset(this.#rowsMax)
      .executeTakeFirst();
    const cutoffMs = Math.max(this.#clock.now() - LOG_AGE_MAX_MS, (overflow?.created_ms ?? -1) + 1);
    await this.#deleteAll(() => this.#deleteDeliveries(cutoffMs));
    const oldest = await this.#db
      .selectFrom('webhook_deliveries')
      .select('created_ms')
      .orderBy('created_ms')
      .limit(1)
      .executeTakeFirst();
    // An event is as old as its deliveries, so the oldest one left bounds what is still needed.
    const eventCutoffMs = Math.min(cutoffMs, oldest?.created_ms ?? cutoffMs);
    await this.#deleteAll(() => this.#deleteEvents(eventCutoffMs));
  }

  async #deleteAll(some: () => Promise<number>): Promise<void> {
    for (let round = 0; round < ROUND_MAX && !this.#closed; round++) {
      const deleted = await some();
      this.#deleted.inc(deleted);
      if (deleted < DELETE_MAX) return;
      await nextTurn();
    }
  }

  async #deleteDeliveries(cutoffMs: number): Promise<number> {
    const old = this.#db
      .selectFrom('webhook_deliveries')
      .select('delivery_id')
      .where('created_ms', '<', cutoffMs)
      .where('state', '<>', sql.lit('pending'))
      .orderBy('created_ms')
      .limit(DELETE_MAX);
    const query = this.#db.deleteFrom('webhook_deliveries').where('delivery_id', 'in', old);
    return Number((await query.executeTakeFirst()).numDeletedRows);
  }

  async #deleteEvents(cutoffMs: number): Promise<number> {
    const old = this.#db
      .selectFrom('webhook_events')
      .select('event_id')
      .where('created_ms', '<', cutoffMs)
      .orderBy('created_ms')
      .limit(DELETE_MAX);
    const query = this.#db.deleteFrom('webhook_events').where('event_id', 'in', old);
    return Number((await query.executeTakeFirst()).numDeletedRows);
  }
}
