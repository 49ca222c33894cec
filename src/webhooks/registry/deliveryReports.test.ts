import { expect, test } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { formatTime } from '../../schema/time.ts';
import type { Delivery, DeliveryChange, LoggedAttempt } from '../delivery/delivery.ts';
import { toEvent } from '../delivery/event.ts';
import { Outbox } from '../delivery/outbox.ts';
import { toSigningWebhook, type Webhook } from './registration.ts';
import { LOG_AGE_MAX_MS } from './retention.ts';

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
      accepted.map((delivery, at) => {
        return { delivery: logged(delivery, at + 1), state: states[at]!, rowDueMs: delivery.dueMs };
      }),
      [],
    );
  };
  const { reports } = t.webhooks;
  return { t, settle, webhookId, reports, summary: () => reports.summary(webhookId, t.clock.now()) };
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

test('the latency of a delivered event is that of its last attempt', async () => {
  const { t, settle, summary } = await rig();
  await settle('delivered');
  const attempt_log = JSON.stringify([{ latency_ms: 5_000 }, { latency_ms: 7 }]);
  await t.db.updateTable('webhook_deliveries').set({ attempt_log }).execute();
  expect(await summary()).toMatchObject({ latencyMsMedian: 7, latencyMsP95: 7 });
});

test('latencies are those of the newest 500 delivered events', async () => {
  const { t, settle, summary } = await rig();
  await settle(...Array.from({ length: 600 }, () => 'delivered' as const));
  await t.clock.advance(1);
  await settle(...Array.from({ length: 500 }, () => 'delivered' as const));
  expect(await summary()).toMatchObject({ delivered: 1_100, latencyMsMedian: 250, latencyMsP95: 475 });
});

test('a run of failures begins after the last success before it, however many came earlier', async () => {
  const { t, settle, summary } = await rig();
  for (const state of ['delivered', 'failed', 'delivered', 'skipped', 'expired'] as const) {
    await settle(state);
    await t.clock.advance(1_000);
  }
  const sinceMs = t.clock.now() - 2_000;
  expect(await summary()).toMatchObject({
    ...{ delivered: 2, undelivered: 3, failingSinceMs: sinceMs, undeliveredSinceFailing: 2 },
  });
});

test('a webhook without deliveries has no latency and no failure', async () => {
  const { t, summary } = await rig();
  expect(await summary()).toEqual({
    sinceMs: t.clock.now() - LOG_AGE_MAX_MS,
    ...{ delivered: 0, undelivered: 0, latencyMsMedian: null, latencyMsP95: null },
    ...{ failingSinceMs: null, undeliveredSinceFailing: 0 },
  });
});

test('tests and deliveries older than the log count for nothing but the run of failures', async () => {
  const { t, settle, webhookId, summary } = await rig();
  await settle('delivered');
  await t.clock.advance(1);
  const failedMs = t.clock.now();
  await settle('failed');
  await t.clock.advance(LOG_AGE_MAX_MS - 1);
  expect(await summary()).toMatchObject({ delivered: 1, undelivered: 1, latencyMsMedian: 1 });
  await t.clock.advance(1);
  expect(await summary()).toMatchObject({ delivered: 0, undelivered: 1, latencyMsMedian: null });
  await t.clock.advance(1);
  const webhook = await t.webhooks.registry.find({ webhookId });
  const deliveryId = await t.webhooks.log.sendTest(webhook as Webhook);
  for (const state of ['delivered', 'failed'] as const) {
    const attempt_log = '[{"error":null,"latency_ms":9}]';
    const changed = t.db.updateTable('webhook_deliveries').set({ state, attempt_log });
    await changed.where('delivery_id', '=', deliveryId).execute();
    expect(await summary()).toMatchObject({ delivered: 0, undelivered: 0, latencyMsMedian: null });
  }
  expect(await summary()).toMatchObject({ failingSinceMs: failedMs, undeliveredSinceFailing: 2 });
});

test('a delivery is found with its body, by its webhook alone', async () => {
  const { t, settle, webhookId, reports } = await rig();
  await settle('delivered');
  const range = { startMs: null, endMs: null, state: null };
  const [delivery] = await t.webhooks.log.page(webhookId, { limit: 9, after: null, range });
  const { deliveryId = '' } = delivery ?? {};
  const nowMs = t.clock.now();
  const found = await reports.find(webhookId, deliveryId);
  expect(found).toEqual({ delivery, body: toEvent(opportunity({ nowMs }))?.row.body });
  expect(delivery).toEqual({
    deliveryId: expect.stringMatching(/^dl_/),
    ...{ state: 'delivered', event: 'opportunity', tier: 'logical', ticker: 'BTC', attempts: 1 },
    ...{ marketId: `0x${'0'.repeat(64)}`, detectedAt: formatTime(nowMs), isTest: false },
    ...{ dueMs: nowMs, createdMs: nowMs, expiresMs: nowMs + 3_600_000 },
    log: [{ error: null, latency_ms: 1 }],
  });
  const other = await t.register();
  expect(await reports.find(other.webhookId, deliveryId)).toBeNull();
  expect(await reports.find(webhookId, 'dl_none')).toBeNull();
});
