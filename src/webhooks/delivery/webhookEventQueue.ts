import { backoffDelayMs } from '../../runtime/backoff.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Opportunity } from '../../schema/opportunity.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';
import type { Delivery } from './delivery.ts';
import { toEvent, toSystemEvent, type WebhookEvent } from './event.ts';

/** Events per transaction: a burst is written together, a single event at once. */
const BATCH_MAX = 64;
/** Events queued while the database is unavailable; beyond this the oldest are lost and counted. */
const WAITING_MAX = 10_000;
const BACKOFF = { firstMs: 20, maxMs: 2_000 };

interface WebhookEventQueueOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
  /** Writes the events with their deliveries; the returned ones are committed. */
  accept(events: readonly WebhookEvent[]): Promise<readonly Delivery[]>;
  /** Schedules committed deliveries. */
  dispatch(deliveries: readonly Delivery[]): void;
}

/** Queues opportunities and system events and has each written, in order, before it is sent. */
export class WebhookEventQueue {
  readonly #parts: WebhookEventQueueOptions;
  readonly #events;
  readonly #failures;
  readonly #waiting: WebhookEvent[] = [];
  #running: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(parts: WebhookEventQueueOptions) {
    this.#parts = parts;
    this.#events = parts.metrics.counter(
      'underround_webhook_events_total',
      'Events for webhooks: accepted, refused as malformed, or lost because too many waited',
      ['outcome'],
    );
    this.#failures = parts.metrics.counter(
      'underround_webhook_store_failures_total',
      'Writes of webhook outcomes or events that failed and were tried again',
      ['work'],
    );
  }

  enqueue(opportunity: Opportunity): void {
    const event = toEvent(opportunity);
    if (event === null) {
      this.#events.inc({ outcome: 'refused' });
      this.#parts.log.error({ opportunity }, 'webhooks.event_refused');
      return;
    }
    this.#add(event);
  }

  enqueueSystemEvent(event: SystemEvent): void {
    this.#add(toSystemEvent(event));
  }

  #add(event: WebhookEvent): void {
    this.#waiting.push(event);
    if (this.#waiting.length > WAITING_MAX) {
      const lost = this.#waiting.shift();
      this.#events.inc({ outcome: 'lost' });
      this.#parts.log.error({ eventId: lost?.row.event_id }, 'webhooks.event_lost');
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when all events are written, or when the last try failed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, random, log } = this.#parts;
    for (let attempt = 0; this.#waiting.length > 0; ) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      try {
        const deliveries = await this.#parts.accept(batch);
        this.#waiting.splice(0, this.#waiting.indexOf(batch.at(-1) as WebhookEvent) + 1);
        this.#events.inc({ outcome: 'accepted' }, batch.length);
        attempt = 0;
        this.#parts.dispatch(deliveries);
      } catch (error) {
        this.#failures.inc({ work: 'events' });
        log.error({ err: error, waiting: this.#waiting.length, attempt }, 'webhooks.events_not_written');
        if (this.#closing.signal.aborted) return;
        await sleep(clock, backoffDelayMs(BACKOFF, attempt++, random), this.#closing.signal);
      }
    }
  }
}
