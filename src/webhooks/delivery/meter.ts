import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DeliveryState } from '../schemaWebhooks.ts';
import type { DeliveryChange } from './delivery.ts';
import type { AttemptResult } from './sender.ts';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Counts and logs deliveries. It never contains URLs: they often hold a receiver's own secrets. */
export class DeliveryMeter {
  readonly #log: Logger;
  readonly #attempts;
  readonly #seconds;
  readonly #settled;
  readonly #paused;
  readonly #held;
  readonly #sending;

  constructor({ log, metrics }: { log: Logger; metrics: Metrics }) {
    this.#log = log;
    this.#attempts = metrics.counter('underround_webhook_attempts_total', 'Attempts to deliver, by outcome', [
      'outcome',
    ]);
    this.#seconds = metrics.histogram('underround_webhook_attempt_seconds', 'Duration of an attempt', {
      buckets: SECONDS,
    });
    this.#settled = metrics.counter(
      'underround_webhook_deliveries_total',
      'Finished deliveries, by final state',
      ['state'],
    );
    this.#paused = metrics.counter(
      'underround_webhook_paused_total',
      'Webhooks paused after ten consecutive failed attempts',
    );
    this.#held = metrics.gauge(
      'underround_webhook_held',
      'Deliveries in memory, of webhooks with pending ones',
    );
    this.#sending = metrics.gauge(
      'underround_webhook_sending',
      'Whether this process is the sender of its database: 1 or 0',
    );
  }

  attempted(result: AttemptResult, { delivery, state }: DeliveryChange): void {
    const { outcome, status, latencyMs, error } = result;
    this.#attempts.inc({ outcome });
    this.#seconds.observe(latencyMs / 1000);
    const { webhookId, deliveryId, attempts } = delivery;
    const line = { webhookId, deliveryId, attempt: attempts, outcome, status, latencyMs, next: state };
    if (outcome === 'delivered') this.#log.info(line, 'delivery.attempted');
    else this.#log.warn({ ...line, error, dueMs: delivery.dueMs }, 'delivery.attempted');
  }

  settled(state: DeliveryState): void {
    this.#settled.inc({ state });
  }

  paused(webhookId: string): void {
    this.#paused.inc();
    this.#log.warn({ webhookId }, 'webhook.paused');
  }

  /** Whether this process is the sender from now on, or another may be. */
  sends(isUs: boolean): void {
    this.#sending.set(isUs ? 1 : 0);
    this.#log.info({ isUs }, 'webhooks.sender_decided');
  }

  held(count: number): void {
    this.#held.set(count);
  }
}
