import { expect, test } from 'vitest';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { InvalidInputError, TooManySendsError } from '../../runtime/errors.ts';
import { formatTime } from '../../schema/time.ts';
import { REDELIVERIES_PER_MINUTE, TESTS_PER_MINUTE } from '../delivery/sendQuotas.ts';
import type { DeliveryState } from '../schemaWebhooks.ts';
import { REDELIVERY_WINDOW_MS, TESTS_MAX } from './deliveryLog.ts';
import type { Webhook } from './registration.ts';
import type { NewWebhook } from './registry.ts';

/** A webhook with three tests, sent a second apart; `ids` oldest first. */
async function threeTests() {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const found = await t.webhooks.registry.find({ webhookId });
  if (found === null) throw new Error('not registered');
  const startMs = t.clock.now();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push(await t.webhooks.log.sendTest(found));
    await t.clock.advance(1_000);
  }
  return { t, log: t.webhooks.log, webhook: found, ids, startMs };
}

const ALL = { startMs: null, endMs: null, state: null };

test('a range has its start and not its end', async () => {
  const { log, webhook, ids, startMs } = await threeTests();
  const range = { ...ALL, startMs: startMs + 1_000, endMs: startMs + 2_000 };
  const page = await log.page(webhook.webhookId, { limit: 9, after: null, range });
  expect(page.map(({ deliveryId }) => deliveryId)).toEqual([ids[1]]);
  expect(await log.count(webhook.webhookId, range)).toBe(1);
  expect(await log.count(webhook.webhookId, { ...range, endMs: startMs + 2_001 })).toBe(2);
});

test('pages are newest first and repeat no delivery', async () => {
  const { log, webhook, ids } = await threeTests();
  const pages: string[][] = [];
  for (let after = null; pages.length < 5; ) {
    const page = await log.page(webhook.webhookId, { limit: 2, after, range: ALL });
    pages.push(page.map(({ deliveryId }) => deliveryId));
    const last = page.at(-1);
    if (last === undefined) break;
    after = last;
  }
  expect(pages).toEqual([[ids[2], ids[1]], [ids[0]], []]);
});

test('pages repeat and omit no delivery of one millisecond', async () => {
  const { t, log, webhook, ids } = await threeTests();
  await t.db.updateTable('webhook_deliveries').set({ created_ms: t.clock.now() }).execute();
  const paged: string[] = [];
  for (let after = null, page = 0; page < 4; page++) {
    const [delivery] = await log.page(webhook.webhookId, { limit: 1, after, range: ALL });
    if (delivery === undefined) break;
    paged.push(delivery.deliveryId);
    after = delivery;
  }
  expect(paged).toEqual(ids.toSorted().reverse());
});

test('a paused webhook is sent no test, and none of its deliveries again', async () => {
  const { t, log, webhook, ids } = await threeTests();
  const paused = await t.webhooks.registry.pause(webhook);
  const refusal = new InvalidInputError('the webhook is paused; resume it first');
  await expect(log.sendTest(paused)).rejects.toThrow(refusal);
  await expect(log.redeliver(paused, ids[0] as string)).rejects.toThrow(refusal);
  await expect(log.redeliverRange(paused, ALL)).rejects.toThrow(refusal);
  expect(await log.count(webhook.webhookId, ALL)).toBe(3);
});

test('a delivery is not sent again through another webhook', async () => {
  const { t, log, ids } = await threeTests();
  const other = await t.webhooks.registry.find(await t.register());
  expect(other && (await log.redeliver(other, ids[0] as string))).toBe(false);
});

/** The log's row and the body of a test of a webhook with these filters. */
async function testOf(wanted: Partial<NewWebhook>) {
  const t = await openTestWebhooks();
  await t.db.updateTable('users').set({ operator_ms: 1 }).execute();
  const { webhookId } = await t.register(wanted);
  const webhook = await t.webhooks.registry.find({ webhookId });
  const deliveryId = await t.webhooks.log.sendTest(webhook as Webhook);
  const [row] = await t.webhooks.log.page(webhookId, { limit: 9, after: null, range: ALL });
  const found = await t.webhooks.reports.find(webhookId, deliveryId);
  return { nowMs: t.clock.now(), deliveryId, row, body: JSON.parse(found?.body ?? '') };
}

test.each([
  [{}, 'logical', 'BTC', 'BUY_BOTH'],
  [{ tiers: ['endgame'], tickers: ['ETH', 'SOL'] }, 'endgame', 'ETH', 'BUY_YES'],
] as const)(
  'a test of a webhook with the filter %j is a signal of %s and %s',
  async (wanted, tier, ticker, direction) => {
    const { nowMs, deliveryId, row, body } = await testOf(wanted);
    const detectedAt = formatTime(nowMs);
    const marketId = `0x${'0'.repeat(64)}`;
    expect(body).toEqual({
      ...{ type: 'opportunity', tier, ticker, event_type: '5m', market_id: marketId, direction },
      ...{ polymarket_slug: 'test-event', polymarket_url: 'https://polymarket.com/event/test-event' },
      ...{ fill_price: 1, fill_spread: 0, expected_pnl_per_share: 0, est_fee_per_share: 0 },
      ...{ tau_minutes: 10, confidence: 'stale', model_yes_prob: 0.5, detected_at: detectedAt },
    });
    expect(row).toEqual({
      ...{ deliveryId, state: 'pending', event: 'opportunity', tier, ticker, marketId, detectedAt },
      ...{ attempts: 0, dueMs: nowMs, createdMs: nowMs, expiresMs: nowMs + 600_000, log: [], isTest: true },
    });
  },
);

