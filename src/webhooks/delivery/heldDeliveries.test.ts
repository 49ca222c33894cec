import { expect, it, onTestFinished } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, replied, states } from '../../../test/support/webhooks.ts';
import { sleep } from '../../runtime/clock.ts';

it('an attempt that began before the market’s end is pending until it ends, and counts', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const dispatcher = await t.dispatcher({
    attempt: async () => {
      await sleep(t.clock, 4_999);
      return replied(200, t.clock);
    },
  });
  // A failed test must not wait for an attempt that never ends.
  onTestFinished(() => t.clock.advance(5_000));
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 0.01 }));
  await t.clock.advance(4_500);
  expect(await states(t)).toEqual(['pending']);
  await t.clock.advance(600);
  expect(await states(t)).toEqual(['delivered']);
});

it('a delivery that succeeded before the market’s end stays delivered after it', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const dispatcher = await t.dispatcher(answering(t, () => 200));
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 0.01 }));
  await t.clock.advance(60_000);
  expect(await states(t)).toEqual(['delivered']);
});

it('finished deliveries are counted by state, a pause once, and pending ones as held', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, (_, n) => (n === 1 ? 200 : 500));
  const dispatcher = await t.dispatcher(to);
  const values = async (name: string) =>
    (await t.metrics.registry.getSingleMetric(`underround_webhook_${name}`)?.get())?.values.map(
      ({ labels, value }) => ({ ...labels, value }),
    );
  for (let n = 0; n < 2; n++) {
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(50);
  }
  await t.clock.advance(1_000);
  expect(await values('held')).toEqual([{ value: 1 }]);
  expect(await values('deliveries_total')).toEqual([{ state: 'delivered', value: 1 }]);
  expect(await values('paused_total')).toEqual([{ value: 0 }]);
  for (let n = 2; n < 12; n++) dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }));
  await t.clock.advance(2_000);
  expect(await values('held')).toEqual([{ value: 0 }]);
  expect(await values('deliveries_total')).toEqual([
    { state: 'delivered', value: 1 },
    { state: 'skipped', value: 11 },
  ]);
  expect(await values('paused_total')).toEqual([{ value: 1 }]);
});

it('a process that is elected again sends at once, though no registration changed', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, () => 200);
  let isUs = true;
  const dispatcher = await t.dispatcher(to, 'closed', { isUs: async () => isUs, leave: async () => {} });
  isUs = false;
  await t.clock.advance(1_000);
  isUs = true;
  await t.clock.advance(1_000);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect(to.attempts).toHaveLength(1);
});

it('a process that is elected again does not repeat an attempt that is still in flight', async () => {
  const t = await openTestWebhooks();
  await t.register();
  let isUs = true;
  const startMs = t.clock.now();
  const times: number[] = [];
  const attempt = async () => {
    times.push(t.clock.now() - startMs);
    await sleep(t.clock, 4_900);
    return replied(200, t.clock);
  };
  const dispatcher = await t.dispatcher({ attempt }, 'closed', {
    isUs: async () => isUs,
    leave: async () => {},
  });
  // A failed test must not wait for attempts that never end.
  onTestFinished(() => t.clock.advance(10_000));
  dispatcher.enqueue(opportunity({ nowMs: startMs }));
  await t.clock.advance(500);
  isUs = false;
  await t.clock.advance(1_000);
  isUs = true;
  await t.clock.advance(9_000);
  expect([times.length, await states(t), dispatcher.isSending]).toEqual([1, ['delivered'], true]);
});

it('a process that cannot learn who sends stores its events, and sends them once it is elected', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, () => 200);
  let isUs = async () => true;
  const dispatcher = await t.dispatcher(to, 'closed', { isUs: () => isUs(), leave: async () => {} });
  isUs = async () => {
    throw new Error('no answer');
  };
  await t.clock.advance(1_000);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect([dispatcher.isSending, to.attempts.length, await states(t)]).toEqual([false, 0, ['pending']]);
  isUs = async () => true;
  await t.clock.advance(1_050);
  expect([dispatcher.isSending, await states(t)]).toEqual([true, ['delivered']]);
});

