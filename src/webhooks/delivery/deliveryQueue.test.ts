import { beforeEach, expect, test } from 'vitest';
import { DELIVERY, deliveryQueueOn } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { replied } from '../../../test/support/webhooks.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import type { DeliveryChange } from './delivery.ts';
import { type DeliveryQueue, type DeliveryQueueOptions, HELD_MAX } from './deliveryQueue.ts';

let clock: FakeClock;
let attempted: string[];
let queue: DeliveryQueue;

beforeEach(() => {
  clock = new FakeClock();
  attempted = [];
  queue = deliveryQueueOn(clock, () => 0, attempt);
});

const attempt: DeliveryQueueOptions['attempt'] = async (_, { deliveryId }) => {
  attempted.push(deliveryId);
  const reply = { status: 200, responseHead: '', error: null, retryAfterMs: null, pauseMs: null };
  return { outcome: 'delivered', ...reply, startedMs: clock.now(), latencyMs: 1 };
};

/** Opens a new queue whose every attempt gets this status. @returns The list of its changes, which grows. */
function answered(status: number, facts: Partial<SigningWebhook> = {}): DeliveryChange[] {
  const changes: DeliveryChange[] = [];
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async () => replied(status, clock),
    facts,
    (change) => void changes.push(change),
  );
  return changes;
}

test('a delivery is not attempted from the millisecond of its expiry on', () => {
  queue.add({ ...DELIVERY, deliveryId: 'late', expiresMs: clock.now() });
  queue.add({ ...DELIVERY, deliveryId: 'just', expiresMs: clock.now() + 1 });
  expect(attempted).toEqual(['just']);
});

test('a waiting delivery is hastened by its row, and not by an older version of it', async () => {
  const waiting = { ...DELIVERY, attempts: 1, dueMs: clock.now() + 10_000 };
  queue.add(waiting);
  queue.add({ ...waiting, attempts: 0, dueMs: clock.now() + 1_000 });
  queue.add({ ...waiting, dueMs: clock.now() + 20_000 });
  await clock.advance(9_000);
  expect([attempted, queue.isWaiting]).toEqual([[], true]);
  queue.add({ ...waiting, dueMs: clock.now() });
  expect(attempted).toEqual(['dl_1']);
  await clock.advance(10_000);
  expect(attempted).toHaveLength(1);
});

test.each([
  [-1, 'expired'],
  [0, 'expired'],
  [1, 'pending'],
] as const)(
  'a chat’s pause that ends %i ms before the expiry leaves the delivery %s',
  async (leftMs, state) => {
    const changes: DeliveryChange[] = [];
    const pauseMs = 5_000;
    const delivery = { ...DELIVERY, expiresMs: clock.now() + pauseMs + leftMs };
    const limited = { ...replied(429, clock), outcome: 'rate_limited', pauseMs } as const;
    queue = deliveryQueueOn(
      clock,
      () => 0,
      async () => limited,
      {},
      (change) => void changes.push(change),
    );
    queue.add(delivery);
    await clock.advance(0);
    const { startedMs: at_ms, latencyMs: latency_ms, responseHead: response_head, status, error } = limited;
    const log = [{ at_ms, status, latency_ms, error, response_head }];
    const tried = { ...delivery, attempts: 1, step: 0, dueMs: clock.now() + pauseMs, log };
    expect(changes).toEqual([{ state, delivery: tried, rowDueMs: delivery.dueMs }]);
    await queue.close();
  },
);

test.each([
  [0, 'expired'],
  [1, 'pending'],
] as const)('a next try %i ms before the expiry leaves the delivery %s', async (leftMs, state) => {
  const changes = answered(500);
  queue.add({ ...DELIVERY, expiresMs: clock.now() + 800 + leftMs });
  await clock.advance(0);
  expect(changes.map((change) => change.state)).toEqual([state]);
  await queue.close();
});

test('a chat is written to again after its pause although the wall clock was set back', async () => {
  const chat = { path: '/', spacingMs: 1_000 } as SigningWebhook['chat'];
  queue = deliveryQueueOn(clock, () => 0, attempt, { chat });
  queue.add({ ...DELIVERY, deliveryId: 'first' });
  queue.add({ ...DELIVERY, deliveryId: 'second' });
  await clock.advance(0);
  expect(attempted).toEqual(['first']);
  clock.stepWall(-3_600_000);
  await clock.advance(1_000);
  expect(attempted).toEqual(['first', 'second']);
});

