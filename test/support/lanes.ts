import type { Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { Lane, type LaneParts } from '../../src/webhooks/delivery/lane.ts';
import type { SigningWebhook } from '../../src/webhooks/registry/registration.ts';
import type { FakeClock } from './fakeClock.ts';

/** A delivery that is due at once and never expires. */
export const DELIVERY: Delivery = {
  ...{ deliveryId: 'dl_1', webhookId: 'wh_1', tier: 'logical', ticker: 'BTC', body: Buffer.from('{}') },
  ...{ expiresMs: Number.MAX_SAFE_INTEGER, attempts: 0, step: 0, dueMs: 0, log: [] },
};

/** The delivery queue of one webhook, without listeners. */
export function laneOn(clock: FakeClock, random: () => number, attempt: LaneParts['attempt']): Lane {
  const webhook: SigningWebhook = {
    ...{
      webhookId: 'wh_1',
      userId: 'usr_1',
      url: 'https://x/',
      label: 'x',
      tiers: ['logical'],
      tickers: null,
    },
    ...{ state: 'active', pauseReason: null, pausedMs: null, consecutiveFailures: 0, createdMs: 0 },
    ...{ activeSinceMs: 0, filtersSinceMs: {}, previousUntilMs: null },
    secrets: { current: 'x', previous: [] },
  };
  const told = { attempted: () => {}, changed: () => {}, stands: () => {} };
  return new Lane(webhook, { clock, random, attempt, ...told });
}
