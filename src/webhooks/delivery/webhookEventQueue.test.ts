import { expect, test } from 'vitest';
import { DELIVERY } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { WebhookEventQueue } from './webhookEventQueue.ts';

/** One more than a write takes. */
const EVENTS = 65;

test('after a write that succeeded, the next failure is tried again after the first delay', async () => {
  const clock = new FakeClock();
  const triedAt: number[] = [];
  const sizes: number[] = [];
  const queue = new WebhookEventQueue({
    ...{ clock, random: () => 0, log: silentLogger, metrics: new Metrics() },
    accept: async (events) => {
      triedAt.push(clock.monotonic());
      if ([1, 2, 4].includes(triedAt.length)) throw new Error('the database is away');
      sizes.push(events.length);
      return [];
    },
    dispatch: () => {},
  });
  for (let n = 0; n < EVENTS; n++) queue.enqueue(opportunity({ nowMs: clock.now(), n }));
  await clock.advance(10_000);
  const delays = triedAt.slice(1).map((at, n) => at - (triedAt[n] ?? 0));
  expect([delays, sizes]).toEqual([
    [10, 20, 0, 10],
    [64, 1],
  ]);
});

test('events beyond those that may wait push out the oldest, and each outcome is counted', async () => {
  const clock = new FakeClock();
  const metrics = new Metrics();
  let isAway = true;
  const accepted: string[] = [];
  const dispatched: number[] = [];
  const queue = new WebhookEventQueue({
    ...{ clock, random: () => 0, log: silentLogger, metrics },
    accept: async (events) => {
      if (isAway) throw new Error('the database is away');
      accepted.push(...events.map(({ row }) => row.body));
      return events.map(() => DELIVERY);
    },
    dispatch: (deliveries) => void dispatched.push(deliveries.length),
  });
  const told = Array.from({ length: 10_002 }, (_, n) => opportunity({ nowMs: clock.now(), n }));
  for (const one of told) queue.enqueue(one);
  queue.enqueue({ ...opportunity({ nowMs: clock.now() }), fill_price: Number.NaN });
  await clock.advance(1);
  isAway = false;
  await clock.advance(10_000);
  expect(accepted.map((body) => JSON.parse(body).polymarket_slug)).toEqual(
    told.slice(2).map(({ polymarket_slug: slug }) => slug),
  );
  expect(dispatched.reduce((sum, count) => sum + count, 0)).toBe(10_000);
  const values = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values.map(({ labels, value }) => [labels, value]);
  expect(await values('underround_webhook_events_total')).toEqual([
    [{ outcome: 'lost' }, 2],
    [{ outcome: 'refused' }, 1],
    [{ outcome: 'accepted' }, 10_000],
  ]);
  expect(await values('underround_webhook_store_failures_total')).toEqual([[{ work: 'events' }, 1]]);
});

test('closing tries the waiting events once more, and gives up if the database is still unavailable', async () => {
  const clock = new FakeClock();
  let tries = 0;
  const queue = new WebhookEventQueue({
    ...{ clock, random: () => 0, log: silentLogger, metrics: new Metrics() },
    accept: async () => {
      tries++;
      throw new Error('the database is away');
    },
    dispatch: () => {},
  });
  queue.enqueue(opportunity({ nowMs: clock.now() }));
  await clock.advance(0);
  expect([tries, clock.waiting]).toEqual([1, 1]);
  await queue.close();
  expect([tries, clock.waiting]).toEqual([2, 0]);
});

test('events that push out the one being written are all written', async () => {
  const clock = new FakeClock();
  const accepted: string[] = [];
  const writing: (() => void)[] = [];
  const queue = new WebhookEventQueue({
    ...{ clock, random: () => 0, log: silentLogger, metrics: new Metrics() },
    accept: async (events) => {
      if (accepted.length === 0) await new Promise<void>((written) => writing.push(written));
      accepted.push(...events.map(({ row }) => JSON.parse(row.body).polymarket_slug));
      return [];
    },
    dispatch: () => {},
  });
  const told = Array.from({ length: 10_001 }, (_, n) => opportunity({ nowMs: clock.now(), n }));
  for (const one of told) queue.enqueue(one);
  writing[0]?.();
  await queue.close();
  expect(accepted).toEqual(told.map(({ polymarket_slug: slug }) => slug));
});
