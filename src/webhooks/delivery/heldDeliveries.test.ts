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
