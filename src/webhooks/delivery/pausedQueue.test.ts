import { expect, it } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, states } from '../../../test/support/webhooks.ts';

it('what waited when its owner paused it is not sent after a resumption, however soon', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  let status = 500;
  const to = answering(t, () => status);
  const dispatcher = await t.dispatcher(to);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect(to.attempts).toHaveLength(1);
  status = 200;
  await t.webhooks.registry.pause({ webhookId });
  expect(await states(t)).toEqual(['skipped']);
  await t.clock.advance(1);
  await t.webhooks.registry.resume({ webhookId });
  // The sender reads the registration only now.
  dispatcher.wake();
  await t.clock.advance(60_000);
  expect(to.attempts).toHaveLength(1);
  expect(await states(t)).toEqual(['skipped']);
});

it('deliveries that ended before their owner’s pause keep their states, also at the resumption', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const dispatcher = await t.dispatcher(answering(t, (_, n) => (n === 1 ? 200 : 410)));
  for (let n = 0; n < 2; n++) {
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(50);
  }
  await t.webhooks.registry.pause({ webhookId });
  await t.webhooks.registry.resume({ webhookId });
  expect(await states(t)).toEqual(['delivered', 'failed']);
});

it('what waited when its user was suspended is skipped, and not sent after the suspension', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, () => 500);
  const dispatcher = await t.dispatcher(to);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  const suspend = (suspended_ms: number | null) => t.db.updateTable('users').set({ suspended_ms }).execute();
  await suspend(1);
  // Registrations are read again after 5 s, before the third attempt.
  await t.clock.advance(5_500);
  expect([to.attempts.length, await states(t)]).toEqual([2, ['skipped']]);
  await suspend(null);
  await t.clock.advance(60_000);
  expect([to.attempts.length, await states(t)]).toEqual([2, ['skipped']]);
});
