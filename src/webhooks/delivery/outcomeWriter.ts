import { backoffDelayMs } from '../../runtime/backoff.ts';
import { type Clock, sleep, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DeliveryChange } from './delivery.ts';
import type { Outbox, WebhookHealth } from './outbox.ts';

/** Outcomes are written together this long after the first; a crash before the write sends them again. */
const GATHER_MS = 10;
const BACKOFF = { firstMs: 100, maxMs: 5_000 };
/** The database may be unavailable at a stop; unwritten deliveries are sent again after the next start. */
const CLOSE_TRIES = 3;

interface OutcomeWriterOptions {
  readonly outbox: Pick<Outbox, 'settle'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
  /** Called with changes that are committed. */
  written(changes: readonly DeliveryChange[]): void;
}

/** Writes the outcomes of deliveries, many in one transaction. Bounded by the number of held deliveries. */
export class OutcomeWriter {
  readonly #parts: OutcomeWriterOptions;
  readonly #failures;
  #changes = new Map<string, DeliveryChange>();
  #healthChanges = new Map<string, WebhookHealth>();
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(parts: OutcomeWriterOptions) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_webhook_store_failures_total',
      'Writes of webhook outcomes or events that failed and were tried again',
      ['work'],
    );
  }

  changed(change: DeliveryChange): void {
    const { deliveryId } = change.delivery;
    // The row has not seen an earlier change that this one replaces.
    const { rowDueMs } = this.#changes.get(deliveryId) ?? change;
    this.#changes.set(deliveryId, { ...change, rowDueMs });
    this.#arm();
  }

  healthChanged(health: WebhookHealth): void {
    this.#healthChanges.set(health.webhookId, health);
    this.#arm();
  }

  /** Whether any change is not written yet. */
  get isBehind(): boolean {
    return this.#timer !== null || this.#changes.size + this.#healthChanges.size > 0;
  }

  /** Writes the remaining changes. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#timer?.cancel();
    await this.#writing;
    await this.#write();
  }

  #arm(): void {
    if (this.#timer !== null || this.#closing) return;
    this.#timer = this.#parts.clock.after(GATHER_MS, () => {
      this.#writing = this.#write().finally(() => {
        this.#timer = null;
        if (this.#changes.size + this.#healthChanges.size > 0) this.#arm();
      });
    });
  }

  async #write(): Promise<void> {
    const changes = [...this.#changes.values()];
    const healthChanges = [...this.#healthChanges.values()];
    if (changes.length + healthChanges.length === 0) return;
    this.#changes = new Map();
    this.#healthChanges = new Map();
    const { outbox, clock, random, log } = this.#parts;
    for (let attempt = 0; ; attempt++) {
      try {
        await outbox.settle(changes, healthChanges);
        break;
      } catch (error) {
        this.#failures.inc({ work: 'outcomes' });
        log.error({ err: error, deliveries: changes.length, attempt }, 'webhooks.outcomes_not_written');
        if (this.#closing && attempt + 1 >= CLOSE_TRIES) return;
        await sleep(clock, backoffDelayMs(BACKOFF, attempt, random));
      }
    }
    this.#parts.written(changes);
  }
}
