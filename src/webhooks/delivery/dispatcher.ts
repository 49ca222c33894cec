import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Opportunity } from '../../schema/opportunity.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { Retention } from '../registry/retention.ts';
import type { Delivery } from './delivery.ts';
import { type DeliveryQueue, HELD_MAX } from './deliveryQueue.ts';
import { DeliveryQueueSet } from './deliveryQueueSet.ts';
import type { WebhookDirectory } from './directory.ts';
import { DeliveryMeter } from './meter.ts';
import { Outbox } from './outbox.ts';
import { OutcomeWriter } from './outcomeWriter.ts';
import type { WebhookSender } from './sender.ts';
import type { SoleSender } from './soleSender.ts';
import { WebhookEventQueue } from './webhookEventQueue.ts';

/** How soon a change by another process is noticed: a pause, a resumption, a manual redelivery. */
const POLL_MS = 1_000;
/** Deliveries of one webhook loaded into memory at once. */
const PULL_MAX = 500;
/** An attempt that began in time may end later; its outcome counts. */
const EXPIRY_GRACE_MS = 10_000;

interface DispatcherOptions {
  readonly db: Database;
  readonly directory: WebhookDirectory;
  readonly sender: Pick<WebhookSender, 'attempt' | 'forget' | 'close'>;
  readonly soleSender: SoleSender;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Delivers every accepted event to every webhook that wants it: now, after a restart, or after a resumption. */
export class Dispatcher {
  readonly #parts: DispatcherOptions;
  readonly #outbox: Outbox;
  readonly #events: WebhookEventQueue;
  readonly #outcomes: OutcomeWriter;
  readonly #meter: DeliveryMeter;
  readonly #retention: Retention;
  readonly #queues: DeliveryQueueSet;
  #timer: Timer | null = null;
  #polling: Promise<void> | null = null;
  /** A change was reported during the poll. */
  #pollsAgain = false;
  #closed = false;
  #pulling = false;
  /** Whether this process is the sender; the others store the events they receive, and wait. */
  #sends = false;
  /** The registrations that the queues were last updated with. */
  #refreshedWith: readonly SigningWebhook[] | null = null;
  /** Finished and written, but still held by their queues. */
  readonly #settled: Delivery[] = [];

