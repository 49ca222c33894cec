import { expect, it } from 'vitest';
import { openDashboard } from '../../../test/support/dashboard.ts';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { TooManyLookupsError } from '../../runtime/errors.ts';
import { MASK } from '../../schema/api/body.ts';
import type { WebhookControl } from '../../webhooks/delivery/webhooks.ts';
import type { LoggedDelivery } from '../../webhooks/registry/deliveryLog.ts';
import { DELIVERIES_A_TURN } from './webhookDeliveries.ts';

it('a registration while too many names of its user are looked up is 429 with the time to wait', async () => {
  const create = async () => {
    throw new TooManyLookupsError('4 host names of yours are being looked up', 5);
  };
  const webhooks = { registry: { create } } as unknown as WebhookControl;
  const { signedUp, accounts } = await openDashboard({ webhooks });
  const user = await signedUp('a@example.com');
  await accounts.users.setTier('a@example.com', 'premium');
  const refused = await user.ask('POST', '/app/webhooks', { url: 'https://hooks.example.com/', label: 'x' });
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  expect(refused.json()).toEqual({ detail: '4 host names of yours are being looked up; retry in 5 s' });
});

it.each([
  ['leads to a private address', 'https://api.telegram.org/bot1:TOKEN_OF_THE_BOT/sendMessage?chat_id=2'],
  ['is not one of the chat', 'https://hooks.example.com/bot1:TOKEN_OF_THE_BOT'],
  ['is not https', 'http://api.telegram.org/bot1:TOKEN_OF_THE_BOT/sendMessage?chat_id=2'],
])('the refusal of a chat’s URL that %s does not repeat its secret', async (_, url) => {
  const { signedUp, accounts } = await openDashboard();
  const user = await signedUp('a@example.com');
  await accounts.users.setTier('a@example.com', 'premium');
  const refused = await user.ask('POST', '/app/webhooks', { url, format: 'telegram' });
  expect(refused.statusCode).toBe(422);
  expect(refused.json().detail).toMatchObject([{ loc: ['body', 'url'], input: MASK }]);
  expect(refused.body).not.toContain('TOKEN_OF_THE_BOT');
});

it('a list of deliveries is read in pages and shows 100 characters of a reply, one delivery all of them', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const short = `${'&quot;'.repeat(16)}abcd`;
  const heads = ['', short, `${'x'.repeat(97)}&quot;${'y'.repeat(500)}`];
  const log = heads.map((response_head) => ({
    at_ms: 1,
    status: 500,
    latency_ms: 2,
    error: 'e',
    response_head,
  }));
  const rows = Array.from({ length: DELIVERIES_A_TURN + 2 }, (_, at) => ({
    ...{ deliveryId: `dl_${at}`, state: 'failed', tier: 'logical', ticker: 'BTC', marketId: '0x1' },
    ...{ detectedAt: 'now', createdMs: at, expiresMs: 1, dueMs: 1, attempts: 3, log, isTest: false },
    event: 'opportunity',
  })) as unknown as LoggedDelivery[];
  const asked: number[] = [];
  const deliveries = {
    page: async (_id: string, { limit, after }: { limit: number; after: { createdMs: number } | null }) => {
      asked.push(limit);
      return rows.slice(after ? after.createdMs + 1 : 0).slice(0, limit);
    },
  };
  const webhooks = {
    registry: { find: async () => await t.webhooks.registry.find({ webhookId }) },
    log: deliveries,
    reports: { find: async () => ({ delivery: rows[0], body: '{}' }) },
  } as unknown as WebhookControl;
  const { signedUp } = await openDashboard({ webhooks });
  const user = await signedUp('a@example.com');
  const path = `/app/webhooks/${webhookId}/deliveries`;
  const listed = (await user.ask('GET', `${path}?limit=1000`)).json();
  expect(listed.deliveries.map((one: { delivery_id: string }) => one.delivery_id)).toEqual(
    rows.map(({ deliveryId }) => deliveryId),
  );
  expect(asked).toEqual([DELIVERIES_A_TURN + 1, DELIVERIES_A_TURN + 1]);
  const headsOf = (one: { attempt_log: { response_head: string }[] }) =>
    one.attempt_log.map((attempt) => attempt.response_head);
  expect(headsOf(listed.deliveries[0])).toEqual(['', short, 'x'.repeat(97)]);
  expect(headsOf((await user.ask('GET', `${path}/dl_0`)).json())).toEqual(heads);
});
