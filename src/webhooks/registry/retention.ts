import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** How long a delivery's log is kept, unless there are too many. */
export const LOG_AGE_MAX_MS = 7 * 86_400_000;
/** Deliveries kept per webhook; beyond this the oldest are deleted first. */
const WEBHOOK_ROWS_MAX = 10_000;
/** Deliveries kept in all, shared evenly: beyond this the users with the most lose their oldest first. */
const LOG_ROWS_MAX = 200_000;
const PERIOD_MS = 60_000;
/** Rows per transaction: a few milliseconds, so that no event waits long for it. */
const DELETE_MAX = 500;
/** Transactions per round; the remaining rows wait for the next. */
const ROUND_MAX = 1_000;

/** How many of its deliveries a webhook keeps. */
interface Kept {
  readonly webhookId: string;
  readonly count: number;
  readonly rowsMax: number;
}

/** Keeps the delivery log bounded. Pending deliveries are never deleted. */
export class Retention {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #deleted;
  readonly #rowsMax: number;
  readonly #webhookRowsMax: number;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(
    db: Database,
    parts: {
      clock: Clock;
      log: Logger;
      metrics: Pick<Metrics, 'counter'>;
      rowsMax?: number;
      webhookRowsMax?: number;
    },
  ) {
    this.#db = db;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#rowsMax = parts.rowsMax ?? LOG_ROWS_MAX;
    this.#webhookRowsMax = parts.webhookRowsMax ?? WEBHOOK_ROWS_MAX;
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

  /** Deletes rows that exceed the limits of age or number. */
  async prune(): Promise<void> {
    const cutoffMs = this.#clock.now() - LOG_AGE_MAX_MS;
    await this.#deleteAll(() => this.#deleteDeliveries(cutoffMs));
    for (const { webhookId, rowsMax } of await this.#overfull()) await this.#shorten(webhookId, rowsMax);
    const oldest = await this.#db
      .selectFrom('webhook_deliveries')
      .select('created_ms')
      .orderBy('created_ms')
      .limit(1)
      .executeTakeFirst();
    // An event is as old as its deliveries, so the oldest remaining delivery bounds the events still needed.
    const eventCutoffMs = Math.min(cutoffMs, oldest?.created_ms ?? cutoffMs);
    await this.#deleteAll(() => this.#deleteEvents(eventCutoffMs));
  }

  /** Webhooks with more rows than allowed: one user's deliveries never displace another's. */
  async #overfull(): Promise<Kept[]> {
    const counted = await this.#db
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('webhooks as webhook', 'webhook.webhook_id', 'delivery.webhook_id')
      .select((row) => ['webhook.webhook_id', 'webhook.user_id', row.fn.countAll<number>().as('count')])
      .groupBy(['webhook.webhook_id', 'webhook.user_id'])
      .execute();
    const most = this.#webhookRowsMax;
    const ofUsers = new Map<string, Kept[]>();
    for (const { webhook_id: webhookId, user_id: userId, count } of counted) {
      const ofUser = ofUsers.get(userId) ?? [];
      ofUsers.set(userId, [...ofUser, { webhookId, count, rowsMax: Math.min(count, most) }]);
    }
    const sums = [...ofUsers.values()].map((webhooks) => sum(webhooks.map(({ rowsMax }) => rowsMax)));
    const userMax = evenShare(sums, this.#rowsMax);
    return [...ofUsers.values()].flatMap((webhooks) => {
      const share = evenShare(
        webhooks.map(({ rowsMax }) => rowsMax),
        userMax,
      );
      return webhooks
        .map((webhook) => ({ ...webhook, rowsMax: Math.min(webhook.rowsMax, share) }))
        .filter(({ count, rowsMax }) => count > rowsMax);
    });
  }

  /** Deletes a webhook's deliveries older than its newest `rowsMax`. */
  async #shorten(webhookId: string, rowsMax: number): Promise<void> {
    const newest = await this.#db
      .selectFrom('webhook_deliveries')
      .select(['created_ms', 'delivery_id'])
      .where('webhook_id', '=', webhookId)
      .orderBy('created_ms', 'desc')
      .orderBy('delivery_id', 'desc')
      .limit(1)
      .offset(rowsMax)
      .executeTakeFirst();
    if (newest) await this.#deleteAll(() => this.#deleteUpTo(webhookId, newest));
  }

  async #deleteUpTo(webhookId: string, newest: { created_ms: number; delivery_id: string }): Promise<number> {
    return await this.#db.transaction().execute(async (db) => {
      const old = db
        .selectFrom('webhook_deliveries')
        .select('delivery_id')
        .where('webhook_id', '=', webhookId)
        .where((row) =>
          row(
            row.refTuple('created_ms', 'delivery_id'),
            '<=',
            row.tuple(newest.created_ms, newest.delivery_id),
          ),
        )
        .where('state', '<>', sql.lit('pending'))
        .orderBy('created_ms')
        .limit(DELETE_MAX);
      const deleted = await db
        .deleteFrom('webhook_deliveries')
        .where('delivery_id', 'in', old)
        .returning('event_id')
        .execute();
      if (deleted.length === 0) return 0;
      const events = deleted.map(({ event_id }) => event_id);
      await db
        .deleteFrom('webhook_events as event')
        .where('event_id', 'in', events)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              // An event and its deliveries are stored at the same time: the index by age finds those of other
              // webhooks.
              selectFrom('webhook_deliveries as other')
                .select('other.delivery_id')
                .whereRef('other.created_ms', '=', 'event.created_ms')
                .whereRef('other.event_id', '=', 'event.event_id'),
            ),
          ),
        )
        .execute();
      return deleted.length;
    });
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The largest share such that capping every count at it keeps the sum within `total`; unused parts go to the others.
 */
function evenShare(counts: readonly number[], total: number): number {
  let left = total;
  const ascending = counts.toSorted((a, b) => a - b);
  for (const [index, count] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (count > share) return share;
    left -= count;
  }
  return total;
}
