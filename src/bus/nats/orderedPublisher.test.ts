import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { NatsLink } from './natsLink.ts';
import { OrderedPublisher } from './orderedPublisher.ts';

const TICK_MS = 100;

/** A publisher with an outbox in memory; the test answers what it sends. */
function rig(ids: readonly string[], bytes = 1) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const logged: [message: string, facts: object][] = [];
  const note = (facts: object, message: string) => logged.push([message, facts]);
  const log = { ...silentLogger, info: note, warn: note, error: note } as unknown as Logger;
  /** Whether the link is up, and whether the publisher listens to its changes. */
  const link = {
    ...{ isUp: true, isHeard: false, changed: () => {} },
    onChange: (changed: () => void) => {
      [link.isHeard, link.changed] = [true, changed];
      return () => {
        link.isHeard = false;
      };
    },
  };
  /** Why the connection refuses to publish. */
  const closed: { reason: string | null } = { reason: null };
  /** Inboxes for answers that are open. */
  const inboxes = new Set<string>();
  const sent: { id: string; reply: string }[] = [];
  let [next, acknowledged] = [0, 0];
  let onReply: (error: null, message: Msg) => void = () => undefined;
  const outbox = {
    next: () =>
      next < ids.length ? { subject: 's', id: ids[next++], payload: new Uint8Array(bytes) } : null,
    acknowledge: () => acknowledged++,
    rewind: () => {
      next = acknowledged;
    },
    ticks: 0,
    tick: () => outbox.ticks++,
    onLoaded: () => {},
  };
  const connection = {
    info: { max_payload: 8e6 },
    publish: (
      _: string,
      __: Uint8Array,
      options: { reply: string; headers: { get(name: string): string } },
    ) => {
      if (closed.reason !== null) throw new Error(closed.reason);
      sent.push({ id: options.headers.get('Nats-Msg-Id'), reply: options.reply });
    },
    subscribe: (inbox: string, { callback }: { callback: typeof onReply }) => {
      onReply = callback;
      inboxes.add(inbox.slice(0, -2));
      return { unsubscribe: () => void inboxes.delete(inbox.slice(0, -2)) };
    },
  } as unknown as NatsConnection;
  const publisher = new OrderedPublisher({
    link: link as unknown as NatsLink,
    outbox: outbox as unknown as Outbox,
    ...{ clock, log, metrics },
    random: () => 0.5,
  });
  onTestFinished(() => publisher.close());
  publisher.connect(connection);
  /** Answers a sent message, unless the publisher has closed its inbox. */
  const answer = (at: number, body: object, headers?: { code: number }) => {
    const subject = sent[at]?.reply as string;
    if (!inboxes.has(subject.slice(0, subject.lastIndexOf('.')))) return;
    onReply(null, { subject, headers, json: () => body } as unknown as Msg);
  };
  const counted = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)!.get()).values[0]?.value;
  const sentIds = () => sent.map(({ id }) => id).join('');
  return {
    ...{ clock, publisher, sent, sentIds, answer, acknowledged: () => acknowledged },
    ...{ outbox, logged, counted, link, closed, inboxes, connection },
  };
}

it.each([
  ['the number 0', { stream: 'u', seq: 0, duplicate: true }],
  ['an error', { error: { err_code: 10_158, description: 'duplicate message id is in process' } }],
])('a copy of a message in process stays in the outbox until it is stored: %s', async (_, inProcess) => {
  const { clock, publisher, sent, answer, acknowledged } = rig(['a', 'b', 'c']);
  answer(0, { seq: 1 });
  expect(sent.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  answer(1, inProcess);
  answer(2, { seq: 3 });
  expect(acknowledged()).toBe(1);
  await clock.advance(TICK_MS);
  // It alone is sent again; meanwhile nothing counts as failed.
  expect(sent.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'b']);
  expect(publisher.reason).toBeNull();
  answer(3, { seq: 2, duplicate: true });
  expect(acknowledged()).toBe(3);
});

it('goes on after as many bytes as may be in flight were acknowledged', () => {
  const ids = Array.from({ length: 40 }, (_, at) => `m${at}`);
  const { publisher, sent, answer, acknowledged } = rig(ids, 1024 * 1024);
  answer(0, { seq: 1 });
  // 8 MiB may be in flight.
  expect(sent).toHaveLength(1 + 8);
  for (let at = 1; at < ids.length; at++) answer(at, { seq: at + 1 });
  expect(sent.map(({ id }) => id)).toEqual(ids);
  expect([acknowledged(), publisher.reason]).toEqual([ids.length, null]);
});

