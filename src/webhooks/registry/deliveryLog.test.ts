import { expect, test } from 'vitest';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { InvalidInputError } from '../../runtime/errors.ts';

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

test('a paused webhook is sent no test, and none of its deliveries again', async () => {
  const { t, log, webhook, ids } = await threeTests();
  const paused = await t.webhooks.registry.pause(webhook);
  await expect(log.sendTest(paused)).rejects.toThrow(InvalidInputError);
  await expect(log.redeliver(paused, ids[0] as string)).rejects.toThrow(InvalidInputError);
  expect(await log.count(webhook.webhookId, ALL)).toBe(3);
});

test('a delivery is not sent again through another webhook', async () => {
  const { t, log, ids } = await threeTests();
  const other = await t.webhooks.registry.find(await t.register());
  expect(other && (await log.redeliver(other, ids[0] as string))).toBe(false);
});
