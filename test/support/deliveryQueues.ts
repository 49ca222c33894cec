import type { Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { DeliveryQueue, type DeliveryQueueOptions } from '../../src/webhooks/delivery/deliveryQueue.ts';
import type { SigningWebhook } from '../../src/webhooks/registry/registration.ts';
import type { FakeClock } from './fakeClock.ts';

/** Due at once, and never expires. */
export const DELIVERY: Delivery = {
  ...{ deliveryId: 'dl_1', webhookId: 'wh_1', event: 'opportunity', tier: 'logical', ticker: 'BTC' },
  body: Buffer.from('{}'),
  ...{ expiresMs: Number.MAX_SAFE_INTEGER, attempts: 0, step: 0, dueMs: 0, log: [] },
};

/** The delivery queue of one webhook. */
export function deliveryQueueOn(
  clock: FakeClock,
  random: () => number,
  attempt: DeliveryQueueOptions['attempt'],
  facts: Partial<SigningWebhook> = {},
  changed: DeliveryQueueOptions['changed'] = () => {},
): DeliveryQueue {
  const webhook: SigningWebhook = {
    ...{
      webhookId: 'wh_1',
      userId: 'usr_1',
      url: 'https://x/',
      label: 'x',
      tiers: ['logical'],
      tickers: null,
    },
    ...{ format: 'signed', events: ['opportunity'], target: 'https://x/', chat: null },
    isOwnerOperator: false,
    ...{ state: 'active', pauseReason: null, pausedMs: null, consecutiveFailures: 0, createdMs: 0 },
    ...{ activeSinceMs: 0, filtersSinceMs: {}, previousUntilMs: null },
    secrets: { current: 'x', previous: [] },
    ...facts,
  };
  const listeners = { attempted: () => {}, changed, healthChanged: () => {} };
  return new DeliveryQueue(webhook, { clock, random, attempt, ...listeners });
}