const FAILURES = 'underround_stream_publish_failures_total';
const TOO_LARGE = 'underround_stream_too_large_messages_total';

it('sends the oldest alone at first, then up to 4,000 at once', () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `m${at}`);
  const { sent, answer } = rig(ids);
  expect(sent).toHaveLength(1);
  answer(0, { seq: 1 });
  expect(sent).toHaveLength(1 + 4_000);
  answer(1, { seq: 2 });
  expect(sent).toHaveLength(1 + 4_001);
});

it('acknowledges in order, whatever the order of the answers', () => {
  const { answer, acknowledged } = rig(['a', 'b', 'c', 'd']);
  answer(0, { seq: 1 });
  const seen = [3, 2, 1].map((at) => {
    answer(at, { seq: at + 1 });
    return acknowledged();
  });
  expect(seen).toEqual([1, 1, 4]);
});

it('ignores a second answer to a message', () => {
  const { answer, acknowledged, sentIds } = rig(['a', 'b']);
  for (let times = 1; times <= 2; times++) answer(0, { seq: 1 });
  expect([acknowledged(), sentIds()]).toEqual([1, 'ab']);
});

it('asks once again for a copy in process, also behind a message without an answer', async () => {
  const { clock, answer, acknowledged, sentIds } = rig(['a', 'b', 'c']);
  answer(0, { seq: 1 });
  answer(2, { seq: 0, duplicate: true });
  await clock.advance(3 * TICK_MS);
  expect(sentIds()).toBe('abcc');
  answer(3, { seq: 3 });
  answer(1, { seq: 2 });
  expect(acknowledged()).toBe(3);
});

it('sends messages that the outbox loads later', () => {
  const ids = ['a'];
  const { outbox, answer, sentIds } = rig(ids);
  answer(0, { seq: 1 });
  ids.push('b');
  outbox.onLoaded();
  expect(sentIds()).toBe('ab');
});

it('lets the outbox work every 100 ms', async () => {
  const { clock, outbox } = rig([]);
  await clock.advance(1_000);
  expect(outbox.ticks).toBe(10);
});

it('sends nothing more behind a message that has waited longer than a second', async () => {
  const ids = ['a', 'b'];
  const { clock, publisher, outbox, answer, sentIds } = rig(ids);
  answer(0, { seq: 1 });
  await clock.advance(1_000);
  expect(publisher.reason).toBeNull();
  ids.push('c');
  outbox.onLoaded();
  expect(sentIds()).toBe('abc');
  await clock.advance(1);
  expect(publisher.reason).toBe('the stream does not acknowledge messages');
  ids.push('d');
  outbox.onLoaded();
  await clock.advance(1_000);
  expect(sentIds()).toBe('abc');
  answer(1, { seq: 2 });
  answer(2, { seq: 3 });
  expect([sentIds(), publisher.reason]).toEqual(['abcd', null]);
});

it('sends everything again after 5 s without an acknowledgement, the oldest alone', async () => {
  const { clock, publisher, answer, sentIds, logged, counted } = rig(['a', 'b', 'c']);
  answer(0, { seq: 1 });
  await clock.advance(5_000);
  expect([sentIds(), await counted(FAILURES)]).toEqual(['abc', 0]);
  await clock.advance(100);
  const reason = 'no acknowledgement within 5000 ms';
  expect(publisher.reason).toBe(`the stream does not store messages: ${reason}`);
  expect(logged).toEqual([['stream.publish_failed', { reason, retryMs: 75 }]]);
  expect([sentIds(), await counted(FAILURES)]).toEqual(['abc', 1]);
  await clock.advance(100);
  expect(sentIds()).toBe('abcb');
  // A late answer to a message of the time before the failure is ignored.
  answer(1, { seq: 2 });
  expect(sentIds()).toBe('abcb');
  answer(3, { seq: 2 });
  expect([sentIds(), publisher.reason]).toEqual(['abcbc', null]);
  expect(logged.slice(1)).toEqual([['stream.publishes_again', {}]]);
});

