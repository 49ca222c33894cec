import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Database, Schema } from '../accounts/schema.ts';
import { type Clock, every, type Timer } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import type { Delivery } from './delivery.ts';
import type { WebhookDirectory } from './directory.ts';
import { Intake } from './intake.ts';
import { HELD_MAX, Lane } from './lane.ts';
import { DeliveryMeter } from './meter.ts';
import { Outbox } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import type { SigningWebhook } from './registration.ts';
import { Retention } from './retention.ts';
import type { WebhookSender } from './sender.ts';

/** How soon what another process did is noticed: a pause, a resumption, a delivery to send again. */
const POLL_MS = 1_000;
/** Deliveries of one webhook brought into memory at once. */
const PULL_MAX = 500;
/** An attempt that began in time may end later; its outcome is what counts. */
const EXPIRY_GRACE_MS = 10_000;

export interface DispatcherParts {
  readonly db: Database;
  readonly directory: WebhookDirectory;
  readonly sender: Pick<WebhookSender, 'attempt' | 'forget' | 'close'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Brings every accepted event to every webhook that wants it: now, or after a restart, or when it was resumed. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #outbox: Outbox;
  readonly #intake: Intake;
  readonly #outcomes: Outcomes;
  readonly #meter: DeliveryMeter;
  readonly #retention: Retention;
  readonly #lanes = new Map<string, Lane>();
  #timer: Timer | null = null;
  #polling: Promise<void> | null = null;
  #closed = false;
  #pulling = false;
  /** Over, and written; still held by their lanes. */
  readonly #settled: Delivery[] = [];

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    const { db, clock, random, log, metrics } = parts;
    this.#outbox = new Outbox(db, clock);
    this.#meter = new DeliveryMeter({ log, metrics });
    this.#retention = new Retention(db, { clock, log, metrics });
    this.#outcomes = new Outcomes({
      ...{ outbox: this.#outbox, clock, random, log, metrics },
      written: (changes) => {
        for (const { delivery, state } of changes) {
          if (state === 'pending') continue;
          this.#meter.settled(state);
          this.#settled.push(delivery);
        }
        this.#release();
      },
    });
    this.#intake = new Intake({
      ...{ clock, random, log, metrics },
      accept: (events) => this.#outbox.accept(events, (transaction) => this.#open(transaction)),
      dispatch: (deliveries) => this.#dispatch(deliveries),
    });
  }

  /** Takes up what was left over, and then looks for more on its own. Rejects when the database cannot be read. */
  async start(): Promise<void> {
    await this.#poll();
    this.#timer = every(this.#parts.clock, POLL_MS, () => this.wake());
    this.#retention.start();
  }

  /** Returns at once; the event is written, then sent. */
  take(opportunity: Opportunity): void {
    if (!this.#closed) this.#intake.take(opportunity);
  }

  /** Looks for changes now and not within a second. */
  wake(): void {
    if (this.#closed) return;
    this.#polling ??= this.#poll()
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'webhooks.poll_failed'))
      .finally(() => {
        this.#polling = null;
      });
  }

  /** Writes what was taken, lets the attempts under way end, writes what became of them. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#intake.close();
    await this.#polling;
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    await this.#outcomes.close();
    await this.#retention.close();
    await this.#parts.sender.close();
  }

  /** Not while rows are being read: one that was read as waiting, and is over by now, must not be taken for new. */
  #release(): void {
    if (this.#pulling) return;
    for (const { webhookId, deliveryId } of this.#settled) this.#lanes.get(webhookId)?.release(deliveryId);
    this.#settled.length = 0;
  }

  /** Those an event may go to. */
  async #open(db: Kysely<Schema>): Promise<readonly SigningWebhook[]> {
    const webhooks = await this.#parts.directory.current(db);
    // One that is paused here and not yet in the database gets nothing more either.
    return webhooks.filter(({ webhookId, activeSinceMs }) => {
      const lane = this.#lanes.get(webhookId);
      return lane === undefined || lane.isOpen || lane.webhook.activeSinceMs !== activeSinceMs;
    });
  }

  #dispatch(deliveries: readonly Delivery[]): void {
    if (this.#closed) return;
    let unknown = false;
    for (const delivery of deliveries) {
      const lane = this.#lanes.get(delivery.webhookId);
      if (lane?.isOpen) lane.add(delivery);
      else unknown = true;
    }
    // A registration that is newer than the lanes; its delivery is in the database and found there.
    if (unknown) this.wake();
  }

  async #poll(): Promise<void> {
    const { db, directory } = this.#parts;
    this.#refresh(await directory.current(db));
    await this.#outbox.expire(EXPIRY_GRACE_MS);
    let held = 0;
    for (const [webhookId, count] of await this.#outbox.waiting()) {
      const lane = this.#lanes.get(webhookId);
      if (lane === undefined || !lane.isOpen || this.#closed) continue;
      held += lane.heldCount;
      // What is held waits in the database too: only a difference means that there is more.
      if (count <= lane.heldCount || lane.heldCount + PULL_MAX > HELD_MAX) continue;
      await this.#pull(lane);
      await nextTurn();
    }
    this.#meter.held(held);
  }

  async #pull(lane: Lane): Promise<void> {
    this.#pulling = true;
    try {
      const found = await this.#outbox.pull(lane.webhook.webhookId, lane.heldCount + PULL_MAX);
      for (const delivery of found) lane.add(delivery);
    } finally {
      this.#pulling = false;
      this.#release();
    }
  }

  #refresh(webhooks: readonly SigningWebhook[]): void {
    const { clock, random, sender } = this.#parts;
    const known = new Set(webhooks.map(({ webhookId }) => webhookId));
    for (const [webhookId, lane] of this.#lanes) {
      if (known.has(webhookId)) continue;
      this.#lanes.delete(webhookId);
      void lane.close();
      sender.forget(webhookId);
    }
    for (const webhook of webhooks) {
      const lane = this.#lanes.get(webhook.webhookId);
      if (lane) lane.update(webhook);
      else
        this.#lanes.set(
          webhook.webhookId,
          new Lane(webhook, {
            ...{ clock, random },
            attempt: (to, delivery) => sender.attempt(to, delivery),
            attempted: (result, change) => this.#meter.attempted(result, change),
            changed: (change) => this.#outcomes.changed(change),
            stands: (standing) => {
              if (standing.paused) this.#meter.paused(standing.webhookId);
              this.#outcomes.stands(standing);
            },
          }),
        );
    }
  }
}
