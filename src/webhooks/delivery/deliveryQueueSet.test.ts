import { expect, test } from 'vitest';
import { answering, openTestWebhooks } from '../../../test/support/webhooks.ts';

test('the connections of a deleted webhook are closed, and those of another stay', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  await t.register();
  const forgotten: string[] = [];
  const sender = { ...answering(t, () => 200), forget: (id: string) => void forgotten.push(id) };
  await t.dispatcher(sender);
  await t.clock.advance(2_000);
  expect(forgotten).toEqual([]);
  await t.webhooks.registry.delete({ webhookId });
  await t.clock.advance(2_000);
  expect(forgotten).toEqual([webhookId]);
});