test('a chat’s pause shorter than its spacing does not shorten that', async () => {
  const chat = { path: '/', spacingMs: 3_000 } as SigningWebhook['chat'];
  const startMs = clock.now();
  const times: number[] = [];
  const limited = { ...replied(429, clock), outcome: 'rate_limited', pauseMs: 1_000 } as const;
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async () => {
      times.push(clock.now() - startMs);
      return limited;
    },
    { chat },
  );
  queue.add(DELIVERY);
  await clock.advance(3_000);
  expect(times).toEqual([0, 3_000]);
  await queue.close();
});

test('a delivery that expires during the pause of its chat is reported at the next event', async () => {
  const chat = { path: '/', spacingMs: 3_600_000 } as SigningWebhook['chat'];
  const changes: unknown[] = [];
  queue = deliveryQueueOn(
    clock,
    () => 0,
    attempt,
    { chat },
    ({ delivery, state }) => void changes.push([delivery.deliveryId, state]),
  );
  queue.add({ ...DELIVERY, deliveryId: 'first' });
  queue.add({ ...DELIVERY, deliveryId: 'second', expiresMs: clock.now() + 1_000 });
  await clock.advance(1_000);
  expect(changes).toEqual([['first', 'delivered']]);
  queue.add({ ...DELIVERY, deliveryId: 'third' });
  expect(changes).toEqual([
    ['first', 'delivered'],
    ['second', 'expired'],
  ]);
  await queue.close();
});

test('a chat that answers later than its spacing gets no message before its answer', async () => {
  const chat = { path: '/', spacingMs: 1_000 } as SigningWebhook['chat'];
  const answers: (() => void)[] = [];
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async (webhook, delivery) => {
      await new Promise<void>((answered) => answers.push(answered));
      return await attempt(webhook, delivery);
    },
    { chat },
  );
  queue.add({ ...DELIVERY, deliveryId: 'first' });
  queue.add({ ...DELIVERY, deliveryId: 'second' });
  await clock.advance(5_000);
  expect(answers).toHaveLength(1);
  answers[0]?.();
  await clock.advance(0);
  expect([attempted, answers.length]).toEqual([['first'], 2]);
  answers[1]?.();
  await queue.close();
});

test('closing a queue whose chat asked for a pause, and whose deliveries wait, leaves no timer', async () => {
  const chat = { path: '/', spacingMs: 3_600_000 } as SigningWebhook['chat'];
  queue = deliveryQueueOn(clock, () => 0, attempt, { chat });
  queue.add({ ...DELIVERY, deliveryId: 'first' });
  queue.add({ ...DELIVERY, deliveryId: 'second' });
  queue.add({ ...DELIVERY, deliveryId: 'third', dueMs: clock.now() + 1_000 });
  await clock.advance(0);
  expect(clock.waiting).toBe(2);
  await queue.close();
  expect([attempted, clock.waiting]).toEqual([['first'], 0]);
});

test('closing a queue waits for all its attempts in flight', async () => {
  const answers: (() => void)[] = [];
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async (webhook, delivery) => {
      await new Promise<void>((answered) => answers.push(answered));
      return await attempt(webhook, delivery);
    },
  );
  queue.add({ ...DELIVERY, deliveryId: 'first' });
  queue.add({ ...DELIVERY, deliveryId: 'second' });
  let isClosed = false;
  const closing = queue.close().then(() => {
    isClosed = true;
  });
  answers[0]?.();
  await clock.advance(0);
  expect([attempted, isClosed]).toEqual([['first'], false]);
  answers[1]?.();
  await closing;
});

test('an attempt that fails after its queue was closed is reported, and leaves no timer', async () => {
  const changes: DeliveryChange[] = [];
  const fail = Promise.withResolvers<void>();
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async () => {
      await fail.promise;
      return replied(500, clock);
    },
    {},
    (change) => void changes.push(change),
  );
  queue.add(DELIVERY);
  const closing = queue.close();
  fail.resolve();
  await closing;
  expect(changes.map(({ state, delivery }) => [state, delivery.attempts])).toEqual([['pending', 1]]);
  expect(clock.waiting).toBe(0);
});

