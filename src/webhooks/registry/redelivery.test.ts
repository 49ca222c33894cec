import { describe, expect, it, onTestFinished } from 'vitest';
import { DELIVERY, deliveryQueueOn } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { lateReads } from '../../../test/support/lateReads.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, replied, states } from '../../../test/support/webhooks.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { ALONE } from '../delivery/soleSender.ts';
import { REDELIVERY_WINDOW_MS } from './deliveryLog.ts';

describe('a manual redelivery', () => {
  /** One delivery that failed three times, and whose next try is in half a minute. */
  async function failedThrice() {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const to = answering(t, () => 500);
    const own = await openControlDatabase({ dataDir: t.dataDir, databaseUrl: null });
    onTestFinished(() => own.destroy());
    const late = lateReads(own, 'due');
    const dispatcher = await t.dispatcher(to, 'closed', ALONE, late.db);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 1 }));
    await t.clock.advance(6500);
    expect(to.attempts).toHaveLength(3);
    const deliveryId = to.attempts[0]?.delivery.deliveryId ?? '';
    const redeliver = async () => {
      const webhook = await t.webhooks.registry.find({ webhookId });
      expect(webhook && (await t.webhooks.log.redeliver(webhook, deliveryId))).toBe(true);
      return t.clock.now();
    };
    return { t, to, dispatcher, redeliver, late };
  }

  it('is sent at once though its next try was later, and retried from the first pause on, past the market’s end', async () => {
    const { t, to, dispatcher, redeliver } = await failedThrice();
    const askedMs = await redeliver();
    dispatcher.wake();
    await t.clock.advance(REDELIVERY_WINDOW_MS);
    expect(to.attempts.slice(3).map(({ at }) => at - askedMs)).toEqual([
      ...[0, 1000, 6000, 36_000, 156_000, 756_000],
    ]);
    expect(await states(t)).toEqual(['expired']);
  });

  it.each([
    ['fails before the market’s end', 1, 500, [0, 6_000, 12_000, 18_000], 'pending'],
    ['fails when the market has ended', 0.05, 500, [0, 6_000, 12_000, 22_000], 'pending'],
    ['is rejected for good', 1, 410, [0, 6_000], 'failed'],
    ['succeeds', 1, 200, [0], 'delivered'],
  ])(
    'during an attempt that %s: is tried again within a second if that one failed',
    async (_, minutes, status, expected, state) => {
      const t = await openTestWebhooks();
      const { webhookId } = await t.register();
      const startMs = t.clock.now();
      const times: number[] = [];
      let deliveryId = '';
      const dispatcher = await t.dispatcher({
        attempt: async (_to, delivery) => {
          times.push(t.clock.now() - startMs);
          deliveryId = delivery.deliveryId;
          await sleep(t.clock, 5_000);
          return replied(status, t.clock);
        },
      });
      onTestFinished(() => t.clock.advance(5_000));
      dispatcher.enqueue(opportunity({ nowMs: startMs }, { tau_minutes: minutes }));
      await t.clock.advance(2_500);
      const webhook = await t.webhooks.registry.find({ webhookId });
      expect(webhook && (await t.webhooks.log.redeliver(webhook, deliveryId))).toBe(true);
      dispatcher.wake();
      await t.clock.advance(20_000);
      expect(times).toEqual(expected);
      expect(await states(t)).toEqual([state]);
    },
  );

  it('is found within a second without a notification', async () => {
    const { t, to, redeliver } = await failedThrice();
    const askedMs = await redeliver();
    await t.clock.advance(1000);
    expect(to.attempts[3]?.at).toBeLessThanOrEqual(askedMs + 1000);
  });

  it('is found at once though the sender is polling at that time', async () => {
    const { t, to, dispatcher, redeliver, late } = await failedThrice();
    const polling = late.hold();
    dispatcher.wake();
    await polling;
    const askedMs = await redeliver();
    dispatcher.wake();
    late.letGo();
    await t.clock.advance(100);
    expect(to.attempts[3]?.at).toBeLessThanOrEqual(askedMs + 100);
  });

  it('is distinguished from the row of the previous attempt, which is written a little later', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const random = () => 0.5;
    const queue = deliveryQueueOn(clock, random, async () => {
      times.push(clock.now());
      return replied(500, clock);
    });
    const startedMs = clock.now();
    const row: Delivery = { ...DELIVERY, dueMs: startedMs };
    queue.add(row);
    await clock.advance(100);
    queue.add(row);
    await clock.advance(1500);
    expect(times.map((at) => at - startedMs)).toEqual([0, 1000]);
    queue.add({ ...row, attempts: 2, step: 0, dueMs: clock.now() });
    await clock.advance(1500);
    expect(times.map((at) => at - startedMs)).toEqual([0, 1000, 1600, 2600]);
    await queue.close();
  });
});
