import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';
import type { LoggedAttempt } from '../delivery/delivery.ts';
import { UNDELIVERED_STATES } from '../schemaWebhooks.ts';
import { type LoggedDelivery, toLogged } from './deliveryLog.ts';
import { LOG_AGE_MAX_MS } from './retention.ts';

/** Newest delivered events whose latencies are read. */
const LATENCIES_MAX = 500;

export interface DeliveryWithBody {
  readonly delivery: LoggedDelivery;
  /** The body of every attempt. */
  readonly body: string;
}

/** How the deliveries of a webhook went lately, without tests. */
export interface DeliverySummary {
  readonly sinceMs: number;
  readonly delivered: number;
  /** Failed, skipped and expired ones. */
  readonly undelivered: number;
  /** Of the newest successful attempts; null: there is none. */
  readonly latencyMsMedian: number | null;
  readonly latencyMsP95: number | null;
  /** Creation of the first delivery in the newest run of undelivered ones; null: all were delivered. */
  readonly failingSinceMs: number | null;
  /** Undelivered ones since then, tests included: a redelivery sends these. */
  readonly undeliveredSinceFailing: number;
}

/** What the owner of a webhook sees of its deliveries beside their log. */
export class DeliveryReports {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Null if the webhook has no such delivery. */
  async find(webhookId: string, deliveryId: string): Promise<DeliveryWithBody | null> {
    const row = await this.#of(webhookId)
      .innerJoin('webhook_events as event', 'event.event_id', 'delivery.event_id')
      .select([
        'event.event',
        'event.tier',
        'event.ticker',
        'event.market_id',
        'event.detected_at',
        'event.body',
      ])
      .selectAll('delivery')
      .where('delivery.delivery_id', '=', deliveryId)
      .executeTakeFirst();
    return row === undefined ? null : { delivery: toLogged(row), body: row.body };
  }

  async summary(webhookId: string, nowMs: number): Promise<DeliverySummary> {
    const sinceMs = nowMs - LOG_AGE_MAX_MS;
    const [counts, latencies, run] = await Promise.all([
      this.#counts(webhookId, sinceMs),
      this.#latencies(webhookId, sinceMs),
      this.#newestRun(webhookId),
    ]);
    return {
      ...{ sinceMs, ...counts },
      latencyMsMedian: quantileOf(latencies, 0.5),
      latencyMsP95: quantileOf(latencies, 0.95),
      ...run,
    };
  }

  async #counts(webhookId: string, sinceMs: number) {
    const rows = await this.#of(webhookId)
      .select(['delivery.state', (row) => row.fn.countAll<number>().as('count')])
      .where('delivery.created_ms', '>=', sinceMs)
      .where('delivery.is_test', '=', sql.lit(0))
      .groupBy('delivery.state')
      .execute();
    const countOf = (state: string) => rows.find((row) => row.state === state)?.count ?? 0;
    const undelivered = UNDELIVERED_STATES.map(countOf).reduce((sum, count) => sum + count, 0);
    return { delivered: countOf('delivered'), undelivered };
  }

  /** Ascending. */
  async #latencies(webhookId: string, sinceMs: number): Promise<number[]> {
    const rows = await this.#of(webhookId)
      .select('delivery.attempt_log')
      .where('delivery.created_ms', '>=', sinceMs)
      .where('delivery.is_test', '=', sql.lit(0))
      .where('delivery.state', '=', 'delivered')
      .orderBy('delivery.created_ms', 'desc')
      .limit(LATENCIES_MAX)
      .execute();
    // The last attempt of a delivered event is the one that succeeded.
    return rows
      .flatMap(({ attempt_log }) => (JSON.parse(attempt_log) as LoggedAttempt[]).slice(-1))
      .map(({ latency_ms }) => latency_ms)
      .sort((a, b) => a - b);
  }

  /** The undelivered ones after the last delivered one before the newest undelivered one. */
  async #newestRun(webhookId: string) {
    const newest = await this.#undelivered(webhookId)
      .select((row) => row.fn.max('delivery.created_ms').as('at'))
      .executeTakeFirstOrThrow();
    if (newest.at === null) return { failingSinceMs: null, undeliveredSinceFailing: 0 };
    const before = await this.#of(webhookId)
      .select((row) => row.fn.max('delivery.created_ms').as('at'))
      .where('delivery.state', '=', 'delivered')
      .where('delivery.created_ms', '<', newest.at)
      .executeTakeFirstOrThrow();
    const run = await this.#undelivered(webhookId)
      .select((row) => [row.fn.min('delivery.created_ms').as('at'), row.fn.countAll<number>().as('count')])
      .where('delivery.created_ms', '>', before.at ?? 0)
      .executeTakeFirstOrThrow();
    return { failingSinceMs: run.at, undeliveredSinceFailing: run.count };
  }

  #undelivered(webhookId: string) {
    return this.#of(webhookId).where('delivery.state', 'in', UNDELIVERED_STATES);
  }

  #of(webhookId: string) {
    return this.#db.selectFrom('webhook_deliveries as delivery').where('delivery.webhook_id', '=', webhookId);
  }
}

/** The value that this share of the ascending ones does not exceed; null without values. */
function quantileOf(ascending: readonly number[], share: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? null;
}
