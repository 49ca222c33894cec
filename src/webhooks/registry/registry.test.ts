import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, states } from '../../../test/support/webhooks.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import {
  InvalidInputError,
  OperatorOnlyError,
  TooManySecretsError,
  UnsignedWebhookError,
} from '../../runtime/errors.ts';
import { ALONE } from '../delivery/soleSender.ts';
import { toSigningWebhook } from './registration.ts';
import { MAX_WEBHOOKS_PER_USER, PREVIOUS_SECRETS_MAX, ROTATION_OVERLAP_MS } from './registry.ts';
import { webhooksRevision } from './revision.ts';

/** A webhook, and another user of the same service. */
async function registered() {
  const t = await openTestWebhooks();
  const sources = { clock: t.clock, randomBytes };
  const { userId: stranger } = await new UserRepository(t.db, sources).create('b@example.com', 'premium');
  const { webhookId } = await t.register();
  return { t, registry: t.webhooks.registry, webhookId, stranger };
}

test('a user has twenty webhooks at most; another user’s do not count', async () => {
  const { t, registry, stranger } = await registered();
  for (let n = 1; n < MAX_WEBHOOKS_PER_USER; n++) await t.register();
  await expect(t.register()).rejects.toThrow('too many webhooks');
  expect(await registry.list({ userId: t.userId })).toHaveLength(20);
  await t.register({ userId: stranger });
  expect(await registry.list({ userId: stranger })).toHaveLength(1);
});

test('another user’s webhook can be neither found nor changed', async () => {
  const { t, registry, webhookId, stranger } = await registered();
  const name = { webhookId, userId: stranger };
  expect(await registry.find(name)).toBeNull();
  for (const change of [
    () => registry.update(name, { label: 'mine' }),
    () => registry.pause(name),
    () => registry.resume(name),
    () => registry.rotate(name),
    () => registry.delete(name),
  ]) {
    await expect(change()).rejects.toThrow(
      new InvalidInputError('no webhook with this id; `webhooks list` shows the ids'),
    );
  }
  const own = { webhookId, userId: t.userId };
  expect(await registry.find(own)).toMatchObject({ label: 'bot', state: 'active', previousUntilMs: null });
});

test('a replaced secret signs for a day to the millisecond, and only five do at once', async () => {
  const { t, registry, webhookId } = await registered();
  for (let n = 0; n < PREVIOUS_SECRETS_MAX; n++) {
    await registry.rotate({ webhookId });
    await t.clock.advance(1);
  }
  await t.clock.advance(ROTATION_OVERLAP_MS - PREVIOUS_SECRETS_MAX - 1);
  await expect(registry.rotate({ webhookId })).rejects.toThrow(TooManySecretsError);
  await t.clock.advance(1);
  const { webhook } = await registry.rotate({ webhookId });
  expect(webhook.previousUntilMs).toBe(t.clock.now() + ROTATION_OVERLAP_MS);
  await expect(registry.rotate({ webhookId })).rejects.toThrow(TooManySecretsError);
});

test('a webhook is shown as it was registered, and as each change leaves it', async () => {
  const t = await openTestWebhooks();
  const { registry } = t.webhooks;
  const { userId } = t;
  const createdMs = t.clock.now();
  const { webhookId } = await t.register({
    url: 'https://hooks.example.com/in?a=1#part',
    tickers: ['SOL', 'BTC'],
  });
  const registered = {
    ...{ webhookId, userId, url: 'https://hooks.example.com/in?a=1', format: 'signed', label: 'bot' },
    ...{
      events: ['opportunity'],
      tiers: ['logical', 'endgame'],
      tickers: ['BTC', 'SOL'],
      filtersSinceMs: {},
    },
    ...{ state: 'active', pauseReason: null, pausedMs: null, consecutiveFailures: 0 },
    ...{ createdMs, activeSinceMs: createdMs, previousUntilMs: null },
  };
  const name = { webhookId, userId };
  expect(webhookId).toMatch(/^wh_/);
  expect(await registry.find(name)).toEqual(registered);
  expect(await registry.list({ userId })).toEqual([registered]);
  await t.clock.advance(5);
  const nowMs = t.clock.now();
  expect(await registry.update(name, { tiers: ['endgame'], tickers: null })).toEqual({
    ...{ ...registered, tiers: ['endgame'], tickers: null },
    filtersSinceMs: { ETH: nowMs, XRP: nowMs, DOGE: nowMs, BNB: nowMs, HYPE: nowMs, ZEC: nowMs },
  });
  const narrowed = await registry.find(name);
  expect(await registry.update(name, { label: 'mine' })).toEqual({ ...narrowed, label: 'mine' });
  const same = { tickers: ['BTC', 'SOL'], tiers: ['logical', 'endgame'] } as const;
  expect(await registry.update(name, { ...same, label: 'other' })).toEqual({
    ...{ ...registered, label: 'other', filtersSinceMs: { logical: nowMs } },
  });
  await expect(registry.update(name, { label: '' })).rejects.toThrow(InvalidInputError);
  const active = await registry.find(name);
  expect(await registry.resume(name)).toEqual(active);
  const paused = { ...active, state: 'paused', pauseReason: 'owner', pausedMs: nowMs };
  expect(await registry.pause(name)).toEqual(paused);
  await t.clock.advance(5);
  expect(await registry.pause(name)).toEqual(paused);
  await t.db.updateTable('webhooks').set({ consecutive_failures: 3 }).execute();
  expect(await registry.resume(name)).toEqual({ ...active, activeSinceMs: nowMs + 5 });
  await registry.delete(name);
  expect(await registry.find(name)).toBeNull();
});