test('the newest twenty attempts are logged, oldest first', async () => {
  const entry = { status: 500, latency_ms: 1, error: 'status 500', response_head: '' };
  const log = Array.from({ length: 20 }, (_, at_ms) => ({ ...entry, at_ms }));
  const changes = answered(200);
  queue.add({ ...DELIVERY, attempts: 30, log });
  await clock.advance(0);
  const [change] = changes;
  expect(change?.delivery.attempts).toBe(31);
  expect(change?.delivery.log.map(({ at_ms }) => at_ms)).toEqual([
    ...log.slice(1).map(({ at_ms }) => at_ms),
    clock.now(),
  ]);
});

test.each([
  ['the tenth failure in a row', 410, 'failed'],
  ['the tenth failure in a row', 500, 'skipped'],
] as const)('%s by status %i leaves the delivery %s', async (_, status, state) => {
  const changes = answered(status, { consecutiveFailures: 9 });
  queue.add(DELIVERY);
  await clock.advance(0);
  expect(changes.map((change) => change.state)).toEqual([state]);
  expect(queue.isOpen).toBe(false);
});

test.each([
  ['a chat’s limit', 'pause', 'rate_limited'],
  ['a chat’s limit', 'resumption', 'rate_limited'],
  ['a failure', 'resumption', 'refused'],
] as const)('%s that arrives after its owner’s %s ends the delivery', async (_, last, outcome) => {
  const changes: DeliveryChange[] = [];
  const end = Promise.withResolvers<void>();
  queue = deliveryQueueOn(
    clock,
    () => 0,
    async (webhook) => {
      queue.update({ ...webhook, state: 'paused' });
      if (last === 'resumption') queue.update({ ...webhook, activeSinceMs: clock.now() });
      await end.promise;
      return { ...replied(429, clock), outcome, pauseMs: outcome === 'refused' ? null : 1_000 };
    },
    // A tenth failure would pause it.
    { consecutiveFailures: 9 },
    (change) => void changes.push(change),
  );
  queue.add(DELIVERY);
  await clock.advance(0);
  end.resolve();
  await clock.advance(0);
  expect(changes.map((change) => change.state)).toEqual(['skipped']);
  expect([clock.waiting, queue.isOpen]).toEqual([0, last === 'resumption']);
});

test.each([
  ['in the millisecond in which it was activated before', 0],
  ['later', 1],
])(
  'a webhook that ten failures paused and that is resumed %s gets events again',
  async (_, activeSinceMs) => {
    const known: SigningWebhook[] = [];
    queue = deliveryQueueOn(
      clock,
      () => 0,
      async (webhook, { deliveryId }) => {
        known.push(webhook);
        attempted.push(deliveryId);
        return replied(attempted.length === 1 ? 500 : 200, clock);
      },
      { consecutiveFailures: 9 },
    );
    queue.add({ ...DELIVERY, deliveryId: 'tenth' });
    await clock.advance(0);
    const webhook = known[0]!;
    queue.update({ ...webhook, state: 'paused', consecutiveFailures: 10 });
    queue.add({ ...DELIVERY, deliveryId: 'meanwhile' });
    queue.update({ ...webhook, activeSinceMs, consecutiveFailures: 0 });
    queue.add({ ...DELIVERY, deliveryId: 'next' });
    expect(attempted).toEqual(['tenth', 'next']);
  },
);

test('at most a thousand deliveries are held, until some are released', () => {
  queue = deliveryQueueOn(
    clock,
    () => 0,
    () => new Promise(() => {}),
  );
  for (let n = 0; n <= HELD_MAX; n++) queue.add({ ...DELIVERY, deliveryId: `dl_${n}` });
  expect(queue.heldCount).toBe(1_000);
  queue.release('dl_0');
  queue.add({ ...DELIVERY, deliveryId: 'dl_more' });
  expect(queue.heldCount).toBe(1_000);
});
