import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import { InvalidInputError, TooManySecretsError } from '../../runtime/errors.ts';
import { MAX_WEBHOOKS_PER_USER, PREVIOUS_SECRETS_MAX, ROTATION_OVERLAP_MS } from './registry.ts';

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
    await expect(change()).rejects.toThrow(InvalidInputError);
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
  await registry.rotate({ webhookId });
  await expect(registry.rotate({ webhookId })).rejects.toThrow(TooManySecretsError);
});
