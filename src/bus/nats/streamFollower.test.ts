import { setImmediate as nextTurn } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { delivered, FakeJetStream, streamPartsOf } from '../../../test/support/fakeJetStream.ts';
import { tradeIdOf } from '../../../test/support/streamTrades.ts';
import type { HandledPlace, StreamPlace } from '../recordStream.ts';
import { StreamFollower } from './streamFollower.ts';

vi.mock('@nats-io/jetstream', async (original) => ({
  ...(await original<object>()),
  jetstream: (connection: unknown) => connection,
}));

interface FollowerOptions {
  readonly fromSeq?: number;
  readonly after?: HandledPlace | null;
  readonly partition?: number | null;
  readonly nats?: FakeJetStream;
  /** Fails for these messages. */
  readonly failing?: readonly string[];
}

async function follow({
  fromSeq = 5,
  after = null,
  partition = null,
  nats = new FakeJetStream(),
  failing = [],
}: FollowerOptions = {}) {
  const { parts, clock, metrics, lines } = streamPartsOf(nats);
  const given: string[] = [];
  const places: StreamPlace[] = [];
  const follower = new StreamFollower(parts, { fromSeq, after, partition }, (message, place) => {
    const id = tradeIdOf({ message });
    if (failing.includes(id)) throw new Error(`${id} failed`);
    given.push(id);
    places.push(place);
  });
  onTestFinished(() => follower.stop());
  await nextTurn();
  /** Gives it messages by their numbers in the stream. */
  const push = async (...seqs: number[]) => {
    for (const [index, seq] of seqs.entries())
      nats.messages.push(delivered(seq, { deliverySequence: index + 1, storedMs: clock.now() }));
    await nextTurn();
  };
  return { nats, follower, clock, metrics, lines, given, places, push };
}

it.each([
  ['the stream', null, 5, { opt_start_seq: 5 }],
  ['the stream from its oldest message', null, 0, { opt_start_seq: 1 }],
  ['partition 0', 0, 5, { opt_start_seq: 5, filter_subject: 'u.0.*' }],
  ['partition 3', 3, 5, { opt_start_seq: 5, filter_subject: 'u.3.*' }],
])(
  'reads %s with a consumer that keeps nothing and is forgotten after a minute',
  async (_, partition, fromSeq, config) => {
    const { nats } = await follow({ partition, fromSeq });
    expect(nats.created).toEqual([
      {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        inactive_threshold: 60e9,
        mem_storage: true,
        num_replicas: 1,
        ...config,
      },
    ]);
  },
);

it.each([
  // The next number of one partition may belong to another one.
  ['follower', null, 2],
  ['follower.0', 0, 0],
])('counts what it missed under the name %s', async (reader, partition, missed) => {
  const { given, places, metrics, push } = await follow({ partition });
  await push(5, 8);
  expect(given).toEqual(['t5', 't8']);
  expect(places.map(({ isAfterLoss = false }) => isAfterLoss)).toEqual([false, missed > 0]);
  const count = `underround_stream_missed_messages_total{reader="${reader}"} ${missed}`;
  expect(await metrics.registry.metrics()).toContain(`\n${count}\n`);
});

it('compares the message before its place with the stream', async () => {
  const nats = new FakeJetStream();
  nats.stored = new Date(1_005);
  const { places, push } = await follow({ nats, after: { streamSeq: 4, timeMs: 1_000 } });
  await push(5);
  expect(places).toMatchObject([{ streamSeq: 5, isAfterLoss: true, isRenumbered: true }]);
});

it('goes on after a message whose processing fails, and says so until it ends', async () => {
  const { follower, given, places, lines, metrics, push } = await follow({ failing: ['t6'] });
  await push(5, 6, 7);
  expect(given).toEqual(['t5', 't7']);
  expect(follower.reason).toBe('a message of the stream was not processed: t6 failed');
  expect(lines).toEqual([
    {
      event: 'stream.follower_failed',
      err: new Error('t6 failed'),
      kind: 'trade',
      place: { ...places[0], streamSeq: 6 },
    },
  ]);
  const failures = '\nunderround_stream_follow_failures_total 1\n';
  expect(await metrics.registry.metrics()).toContain(failures);
});

it('reads a message again when the stream does not say whether it deleted those before', async () => {
  const { nats, given, lines, clock, push } = await follow({ partition: 0 });
  nats.messages.push(delivered(5, { deliverySequence: 1 }));
  nats.failure = new Error('no answer');
  nats.messages.push(delivered(7, { deliverySequence: 2 }));
  nats.messages.push(delivered(8, { deliverySequence: 3 }));
  await nextTurn();
  expect([given, lines.map(({ event }) => event)]).toEqual([['t5'], ['stream.read_failed']]);
  nats.failure = null;
  await clock.advance(100);
  expect(nats.created.at(-1)).toMatchObject({ opt_start_seq: 6 });
  await push(7, 8);
  expect(given).toEqual(['t5', 't7', 't8']);
});

it('has a reason while the stream cannot be read, and since it skipped a message', async () => {
  const { nats, follower, clock } = await follow();
  nats.messages.push(delivered(5, { deliverySequence: 1, version: 2 }));
  await clock.advance(0);
  expect(follower.reason).toBe('1 messages of the stream cannot be read by this release');
  nats.messages.notify('no_responders');
  await clock.advance(0);
  expect(follower.reason).toBe('the stream cannot be read: no_responders');
});

it('has stopped when its session has ended', async () => {
  const nats = new FakeJetStream();
  const opening = Promise.withResolvers<void>();
  nats.opening = opening.promise;
  const { follower } = await follow({ nats });
  let isStopped = false;
  const stopping = follower.stop().then(() => {
    isStopped = true;
  });
  await nextTurn();
  const wasStopped = isStopped;
  opening.resolve();
  await stopping;
  expect(wasStopped).toBe(false);
});

it('gives no message after its stop', async () => {
  const { nats, follower, given, push } = await follow();
  await push(5);
  const { messages } = nats;
  messages.push(delivered(6, { deliverySequence: 2 }));
  await follower.stop();
  expect([messages.isStopped, given]).toEqual([true, ['t5']]);
  expect(nats.listeners.size).toBe(0);
});