it('a process that does not send stores its events for the one that does', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const to = answering(t, () => 200);
  const silent = await t.dispatcher(to, 'closed', { isUs: async () => false, leave: async () => {} });
  silent.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(2_000);
  expect([to.attempts, await states(t)]).toEqual([[], ['pending']]);
  await t.dispatcher(to);
  await t.clock.advance(100);
  expect(to.attempts.map((attempt) => attempt.webhookId)).toEqual([webhookId]);
  expect(await states(t)).toEqual(['delivered']);
});

it('while the first deliveries wait for their answers, further ones are read until a thousand are held', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const none = { attempt: async () => replied(200, t.clock) };
  const silent = await t.dispatcher(none, 'closed', { isUs: async () => false, leave: async () => {} });
  for (let n = 0; n < 1_100; n++) silent.enqueue(opportunity({ nowMs: t.clock.now(), n }));
  await t.clock.advance(2_000);
  expect(await states(t)).toHaveLength(1_100);
  const ends: (() => void)[] = [];
  let isOver = false;
  await t.dispatcher({
    attempt: async () => {
      if (!isOver) await new Promise<void>((resolve) => ends.push(resolve));
      return replied(200, t.clock);
    },
  });
  onTestFinished(() => {
    isOver = true;
    for (const end of ends) end();
  });
  const held = async () =>
    (await t.metrics.registry.getSingleMetric('underround_webhook_held')?.get())?.values[0]?.value;
  // The number is that of the beginning of the last poll.
  for (const count of [500, 1_000, 1_000]) {
    await t.clock.advance(1_000);
    await expect.poll(held).toBe(count);
  }
  expect(ends).toHaveLength(10);
});

it('an attempt that succeeds after its user was suspended does not change the registration', async () => {
  const t = await openTestWebhooks();
  await t.register();
  let attempts = 0;
  const dispatcher = await t.dispatcher({
    attempt: async () => {
      if (++attempts === 1) return replied(500, t.clock);
      await sleep(t.clock, 8_000);
      return replied(200, t.clock);
    },
  });
  // A failed test must not wait for an attempt that never ends.
  onTestFinished(() => t.clock.advance(8_000));
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(2_000);
  await t.db.updateTable('users').set({ suspended_ms: 1 }).where('user_id', '=', t.userId).execute();
  await t.clock.advance(10_000);
  const registered = t.db.selectFrom('webhooks').select(['state', 'pause_reason', 'consecutive_failures']);
  expect([attempts, await states(t)]).toEqual([2, ['delivered']]);
  expect(await registered.execute()).toEqual([
    { state: 'active', pause_reason: null, consecutive_failures: 1 },
  ]);
});

it('an attempt of a redelivery in flight is not repeated when another delivery ends', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const slugs: string[] = [];
  const dispatcher = await t.dispatcher({
    attempt: async (_, { body }) => {
      slugs.push(JSON.parse(body.toString()).polymarket_slug.slice(-1));
      if (slugs.length === 2) await sleep(t.clock, 4_000);
      return replied(200, t.clock);
    },
  });
  // A failed test must not wait for an attempt that never ends.
  onTestFinished(() => t.clock.advance(4_000));
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 1 }));
  await t.clock.advance(50);
  const webhook = (await t.webhooks.registry.find({ webhookId }))!;
  const range = { startMs: null, endMs: null, state: null };
  expect(await t.webhooks.log.redeliverRange(webhook, range)).toBe(1);
  dispatcher.wake();
  await t.clock.advance(50);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
  await t.clock.advance(3_000);
  expect(slugs).toEqual(['1', '1', '2']);
  await t.clock.advance(3_000);
  expect([slugs, await states(t)]).toEqual([
    ['1', '1', '2'],
    ['delivered', 'delivered'],
  ]);
});