test('a test of a webhook for events of the service is one of these', async () => {
  const { nowMs, deliveryId, row, body } = await testOf({ events: ['system.lag', 'system.gap'] });
  const detectedAt = formatTime(nowMs);
  expect(body).toEqual({
    ...{ type: 'system.gap', state: 'began', incident_id: 'inc_test', subject: 'test' },
    ...{ summary: 'This is a test, nothing is wrong.', began_at: detectedAt, ended_at: null, url: null },
  });
  expect(row).toEqual({
    ...{
      deliveryId,
      state: 'pending',
      event: 'system.gap',
      tier: null,
      ticker: null,
      marketId: null,
      detectedAt,
    },
    ...{ attempts: 0, dueMs: nowMs, createdMs: nowMs, expiresMs: nowMs + 86_400_000, log: [], isTest: true },
  });
});

test('redelivering a range begins with its oldest delivery and leaves out pending ones', async () => {
  const { t, log, webhook, ids } = await threeTests();
  const set = (state: DeliveryState, id: string | undefined) =>
    t.db
      .updateTable('webhook_deliveries')
      .set({ state, step: 4 })
      .where('delivery_id', '=', id ?? '')
      .execute();
  await set('failed', ids[0]);
  await set('expired', ids[1]);
  const rows = async () =>
    (await log.page(webhook.webhookId, { limit: 9, after: null, range: ALL })).map(
      ({ state, dueMs, expiresMs }) => {
        return [state, dueMs - t.clock.now(), expiresMs - t.clock.now()];
      },
    );
  const undelivered = { ...ALL, state: 'undelivered' } as const;
  expect(await log.count(webhook.webhookId, undelivered)).toBe(2);
  expect(await log.redeliverRange(webhook, { ...ALL, state: 'delivered' })).toBe(0);
  expect(await log.redeliverRange(webhook, undelivered)).toBe(2);
  expect(await rows()).toEqual([
    ['pending', -1_000, 599_000],
    ['pending', 0, REDELIVERY_WINDOW_MS],
    ['pending', 0, REDELIVERY_WINDOW_MS],
  ]);
  const steps = await t.db.selectFrom('webhook_deliveries').select('step').execute();
  expect(steps.map(({ step }) => step)).toEqual([0, 0, 0]);
  expect(await log.redeliverRange(webhook, ALL)).toBe(0);
  // A window that ends later than that of a redelivery stays.
  const laterMs = t.clock.now() + REDELIVERY_WINDOW_MS + 1;
  await t.db.updateTable('webhook_deliveries').set({ state: 'failed', expires_ms: laterMs }).execute();
  expect(await log.redeliver(webhook, ids[2] ?? '')).toBe(true);
  expect((await rows())[0]).toEqual(['pending', 0, REDELIVERY_WINDOW_MS + 1]);
});

test('of the quota of a minute that is nearly used up, the oldest of a range are sent', async () => {
  const { t, log, webhook, ids } = await threeTests();
  await t.db.updateTable('webhook_deliveries').set({ state: 'failed' }).execute();
  for (let n = 0; n < REDELIVERIES_PER_MINUTE - 2; n++) {
    await log.redeliver(webhook, ids[2] ?? '');
    await t.db.updateTable('webhook_deliveries').set({ state: 'failed' }).execute();
  }
  expect(await log.redeliverRange(webhook, ALL)).toBe(2);
  const page = await log.page(webhook.webhookId, {
    limit: 9,
    after: null,
    range: { ...ALL, state: 'pending' },
  });
  expect(page.map(({ deliveryId }) => deliveryId)).toEqual([ids[1], ids[0]]);
});

test('an eleventh test within a minute is refused, and not stored', async () => {
  const { t, log, webhook } = await threeTests();
  for (let n = 3; n < TESTS_PER_MINUTE; n++) await log.sendTest(webhook);
  await expect(log.sendTest(webhook)).rejects.toThrow(
    new TooManySendsError('At most 10 test events a minute are sent', 57),
  );
  expect(await log.count(webhook.webhookId, ALL)).toBe(TESTS_PER_MINUTE);
  await t.clock.advance(57_000);
  await log.sendTest(webhook);
});

test('no test of a webhook is deleted before it was sent, however many there are', async () => {
  const { t, log, webhook } = await threeTests();
  const send = async () => {
    await t.clock.advance(10_000);
    await log.sendTest(webhook);
    return await log.count(webhook.webhookId, ALL);
  };
  for (let n = 3; n < TESTS_MAX; n++) await send();
  expect(await send()).toBe(TESTS_MAX + 1);
  await t.db.updateTable('webhook_deliveries').set({ state: 'delivered' }).execute();
  expect(await send()).toBe(TESTS_MAX);
});