it.each([
  ['an error', { error: { err_code: 10_077, description: 'no space' } }, undefined, 'no space'],
  ['an error without a text', { error: {} }, undefined, 'an error without a description'],
  ['a status instead of an answer', {}, { code: 503 }, 'status 503'],
])(
  'sends everything again after %s, with pauses up to 2 s, and logs the first failure',
  async (_, body, headers, reason) => {
    const { clock, publisher, sent, answer, sentIds, logged, counted } = rig(['a', 'b']);
    const pauses: number[] = [];
    for (let failures = 1; failures <= 7; failures++) {
      answer(sent.length - 1, body, headers);
      const failedAt = clock.monotonic();
      while (sent.length === failures) await clock.advance(25);
      pauses.push(clock.monotonic() - failedAt);
    }
    expect(sentIds()).toBe('a'.repeat(8));
    // In steps of 100 ms.
    expect(pauses).toEqual([100, 200, 300, 600, 1_200, 1_500, 1_500]);
    expect(publisher.reason).toBe(`the stream does not store messages: ${reason}`);
    expect(logged).toEqual([['stream.publish_failed', { reason, retryMs: 75 }]]);
    expect(await counted(FAILURES)).toBe(7);
    answer(7, { seq: 1 });
    answer(8, body, headers);
    expect(logged.slice(1)).toEqual([
      ['stream.publishes_again', {}],
      ['stream.publish_failed', { reason, retryMs: 75 }],
    ]);
  },
);

it('tries again when the connection refuses a message', async () => {
  const { clock, publisher, answer, sentIds, closed } = rig(['a', 'b']);
  closed.reason = 'closed connection';
  answer(0, { seq: 1 });
  expect(publisher.reason).toBe('the stream does not store messages: closed connection');
  closed.reason = null;
  await clock.advance(100);
  expect(sentIds()).toBe('ab');
});

it('leaves out a message that is larger than the stream allows', async () => {
  const { publisher, answer, acknowledged, logged, counted, sentIds } = rig(['a', 'b', 'c']);
  answer(0, { seq: 1 });
  answer(1, { error: { err_code: 10_054, description: 'message size exceeds maximum allowed' } });
  await Promise.resolve();
  expect([acknowledged(), sentIds(), publisher.reason]).toEqual([2, 'abc', null]);
  expect(logged).toEqual([['stream.message_too_large', { subject: 's', id: 'b', bytes: 1 }]]);
  expect(await counted(TOO_LARGE)).toBe(1);
});

it.each([
  ['sends a message that leaves 1 KiB of the connection’s limit', 8e6 - 1_024, 'a', 0],
  ['leaves out a message that leaves less of it', 8e6 - 1_023, '', 1],
])('%s for its head', async (_, bytes, sentNow, acknowledgedNow) => {
  const { sentIds, acknowledged } = rig(['a'], bytes);
  await Promise.resolve();
  expect([sentIds(), acknowledged()]).toEqual([sentNow, acknowledgedNow]);
});

it('sends nothing while the link is down, and everything unacknowledged when it is up again', async () => {
  const { clock, publisher, answer, acknowledged, sentIds, link, outbox, inboxes } = rig(['a', 'b', 'c']);
  answer(0, { seq: 1 });
  link.isUp = false;
  link.changed();
  outbox.onLoaded();
  await clock.advance(10_000);
  expect([sentIds(), inboxes.size, publisher.reason]).toEqual(['abc', 0, null]);
  link.isUp = true;
  link.changed();
  expect([sentIds(), inboxes.size]).toEqual(['abcb', 1]);
  answer(3, { seq: 2 });
  answer(4, { seq: 3 });
  expect([sentIds(), acknowledged()]).toEqual(['abcbc', 3]);
});

it('may have as many bytes in flight after a new start as before', () => {
  const ids = Array.from({ length: 40 }, (_, at) => `m${at}`);
  const { answer, sent, link } = rig(ids, 1024 * 1024);
  answer(0, { seq: 1 });
  expect(sent).toHaveLength(1 + 8);
  link.changed();
  expect(sent).toHaveLength(9 + 1);
  answer(9, { seq: 2 });
  expect(sent).toHaveLength(10 + 8);
});

it('ends what it uses when it is closed, and sends nothing more', async () => {
  const ids = ['a'];
  const { clock, publisher, outbox, answer, sentIds, link, inboxes, connection } = rig(ids);
  answer(0, { seq: 1 });
  publisher.close();
  expect([clock.waiting, link.isHeard, inboxes.size]).toEqual([0, false, 0]);
  ids.push('b');
  outbox.onLoaded();
  publisher.connect(connection);
  expect([sentIds(), inboxes.size]).toEqual(['a', 0]);
});
