import type { Clock } from '../../runtime/clock.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { DeliveryQueue, type DeliveryQueueOptions } from './deliveryQueue.ts';
import type { WebhookSender } from './sender.ts';

interface DeliveryQueueSetOptions extends Omit<DeliveryQueueOptions, 'attempt'> {
  readonly clock: Clock;
  readonly sender: Pick<WebhookSender, 'attempt' | 'forget'>;
}

/** A queue per registration, and the closed queues whose last attempts are in flight. */
export class DeliveryQueueSet {
  readonly #parts: DeliveryQueueOptions;
  readonly #sender: DeliveryQueueSetOptions['sender'];
  readonly #queues = new Map<string, DeliveryQueue>();
  readonly #closing = new Set<Promise<void>>();

  constructor({ sender, ...parts }: DeliveryQueueSetOptions) {
    this.#sender = sender;
    this.#parts = { ...parts, attempt: (to, delivery) => sender.attempt(to, delivery) };
  }

  get(webhookId: string): DeliveryQueue | undefined {
    return this.#queues.get(webhookId);
  }

  /** Whether attempts of closed queues are still in flight. */
  get areClosing(): boolean {
    return this.#closing.size > 0;
  }

  /** Adds, updates and closes queues to match the registrations. */
  refresh(webhooks: readonly SigningWebhook[]): void {
    const known = new Set(webhooks.map(({ webhookId }) => webhookId));
    for (const [webhookId, queue] of this.#queues) {
      if (known.has(webhookId)) continue;
      this.#close(webhookId, queue);
      this.#sender.forget(webhookId);
    }
    for (const webhook of webhooks) {
      const queue = this.#queues.get(webhook.webhookId);
      if (queue) queue.update(webhook);
      else this.#queues.set(webhook.webhookId, new DeliveryQueue(webhook, this.#parts));
    }
  }

  /** Begins no further attempts. */
  closeAll(): void {
    for (const [webhookId, queue] of this.#queues) this.#close(webhookId, queue);
  }

  /** Resolves when no attempt is in flight. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #close(webhookId: string, queue: DeliveryQueue): void {
    this.#queues.delete(webhookId);
    const ending = queue.close().finally(() => this.#closing.delete(ending));
    this.#closing.add(ending);
  }
}