test('a pause skips the waiting deliveries of its webhook, and a deletion changes no delivery of another webhook', async () => {
  const { t, registry, webhookId } = await registered();
  const other = await t.register();
  // Stores the events, and leaves sending to another process.
  const stores = await t.dispatcher(
    answering(t, () => 200),
    'closed',
    { ...ALONE, isUs: async () => false },
  );
  stores.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(1_000);
  expect(await states(t)).toEqual(['pending', 'pending']);
  await registry.pause({ webhookId });
  expect((await states(t)).sort()).toEqual(['pending', 'skipped']);
  await registry.delete({ webhookId });
  const { log } = t.webhooks;
  const all = { startMs: null, endMs: null, state: null };
  const page = await log.page(other.webhookId, { limit: 9, after: null, range: all });
  expect(page.map(({ state }) => state)).toEqual(['pending']);
});

test('each change is announced to the processes that send', async () => {
  const { t, registry, webhookId } = await registered();
  const seen = [await webhooksRevision.read(t.db)];
  for (const change of [
    () => t.register(),
    () => registry.update({ webhookId }, { label: 'other' }),
    () => registry.pause({ webhookId }),
    () => registry.resume({ webhookId }),
    () => registry.rotate({ webhookId }),
    () => registry.delete({ webhookId }),
  ]) {
    await change();
    seen.push(await webhooksRevision.read(t.db));
  }
  expect(new Set(seen).size).toBe(7);
});

test('only an operator is sent events of the service', async () => {
  const t = await openTestWebhooks();
  const { registry } = t.webhooks;
  const refusal = new OperatorOnlyError('only an operator is sent events of the service (system.*)');
  const events = ['opportunity', 'system.lag'] as const;
  await expect(t.register({ events })).rejects.toThrow(refusal);
  const { webhookId } = await t.register();
  await expect(registry.update({ webhookId }, { events })).rejects.toThrow(refusal);
  await expect(registry.update({ webhookId }, { events: ['system.x' as 'system.lag'] })).rejects.toThrow(
    InvalidInputError,
  );
  expect(await registry.update({ webhookId }, { events: ['opportunity'] })).toMatchObject({
    events: ['opportunity'],
  });
  await t.db.updateTable('users').set({ operator_ms: 0 }).execute();
  expect(await registry.update({ webhookId }, { events })).toMatchObject({
    ...{ events, filtersSinceMs: { 'system.lag': t.clock.now() } },
  });
  expect((await t.register({ events })).webhookId).toMatch(/^wh_/);
});

test('a chat has no secret, and its URL is shown without the token', async () => {
  const t = await openTestWebhooks();
  const url = 'https://discord.com/api/webhooks/1/verySecretToken';
  const issued = await t.webhooks.registry.create({
    ...{ userId: t.userId, url, label: 'chat', tiers: null, tickers: null, format: 'discord' },
  });
  expect([issued?.secret, issued?.webhook.url]).toEqual([null, 'https://discord.com/api/webhooks/1/***']);
  const row = await t.db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
  expect(JSON.stringify(row)).not.toContain('verySecretToken');
  const signing = toSigningWebhook(row, t.webhooks.box);
  expect([signing.target, signing.chat?.path]).toEqual([url, '/api/webhooks/1/verySecretToken']);
  await expect(t.webhooks.registry.rotate({ webhookId: row.webhook_id })).rejects.toThrow(
    new UnsignedWebhookError(),
  );
});

test('the operator lists the webhooks of all users, oldest first', async () => {
  const { t, registry, webhookId, stranger } = await registered();
  await t.clock.advance(1);
  const second = await t.register({ userId: stranger });
  await t.clock.advance(1);
  const third = await t.register();
  const ids = (await registry.list()).map((webhook) => webhook.webhookId);
  expect(ids).toEqual([webhookId, second.webhookId, third.webhookId]);
});
