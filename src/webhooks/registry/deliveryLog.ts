import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { RowSources } from '../../control/ids.ts';
import { beyondPlace } from '../../control/keyset.ts';
import type { Database, Schema } from '../../control/schema.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { Ticker } from '../../schema/market.ts';
import type { WebhookEventName } from '../../schema/notification.ts';
import type { Opportunity, PushedTier } from '../../schema/opportunity.ts';
import { formatTime } from '../../schema/time.ts';
import { TEST_SLUG } from '../chat/chatText.ts';
import { deliveryIdOf, eventIdOf, type LoggedAttempt } from '../delivery/delivery.ts';
import { toEvent, toSystemEvent, type WebhookEvent } from '../delivery/event.ts';
import { REDELIVERIES_PER_MINUTE, type SendQuotas } from '../delivery/sendQuotas.ts';
import {
  type DeliveryFilter,
  type DeliveryState,
  UNDELIVERED_STATES,
  type WebhookDeliveriesTable,
  type WebhookEventsTable,
} from '../schemaWebhooks.ts';
import type { Webhook } from './registration.ts';

/** A manual redelivery is tried this long, even past its market's end. */
export const REDELIVERY_WINDOW_MS = 15 * 60_000;
/** Test deliveries kept per webhook; a further one replaces the oldest finished one. */
export const TESTS_MAX = 100;
const TEST_TAU_MINUTES = 10;
/** No market has this id, so no receiver acts on a test. */
const TEST_MARKET_ID = `0x${'0'.repeat(64)}`;

/** A delivery as its owner sees it. */
export interface LoggedDelivery {
  readonly deliveryId: string;
  readonly state: DeliveryState;
  readonly event: WebhookEventName;
  /** Null, like `ticker` and `marketId`, unless it is an opportunity. */
  readonly tier: PushedTier | null;
  readonly ticker: Ticker | null;
  readonly marketId: string | null;
  readonly detectedAt: string;
  readonly attempts: number;
  readonly dueMs: number;
  readonly expiresMs: number;
  readonly createdMs: number;
  readonly log: readonly LoggedAttempt[];
  readonly isTest: boolean;
}

interface LogPlace {
  readonly createdMs: number;
  readonly deliveryId: string;
}

/** Deliveries accepted in [startMs, endMs) that match the filter; null: no bound, any state. */
interface LogRange {
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly state: DeliveryFilter | null;
}

/** The log of deliveries, and redelivery. */
export class DeliveryLog {
  readonly #db: Database;
  readonly #sources: RowSources;
  readonly #quotas: SendQuotas;

  constructor(db: Database, sources: RowSources, quotas: SendQuotas) {
    this.#db = db;
    this.#sources = sources;
    this.#quotas = quotas;
  }

