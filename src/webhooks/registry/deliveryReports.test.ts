import { expect, test } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import type { Delivery, DeliveryChange, LoggedAttempt } from '../delivery/delivery.ts';
import { toEvent } from '../delivery/event.ts';
import { Outbox } from '../delivery/outbox.ts';
import { toSigningWebhook } from './registration.ts';

/** A webhook, and a function that settles deliveries accepted in one millisecond. */
async function rig() {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const outbox = new Outbox(t.db, t.clock);
  let n = 0;
  const settle = async (...states: readonly DeliveryChange['state'][]) => {
    const nowMs = t.clock.now();
    const events = states.map(() => toEvent(opportunity({ nowMs, n: n++ }))!);
    const accepted = await outbox.accept(events, async (transaction) =>
      (await transaction.selectFrom('webhooks').selectAll().execute()).map((row) =>
        toSigningWebhook(row, t.webhooks.box),
      ),
    );
    await outbox.settle(
      accepted.map((delivery, at) => ({ delivery: logged(delivery, at + 1), state: states[at]! })),
      [],
    );
  };
  return { t, settle, summary: () => t.webhooks.reports.summary(webhookId, t.clock.now()) };
}

function logged(delivery: Delivery, latencyMs: number): Delivery {
  const attempt = { error: null, latency_ms: latencyMs } as LoggedAttempt;
  return { ...delivery, attempts: 1, log: [attempt] };
}

test('the newest failure is a run of failures, though another event of its millisecond was delivered', async () => {
  const { t, settle, summary } = await rig();
  await settle('failed', 'delivered');
  await t.clock.advance(1);
  const sinceMs = t.clock.now();
  await settle('delivered', 'failed');
  expect(await summary()).toMatchObject({
    ...{ delivered: 2, undelivered: 2, failingSinceMs: sinceMs, undeliveredSinceFailing: 1 },
  });
});

test.each([
  [1, 1, 1],
  [3, 2, 3],
  [4, 2, 4],
  [20, 10, 19],
  [21, 11, 20],
])('of latencies 1 to %i ms the median is %i and the 95th percentile %i', async (count, median, p95) => {
  const { settle, summary } = await rig();
  await settle(...Array.from({ length: count }, () => 'delivered' as const));
  expect(await summary()).toMatchObject({ latencyMsMedian: median, latencyMsP95: p95 });
});
