import type { Clock } from '../../runtime/clock.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { Lane, type LaneParts } from './lane.ts';
import type { WebhookSender } from './sender.ts';

export interface LanesParts extends Omit<LaneParts, 'attempt'> {
  readonly clock: Clock;
  readonly sender: Pick<WebhookSender, 'attempt' | 'forget'>;
}

/** A queue per registration, and the closed queues whose last attempts are in flight. */
export class Lanes {
  readonly #parts: LaneParts;
  readonly #sender: LanesParts['sender'];
  readonly #lanes = new Map<string, Lane>();
  readonly #ending = new Set<Promise<void>>();

  constructor({ sender, ...parts }: LanesParts) {
    this.#sender = sender;
    this.#parts = { ...parts, attempt: (to, delivery) => sender.attempt(to, delivery) };
  }

  get(webhookId: string): Lane | undefined {
    return this.#lanes.get(webhookId);
  }

  /** Whether attempts of closed queues are still in flight. */
  get areEnding(): boolean {
    return this.#ending.size > 0;
  }

  /** Adds, updates and closes queues to match the registrations. */
  refresh(webhooks: readonly SigningWebhook[]): void {
    const known = new Set(webhooks.map(({ webhookId }) => webhookId));
    for (const [webhookId, lane] of this.#lanes) {
      if (known.has(webhookId)) continue;
      this.#end(webhookId, lane);
      this.#sender.forget(webhookId);
    }
    for (const webhook of webhooks) {
      const lane = this.#lanes.get(webhook.webhookId);
      if (lane) lane.update(webhook);
      else this.#lanes.set(webhook.webhookId, new Lane(webhook, this.#parts));
    }
  }

  /** Begins no further attempts. */
  endAll(): void {
    for (const [webhookId, lane] of this.#lanes) this.#end(webhookId, lane);
  }

  /** Resolves when no attempt is in flight. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending);
  }

  #end(webhookId: string, lane: Lane): void {
    this.#lanes.delete(webhookId);
    const ending = lane.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