  /** Newest first. @param after Only deliveries after this place. */
  async page(
    webhookId: string,
    { limit, after, range }: { limit: number; after: LogPlace | null; range: LogRange },
  ): Promise<LoggedDelivery[]> {
    let query = inRange(this.#of(webhookId), range)
      .innerJoin('webhook_events as event', 'event.event_id', 'delivery.event_id')
      .select(['event.event', 'event.tier', 'event.ticker', 'event.market_id', 'event.detected_at'])
      .selectAll('delivery')
      .orderBy('delivery.created_ms', 'desc')
      .orderBy('delivery.delivery_id', 'desc')
      .limit(limit);
    if (after !== null) {
      const { createdMs, deliveryId } = after;
      const place = [
        ['delivery.created_ms', createdMs],
        ['delivery.delivery_id', deliveryId],
      ] as const;
      query = query.where((row) => beyondPlace(row, '<', place));
    }
    const rows = await query.execute();
    return rows.map(toLogged);
  }

  async count(webhookId: string, range: LogRange): Promise<number> {
    const query = inRange(this.#of(webhookId), range).select((row) => row.fn.countAll<number>().as('count'));
    return (await query.executeTakeFirstOrThrow()).count;
  }

  /**
   * Sends a delivery again, under the same id. A waiting one is due at once. An in-flight attempt continues; if it fails,
   * another one begins within a second.
   * @returns False if the webhook has no such delivery.
   * @throws {InvalidInputError} If the webhook is paused.
   * @throws {TooManySendsError} If its user requested too many redeliveries in the last minute.
   */
  async redeliver(webhook: Webhook, deliveryId: string): Promise<boolean> {
    this.#quotas.check('redelivery', webhook.userId);
    const ids = await this.#of(webhook.webhookId)
      .select('delivery.delivery_id')
      .where('delivery.delivery_id', '=', deliveryId)
      .execute();
    return (await this.#sendAgain(webhook, ids)) > 0;
  }

  /**
   * Sends a range again, oldest first, as far as its user's quota of this minute allows.
   * @returns The number sent.
   * @throws {InvalidInputError} If the webhook is paused.
   * @throws {TooManySendsError} If its user requested too many redeliveries in the last minute.
   */
  async redeliverRange(webhook: Webhook, range: LogRange): Promise<number> {
    this.#quotas.check('redelivery', webhook.userId);
    const ids = await inRange(this.#of(webhook.webhookId), range)
      .select('delivery.delivery_id')
      .where('delivery.state', '<>', sql.lit('pending'))
      .orderBy('delivery.created_ms')
      .orderBy('delivery.delivery_id')
      .limit(REDELIVERIES_PER_MINUTE)
      .execute();
    return await this.#sendAgain(webhook, ids);
  }

  /**
   * Sends a test event with the real payload shape and a non-existent market, to this webhook only.
   * @returns The delivery's id.
   * @throws {InvalidInputError} If the webhook is paused.
   * @throws {TooManySendsError} If its user sent too many in the last minute.
   */
  async sendTest(webhook: Webhook): Promise<string> {
    this.#quotas.check('test', webhook.userId);
    if (webhook.state === 'paused') throw pausedWebhook();
    this.#quotas.consume('test', webhook.userId, 1);
    const nowMs = this.#sources.clock.now();
    const event = testEvent(webhook, nowMs);
    // Makes two tests within a millisecond two events.
    const chance = Buffer.from(this.#sources.randomBytes(12)).toString('hex');
    const { detected_at } = event.row;
    const row = { ...event.row, event_id: eventIdOf({ market_id: chance, detected_at }) };
    const deliveryId = deliveryIdOf(webhook.webhookId, row.event_id);
    await this.#db.transaction().execute(async (db) => {
      await db
        .insertInto('webhook_events')
        .values({ ...row, created_ms: nowMs })
        .execute();
      const delivery = {
        ...{ delivery_id: deliveryId, webhook_id: webhook.webhookId, event_id: row.event_id },
        ...({ state: 'pending', attempts: 0, step: 0, attempt_log: '[]', is_test: 1 } as const),
        ...{ due_ms: nowMs, created_ms: nowMs, expires_ms: event.expiresMs },
      };
      await db.insertInto('webhook_deliveries').values(delivery).execute();
      await deleteOldTests(db, webhook.webhookId);
    });
    return deliveryId;
  }

  async #sendAgain(webhook: Webhook, rows: readonly { delivery_id: string }[]): Promise<number> {
    if (webhook.state === 'paused') throw pausedWebhook();
    const admitted = rows.slice(0, this.#quotas.consume('redelivery', webhook.userId, rows.length));
    if (admitted.length === 0) return 0;
    const nowMs = this.#sources.clock.now();
    const untilMs = nowMs + REDELIVERY_WINDOW_MS;
    const done = await this.#db
      .updateTable('webhook_deliveries')
      .set((row) => ({
        ...{ state: 'pending', step: 0, due_ms: nowMs },
        expires_ms: row
          .case()
          .when('expires_ms', '<', untilMs)
          .then(untilMs)
          .else(row.ref('expires_ms'))
          .end(),
      }))
      .where(
        'delivery_id',
        'in',
        admitted.map(({ delivery_id }) => delivery_id),
      )
      .executeTakeFirst();
    return Number(done.numUpdatedRows);
  }

  #of(webhookId: string) {
    return this.#db.selectFrom('webhook_deliveries as delivery').where('delivery.webhook_id', '=', webhookId);
  }
}

type EventColumns = Pick<
  Selectable<WebhookEventsTable>,
  'event' | 'tier' | 'ticker' | 'market_id' | 'detected_at'
>;

/** Converts the row of a delivery, joined with its event. */
export function toLogged(row: Selectable<WebhookDeliveriesTable> & EventColumns): LoggedDelivery {
  return {
    ...{ deliveryId: row.delivery_id, state: row.state, event: row.event },
    ...{ tier: row.tier || null, ticker: row.ticker || null, marketId: row.market_id || null },
    ...{ detectedAt: row.detected_at, attempts: row.attempts },
    ...{ dueMs: row.due_ms, expiresMs: row.expires_ms, createdMs: row.created_ms },
    log: JSON.parse(row.attempt_log),
    isTest: row.is_test === 1,
  };
}

type Deliveries<O> = SelectQueryBuilder<Schema & { delivery: Schema['webhook_deliveries'] }, 'delivery', O>;

function inRange<O>(query: Deliveries<O>, { startMs, endMs, state }: LogRange): Deliveries<O> {
  let bounded = query;
  if (startMs !== null) bounded = bounded.where('delivery.created_ms', '>=', startMs);
  if (endMs !== null) bounded = bounded.where('delivery.created_ms', '<', endMs);
  if (state === 'undelivered') bounded = bounded.where('delivery.state', 'in', UNDELIVERED_STATES);
  else if (state !== null) bounded = bounded.where('delivery.state', '=', state);
  return bounded;
}

/**
 * Deletes test deliveries beyond the newest `TESTS_MAX`, with their events, which no other webhook has. Pending ones
 * stay.
 */
async function deleteOldTests(db: Database, webhookId: string): Promise<void> {
  const old = await db
    .selectFrom('webhook_deliveries')
    .select(['delivery_id', 'event_id', 'state'])
    .where('webhook_id', '=', webhookId)
    .where('is_test', '=', sql.lit(1))
    .orderBy('created_ms', 'desc')
    .orderBy('delivery_id', 'desc')
    .limit(TESTS_MAX)
    .offset(TESTS_MAX)
    .execute();
  const over = old.filter(({ state }) => state !== 'pending');
  if (over.length === 0) return;
  const deliveries = over.map(({ delivery_id }) => delivery_id);
  await db.deleteFrom('webhook_deliveries').where('delivery_id', 'in', deliveries).execute();
  const events = over.map(({ event_id }) => event_id);
  await db.deleteFrom('webhook_events').where('event_id', 'in', events).execute();
}

function pausedWebhook(): InvalidInputError {
  return new InvalidInputError('the webhook is paused; resume it first');
}

/** Of a kind that the webhook gets. */
function testEvent(webhook: Webhook, nowMs: number): WebhookEvent {
  const [type = 'opportunity'] = webhook.events;
  if (type === 'opportunity') {
    const event = toEvent(testOpportunity(webhook, nowMs));
    if (event === null) throw new TypeError('the test event is malformed');
    return event;
  }
  return toSystemEvent({
    ...{ type, state: 'began', incident_id: 'inc_test', subject: 'test' },
    ...{ summary: 'This is a test, nothing is wrong.', began_at: formatTime(nowMs) },
    ...{ ended_at: null, url: null },
  });
}

function testOpportunity({ tiers, tickers }: Webhook, nowMs: number): Opportunity {
  const [tier = 'logical'] = tiers;
  const [ticker = 'BTC'] = tickers ?? [];
  return {
    ...{ type: 'opportunity', tier, ticker, event_type: '5m', market_id: TEST_MARKET_ID },
    ...{ polymarket_slug: TEST_SLUG, direction: tier === 'logical' ? 'BUY_BOTH' : 'BUY_YES' },
    ...{ fill_price: 1, fill_spread: 0, expected_pnl_per_share: 0, est_fee_per_share: 0 },
    ...{ tau_minutes: TEST_TAU_MINUTES, confidence: 'stale', model_yes_prob: 0.5 },
    detected_at: formatTime(nowMs),
    polymarket_url: 'https://polymarket.com/event/test-event',
  };
}
