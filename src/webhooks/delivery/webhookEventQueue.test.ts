import { expect, test } from 'vitest';
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