  constructor(parts: DispatcherOptions) {
    this.#parts = parts;
    const { db, sender, clock, random, log, metrics } = parts;
    this.#outbox = new Outbox(db, clock);
    this.#meter = new DeliveryMeter({ log, metrics });
    this.#retention = new Retention(db, { clock, log, metrics });
    this.#outcomes = new OutcomeWriter({
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
    this.#queues = new DeliveryQueueSet({
      ...{ sender: tracedSender(sender, metrics), clock, random },
      attempted: (result, change) => this.#meter.attempted(result, change),
      changed: (change) => this.#outcomes.changed(change),
      healthChanged: (health) => {
        if (health.paused) this.#meter.paused(health.webhookId);
        this.#outcomes.healthChanged(health);
      },
    });
    this.#events = new WebhookEventQueue({
      ...{ clock, random, log, metrics },
      accept: (events) => this.#outbox.accept(events, (transaction) => this.#open(transaction)),
      dispatch: (deliveries) => this.#dispatch(deliveries),
    });
  }

  /** Resumes undelivered events, then polls. Rejects if the database cannot be read. */
  async start(): Promise<void> {
    await this.#poll();
    this.#timer = every(this.#parts.clock, POLL_MS, () => this.#pollSoon());
    this.#retention.start();
  }

  /** Returns at once; the event is written, then sent. */
  enqueue(opportunity: Opportunity): void {
    if (!this.#closed) this.#events.enqueue(opportunity);
  }

  /** Like `enqueue`, for a fault of the service itself. */
  enqueueSystemEvent(event: SystemEvent): void {
    if (!this.#closed) this.#events.enqueueSystemEvent(event);
  }

  /** Whether this process is the one that sends. */
  get isSending(): boolean {
    return this.#sends && !this.#closed;
  }

  /** Polls now instead of within a second. */
  wake(): void {
    if (this.#polling === null) this.#pollSoon();
    // The running poll may have read before the change.
    else this.#pollsAgain = true;
  }

  #pollSoon(): void {
    if (this.#closed || this.#polling !== null) return;
    this.#pollsAgain = false;
    this.#polling = this.#poll()
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'webhooks.poll_failed'))
      .finally(() => {
        this.#polling = null;
        if (this.#pollsAgain) this.#pollSoon();
      });
  }

  /** Writes accepted events, waits for in-flight attempts, and writes their outcomes. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#events.close();
    await this.#polling;
    this.#queues.closeAll();
    await this.#queues.closed();
    await this.#outcomes.close();
    await this.#parts.soleSender.leave();
    await this.#retention.close();
    await this.#parts.sender.close();
  }

  /** Not during a read: a row read as pending may be finished by now, and must not be added as new. */
  #release(): void {
    if (this.#pulling) return;
    for (const { webhookId, deliveryId } of this.#settled) this.#queues.get(webhookId)?.release(deliveryId);
    this.#settled.length = 0;
  }

  /** The webhooks that an event may go to. */
  async #open(db: Kysely<Schema>): Promise<readonly SigningWebhook[]> {
    const webhooks = await this.#parts.directory.current(db);
    this.#refresh(webhooks);
    // A webhook paused here, but not yet in the database, receives nothing more either.
    return webhooks.filter(({ webhookId }) => this.#queues.get(webhookId)?.isOpen ?? true);
  }

  /**
   * Applies the current registrations, so that a new event is sent accordingly: a rotated secret signs the next event.
   */
  #refresh(webhooks: readonly SigningWebhook[]): void {
    // For most events nothing has changed.
    if (!this.#sends || webhooks === this.#refreshedWith) return;
    this.#refreshedWith = webhooks;
    this.#queues.refresh(webhooks);
  }

  #dispatch(deliveries: readonly Delivery[]): void {
    if (this.#closed || !this.#sends) return;
    // Where no queue is open, the poll that opens one reads the delivery from the database.
    for (const delivery of deliveries) this.#queues.get(delivery.webhookId)?.add(delivery);
  }

  async #poll(): Promise<void> {
    const { db, directory } = this.#parts;
    await this.#decideWhoSends();
    if (!this.#sends) return;
    this.#refresh(await directory.current(db));
    await this.#outbox.expire(EXPIRY_GRACE_MS);
    let held = 0;
    for (const [webhookId, { count, due }] of await this.#outbox.waiting()) {
      const queue = this.#queues.get(webhookId);
      if (this.#closed || !queue?.isOpen) continue;
      held += queue.heldCount;
      if (due > 0 && queue.isWaiting) await this.#pull(queue, this.#outbox.pullAgain(webhookId, PULL_MAX));
      // The rows of held deliveries are pending too: only a difference means that there are more.
      if (count <= queue.heldCount || queue.heldCount + PULL_MAX > HELD_MAX) continue;
      await this.#pull(queue, this.#outbox.pull(webhookId, queue.heldCount + PULL_MAX));
      await nextTurn();
    }
    this.#meter.held(held);
  }

  async #decideWhoSends(): Promise<void> {
    let isUs = false;
    try {
      isUs = await this.#parts.soleSender.isUs();
    } finally {
      // If the database cannot answer, another process may be sending by now.
      if (!isUs) this.#stopSending();
    }
    // Outcomes that this process has not yet written must not be read as pending.
    if (isUs && !this.#queues.areClosing && !this.#outcomes.isBehind) this.#setSends(true);
  }

  #stopSending(): void {
    this.#setSends(false);
    this.#refreshedWith = null;
    this.#queues.closeAll();
  }

  #setSends(isUs: boolean): void {
    if (this.#sends !== isUs) this.#meter.sends(isUs);
    this.#sends = isUs;
  }

  async #pull(queue: DeliveryQueue, rows: Promise<readonly Delivery[]>): Promise<void> {
    this.#pulling = true;
    try {
      for (const delivery of await rows) queue.add(delivery);
    } finally {
      this.#pulling = false;
      this.#release();
    }
  }
}

/** The span has no URL: it may hold a secret. */
function tracedSender(
  sender: DispatcherOptions['sender'],
  metrics: Pick<Metrics, 'tracer'>,
): Pick<WebhookSender, 'attempt' | 'forget'> {
  return {
    forget: (webhookId) => sender.forget(webhookId),
    attempt: async (webhook, delivery) => {
      const span = metrics.tracer?.start('webhook.attempt', { kind: 'client' });
      const result = await sender.attempt(webhook, delivery);
      const ids = {
        'underround.webhook_id': webhook.webhookId,
        'underround.delivery_id': delivery.deliveryId,
      };
      const status = result.status === null ? {} : { 'http.response.status_code': result.status };
      const attributes = { ...ids, 'underround.outcome': result.outcome, ...status };
      span?.end({ attributes, isError: result.outcome !== 'delivered' });
      return result;
    },
  };
}
