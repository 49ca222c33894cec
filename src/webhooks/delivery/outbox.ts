import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { compareTexts } from '../../runtime/compareTexts.ts';
import { type SigningWebhook, wants } from '../registry/registration.ts';
import { skipPending } from '../registry/skipPending.ts';
import type { WebhookDeliveriesTable, WebhookEventsTable } from '../schemaWebhooks.ts';
import { BulkStatement } from './bulkStatement.ts';
import { type Delivery, type DeliveryChange, deliveryIdOf } from './delivery.ts';
import type { WebhookEvent } from './event.ts';

/** A change of a registration: its count of failures, and whether it is paused. */
export interface WebhookHealth {
  readonly webhookId: string;
  /** The change is dropped if the owner has resumed it since. */
  readonly activeSinceMs: number;
  readonly consecutiveFailures: number;
  readonly paused: boolean;
}

/** Pending deliveries of one webhook, and how many of them are due. */
interface Waiting {
  readonly count: number;
  readonly due: number;
}

/** Stores events and deliveries. An event is accepted when `accept` resolves: from then on no crash loses it. */
export class Outbox {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #inserts = insertDeliveries();
  readonly #updates = updateDeliveries();

  constructor(db: Database, clock: Pick<Clock, 'now'>) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Writes events with a delivery for each webhook that wants them, all in one transaction. An event that any process
   * accepted before is skipped.
   * @param current Called within the transaction: the active registrations at that time.
   */
  async accept(
    events: readonly WebhookEvent[],
    current: (db: Kysely<Schema>) => Promise<readonly SigningWebhook[]>,
  ): Promise<Delivery[]> {
    return await this.#db.transaction().execute(async (db) => {
      const webhooks = await current(db);
      const nowMs = this.#clock.now();
      const wanted = events.map((event) => {
        const { event: name, tier, ticker } = event.row;
        const kind = { tier: tier || null, ticker: ticker || null };
        const facts = { event: name, ...kind, detectedMs: event.detectedMs };
        return { event, by: webhooks.filter((webhook) => wants(webhook, facts, nowMs)) };
      });
      const told = wanted.filter(({ by }) => by.length > 0);
      if (told.length === 0) return [];
      const inserted = await db
        .insertInto('webhook_events')
        .values(told.map(({ event }) => ({ ...event.row, created_ms: nowMs })).toSorted(byId))
        .onConflict((conflict) => conflict.column('event_id').doNothing())
        .returning('event_id')
        .execute();
      const fresh = new Set(inserted.map(({ event_id }) => event_id));
      const deliveries = told.flatMap(({ event, by }) => {
        // Of two equal events in a batch only the first is stored.
        if (!fresh.delete(event.row.event_id)) return [];
        const body = Buffer.from(event.row.body);
        return by.map(({ webhookId }) => newDelivery(event, { webhookId, body, nowMs }));
      });
      await this.#inserts.run(db, deliveries);
      return deliveries.map(({ delivery }) => delivery);
    });
  }

  /**
   * Writes the outcomes of deliveries and the changes of registrations, in one transaction. A delivery that was
   * redelivered by hand during its attempt stays pending and due, unless the attempt succeeded. Registrations are locked
   * before their deliveries, as by their owner's changes: two transactions never wait for each other in a circle.
   */
  async settle(changes: readonly DeliveryChange[], healthChanges: readonly WebhookHealth[]): Promise<void> {
    const nowMs = this.#clock.now();
    await this.#db.transaction().execute(async (db) => {
      const paused: string[] = [];
      for (const health of healthChanges.toSorted(byWebhook)) {
        if ((await writeHealth(db, health, nowMs)) && health.paused) paused.push(health.webhookId);
      }
      await this.#updates.run(db, changes);
      for (const webhookId of paused) await skipPending(db, webhookId);
    });
  }

  /** How many deliveries are pending, by webhook. */
  async waiting(): Promise<ReadonlyMap<string, Waiting>> {
    const nowMs = this.#clock.now();
    const rows = await this.#db
      .selectFrom('webhook_deliveries')
      .select((row) => [
        'webhook_id',
        row.fn.countAll<number>().as('count'),
        row.fn.countAll<number>().filterWhere('due_ms', '<=', nowMs).as('due'),
      ])
      .where('state', '=', sql.lit('pending'))
      .groupBy('webhook_id')
      .execute();
    return new Map(rows.map(({ webhook_id, count, due }) => [webhook_id, { count, due }]));
  }

  /** The first pending deliveries of a webhook, soonest due first. */
  async pull(webhookId: string, limit: number): Promise<Delivery[]> {
    return (await this.#pending(webhookId, limit).execute()).map(toDelivery);
  }

  /** Of those, earlier attempted ones that were redelivered by hand and not tried since. */
  async pullAgain(webhookId: string, limit: number): Promise<Delivery[]> {
    const again = this.#pending(webhookId, limit)
      .where('delivery.due_ms', '<=', this.#clock.now())
      .where('delivery.step', '=', 0)
      .where('delivery.attempts', '>', 0);
    return (await again.execute()).map(toDelivery);
  }

  #pending(webhookId: string, limit: number) {
    return this.#db
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('webhook_events as event', 'event.event_id', 'delivery.event_id')
      .selectAll('delivery')
      .select(['event.event', 'event.tier', 'event.ticker', 'event.body'])
      .where('delivery.webhook_id', '=', webhookId)
      .where('delivery.state', '=', sql.lit('pending'))
      .orderBy('delivery.due_ms')
      .orderBy('delivery.delivery_id')
      .limit(limit);
  }

  /** Expires pending deliveries whose market ended `graceMs` ago. */
  async expire(graceMs: number): Promise<number> {
    const done = await this.#db
      .updateTable('webhook_deliveries')
      .set({ state: 'expired' })
      .where('state', '=', sql.lit('pending'))
      .where('expires_ms', '<=', this.#clock.now() - graceMs)
      .executeTakeFirst();
    return Number(done.numUpdatedRows);
  }
}

/** In one order, so that two processes that accept the same events never wait for each other's rows in a circle. */
function byId(a: { event_id: string }, b: { event_id: string }): number {
  return compareTexts(a.event_id, b.event_id);
}

function byWebhook(a: WebhookHealth, b: WebhookHealth): number {
  return compareTexts(a.webhookId, b.webhookId);
}

type PendingRow = Selectable<WebhookDeliveriesTable> &
  Pick<Selectable<WebhookEventsTable>, 'event' | 'tier' | 'ticker' | 'body'>;

function toDelivery(row: PendingRow): Delivery {
  return {
    ...{ deliveryId: row.delivery_id, webhookId: row.webhook_id, event: row.event },
    ...{ tier: row.tier || null, ticker: row.ticker || null },
    ...{ body: Buffer.from(row.body), expiresMs: row.expires_ms, attempts: row.attempts, step: row.step },
    ...{ dueMs: row.due_ms, log: JSON.parse(row.attempt_log) },
  };
}

function newDelivery(event: WebhookEvent, facts: { webhookId: string; body: Buffer; nowMs: number }) {
  const { event_id: eventId, event: name, tier, ticker } = event.row;
  const { webhookId, body, nowMs } = facts;
  const deliveryId = deliveryIdOf(webhookId, eventId);
  const delivery: Delivery = {
    ...{ deliveryId, webhookId, event: name, tier: tier || null, ticker: ticker || null, body },
    expiresMs: event.expiresMs,
    ...{ attempts: 0, step: 0, dueMs: nowMs, log: [] },
  };
  return { delivery, eventId };
}

function insertDeliveries(): BulkStatement<{ delivery: Delivery; eventId: string }> {
  const row = sql`(${null}, ${null}, ${null}, 'pending', 0, 0, ${null}, ${null}, ${null}, '[]')`;
  return new BulkStatement(
    (rows) => sql`
      insert into webhook_deliveries (delivery_id, webhook_id, event_id, state, attempts, step, due_ms,
        created_ms, expires_ms, attempt_log) values ${sql.join(Array(rows).fill(row))}`,
    ({ delivery: { deliveryId, webhookId, dueMs, expiresMs }, eventId }) => {
      return [deliveryId, webhookId, eventId, dueMs, dueMs, expiresMs];
    },
  );
}

/** PostgreSQL reads the values as text, hence the casts. */
function updateDeliveries(): BulkStatement<DeliveryChange> {
  const row = sql`(${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null})`;
  const isRedelivered = sql`webhook_deliveries.state = 'pending' and v.column2 <> 'delivered'
    and webhook_deliveries.due_ms <> cast(v.column7 as bigint)`;
  // By a pause, by its expiry, or by another sender.
  const isEnded = sql`webhook_deliveries.state <> 'pending' and v.column2 = 'pending'`;
  const isKept = sql`((${isRedelivered}) or (${isEnded}))`;
  const unlessKept = (column: string, value: ReturnType<typeof sql>) =>
    sql`${sql.ref(column)} = case when ${isKept} then ${sql.ref(`webhook_deliveries.${column}`)} else ${value} end`;
  return new BulkStatement(
    (rows) => sql`
      update webhook_deliveries set ${unlessKept('state', sql`v.column2`)},
        attempts = cast(v.column3 as bigint), ${unlessKept('step', sql`cast(v.column4 as bigint)`)},
        ${unlessKept('due_ms', sql`cast(v.column5 as bigint)`)}, attempt_log = v.column6
      from (values ${sql.join(Array(rows).fill(row))}) as v where webhook_deliveries.delivery_id = v.column1`,
    ({ delivery: { deliveryId, attempts, step, dueMs, log }, state, rowDueMs }) => {
      return [deliveryId, state, attempts, step, dueMs, JSON.stringify(log), rowDueMs];
    },
  );
}

/** @returns False if the webhook was paused, resumed or deleted meanwhile. */
async function writeHealth(db: Kysely<Schema>, health: WebhookHealth, nowMs: number): Promise<boolean> {
  const { webhookId, activeSinceMs, consecutiveFailures, paused } = health;
  const row = await db
    .updateTable('webhooks')
    .set({
      consecutive_failures: consecutiveFailures,
      ...(paused ? ({ state: 'paused', pause_reason: 'failures', paused_ms: nowMs } as const) : {}),
    })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'active')
    .where('active_since_ms', '=', activeSinceMs)
    .returning('webhook_id')
    .executeTakeFirst();
  return row !== undefined;
}
