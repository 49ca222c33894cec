import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { delivered, FakeJetStream, streamPartsOf } from '../../../test/support/fakeJetStream.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { ConsumerSession } from './consumerSession.ts';
import type { StreamParts } from './streamParts.ts';

vi.mock('@nats-io/jetstream', async (original) => ({
  ...(await original<object>()),
  jetstream: (connection: unknown) => connection,
}));

interface SessionOptions {
  readonly nats?: FakeJetStream;
  readonly onMessage?: (message: JsMsg) => Promise<void> | void;
  readonly onEnd?: () => Promise<void>;
  readonly checkCreated?: StreamParts['checkCreated'];
}

/** A session, the numbers of the messages that it gave, and what it logged. */
async function open({
  nats = new FakeJetStream(),
  onMessage = () => undefined,
  onEnd = async () => undefined,
  checkCreated = () => undefined,
}: SessionOptions = {}) {
  const { parts, clock, lines } = streamPartsOf(nats);
  const given: number[] = [];
  let ended = 0;
  const session = new ConsumerSession(
    { ...parts, checkCreated },
    {
      create: async (manager) => (await manager.consumers.add('u', { mem_storage: true })).name,
      onMessage: (message) => {
        given.push(message.info.streamSequence);
        return onMessage(message);
      },
      onEnd: () => {
        ended++;
        return onEnd();
      },
    },
  );
  onTestFinished(() => session.stop());
  await nextTurn();
  const retries = () => lines.map(({ err, retryMs }) => [(err as Error).message, retryMs]);
  return { nats, session, clock, given, lines, retries, ended: () => ended };
}

const noAnswer = () => {
  const nats = new FakeJetStream();
  nats.failure = new Error('no answer');
  return nats;
};

it('asks for up to 2,000 messages ahead, 4 s at a time, and notices that its consumer is missing', async () => {
  const { nats } = await open();
  const options = { max_messages: 2_000, expires: 4_000, bind: true, abort_on_missing_resource: true };
  expect(nats.consumed).toEqual([{ stream: 'u', name: 'consumer1', options }]);
});

it('creates no consumer of a stream that is another one', async () => {
  const checkCreated = () => {
    throw new ConfigError('another stream');
  };
  const { nats, session } = await open({ checkCreated });
  expect(nats.created).toEqual([]);
  expect(session.reason).toBe('the stream cannot be read: another stream');
});

describe('after a failure', () => {
  it('tries again after 0.1 s, then after twice the time, at most after 5 s', async () => {
    const { nats, clock, retries } = await open({ nats: noAnswer() });
    const pauses = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    for (const [tries, pauseMs] of pauses.entries()) {
      expect(nats.asked).toBe(tries + 1);
      expect(retries().at(-1)).toEqual(['no answer', pauseMs]);
      await clock.advance(pauseMs - 1);
      expect(nats.asked).toBe(tries + 1);
      await clock.advance(1);
    }
  });

  it('begins with the shortest pause again once it got a message', async () => {
    const { nats, clock, retries } = await open({ nats: noAnswer() });
    await clock.advance(300);
    nats.failure = null;
    await clock.advance(400);
    // A consumer that cannot be read is no success.
    nats.messages.notify('no_responders');
    await clock.advance(800);
    nats.messages.push(delivered(1));
    await clock.advance(0);
    nats.messages.notify('no_responders');
    await clock.advance(0);
    expect(retries().map(([, retryMs]) => retryMs)).toEqual([100, 200, 400, 800, 100]);
  });

  it('reports the reason until the server accepts a request for messages, or gives one', async () => {
    const { nats, session, clock, lines } = await open({ nats: noAnswer() });
    expect(session.reason).toBe('the stream cannot be read: no answer');
    expect(lines).toEqual([{ event: 'stream.read_failed', err: nats.failure, retryMs: 100 }]);
    nats.failure = null;
    await clock.advance(100);
    expect(session.reason).toBe('the stream cannot be read: no answer');
    nats.messages.notify('next');
    await clock.advance(0);
    expect(session.reason).toBeNull();
    nats.messages.notify('consumer_deleted');
    await clock.advance(0);
    expect(session.reason).toBe('the stream cannot be read: consumer_deleted');
    await clock.advance(200);
    nats.messages.push(delivered(1));
    await clock.advance(0);
    expect(session.reason).toBeNull();
  });

  it('stops at once while it waits to try again, without another attempt', async () => {
    const { nats, session, clock } = await open({ nats: noAnswer() });
    await session.stop();
    expect([nats.asked, clock.waiting]).toEqual([1, 0]);
    expect(nats.listeners.size).toBe(0);
  });
});

describe('its messages', () => {
  it('are given one at a time', async () => {
    const first = Promise.withResolvers<void>();
    const { nats, given } = await open({ onMessage: () => first.promise });
    nats.messages.push(delivered(1));
    nats.messages.push(delivered(2));
    await nextTurn();
    expect(given).toEqual([1]);
    first.resolve();
    await nextTurn();
    expect(given).toEqual([1, 2]);
  });

  it.each([
    ['is missing', [1, 2, 4], [1, 2]],
    ['comes twice', [1, 1], [1]],
    ['is missing at first', [2], []],
  ])('begin again with another consumer when one %s', async (_, sequences, expected) => {
    const { nats, given, clock, retries } = await open();
    for (const deliverySequence of sequences)
      nats.messages.push(delivered(deliverySequence, { deliverySequence }));
    await nextTurn();
    expect(given).toEqual(expected);
    expect(retries()).toEqual([['a message of the consumer was lost', 100]]);
    await clock.advance(100);
    nats.messages.push(delivered(7, { deliverySequence: 1 }));
    await clock.advance(0);
    expect(given).toEqual([...expected, 7]);
  });

  it('begin again with another consumer when one was refused', async () => {
    const refuse = () => Promise.reject(new Error('not now'));
    const { nats, clock, retries } = await open({ onMessage: refuse });
    nats.messages.push(delivered(1));
    await clock.advance(100);
    expect(retries()).toEqual([['not now', 100]]);
    expect(nats.created).toHaveLength(2);
    // The failed one is not being handled any more.
    nats.messages.notify('heartbeats_missed');
    await clock.advance(0);
    expect(retries().at(-1)).toEqual(['heartbeats_missed', 200]);
  });
});

describe('a session ends', () => {
  it.each(['heartbeats_missed', 'consumer_deleted', 'consumer_not_found', 'no_responders'])(
    'with the client’s report %s',
    async (type) => {
      const { nats, clock, retries, ended } = await open();
      nats.messages.push(delivered(1));
      nats.messages.notify('debug');
      await nextTurn();
      expect(nats.messages.isStopped).toBe(false);
      nats.messages.notify(type);
      await nextTurn();
      expect([nats.messages.isStopped, retries(), ended()]).toEqual([true, [[type, 100]], 0]);
      await clock.advance(100);
      expect([nats.sessions.length, ended()]).toEqual([2, 1]);
    },
  );

  it.each([
    ['no heartbeat, because no messages are requested', 'heartbeats_missed', false],
    ['any other report', 'consumer_deleted', true],
  ])('while a message is handled, with %s: %s', async (_, type, isStopped) => {
    const handled = Promise.withResolvers<void>();
    const { nats, lines } = await open({ onMessage: () => handled.promise });
    nats.messages.push(delivered(1));
    await nextTurn();
    nats.messages.notify(type);
    await nextTurn();
    const seen = [nats.messages.isStopped, [...lines]];
    handled.resolve();
    expect(seen).toEqual([isStopped, []]);
  });

  it('when the connection breaks, and another one begins with the next connection', async () => {
    const { nats, lines, ended } = await open();
    const { messages } = nats;
    nats.setUp(false);
    await nextTurn();
    expect([messages.isStopped, ended(), lines]).toEqual([true, 1, []]);
    expect([nats.asked, nats.sessions.length]).toEqual([1, 1]);
    nats.setUp(true);
    await nextTurn();
    expect(nats.sessions).toHaveLength(2);
    nats.messages.push(delivered(1));
    expect(nats.messages.isStopped).toBe(false);
  });

  it('without an error if an earlier one ended with one', async () => {
    const { nats, clock, retries } = await open();
    nats.messages.notify('consumer_deleted');
    await clock.advance(100);
    nats.setUp(false);
    await clock.advance(0);
    expect(retries()).toEqual([['consumer_deleted', 100]]);
  });

  it.each([
    ['the connection breaks', (nats: FakeJetStream) => nats.setUp(false)],
    ['it is stopped', (_: FakeJetStream, session: ConsumerSession) => void session.stop()],
  ])('at once when %s while its consumer is created', async (_, change) => {
    const [nats, opening] = [new FakeJetStream(), Promise.withResolvers<void>()];
    nats.opening = opening.promise;
    const { session } = await open({ nats });
    change(nats, session);
    opening.resolve();
    await nextTurn();
    expect(nats.messages.isStopped).toBe(true);
  });

  it('and another one begins when the first has ended in every way', async () => {
    const ending = Promise.withResolvers<void>();
    const { nats, clock } = await open({ onEnd: () => ending.promise });
    nats.messages.notify('consumer_deleted');
    await clock.advance(100);
    expect(nats.sessions).toHaveLength(1);
    ending.resolve();
    await clock.advance(0);
    expect(nats.sessions).toHaveLength(2);
  });
});

describe('a stop', () => {
  it('waits for the message that is handled, gives no further one and tries nothing again', async () => {
    const handled = Promise.withResolvers<void>();
    const { nats, session, given, lines, ended } = await open({ onMessage: () => handled.promise });
    nats.messages.push(delivered(1));
    nats.messages.push(delivered(2));
    await nextTurn();
    let isStopped = false;
    const stopping = session.stop().then(() => {
      isStopped = true;
    });
    await nextTurn();
    expect(isStopped).toBe(false);
    handled.resolve();
    await stopping;
    expect([given, lines, ended(), nats.sessions.length]).toEqual([[1], [], 1, 1]);
    expect(nats.listeners.size).toBe(0);
  });

  it('logs no failure that it causes', async () => {
    const handled = Promise.withResolvers<void>();
    const failing = () => handled.promise.then(() => Promise.reject(new Error('stopped')));
    const { nats, session, lines } = await open({ onMessage: failing });
    nats.messages.push(delivered(1));
    await nextTurn();
    const stopping = session.stop();
    handled.resolve();
    await stopping;
    expect(lines).toEqual([]);
  });

  it('before there is a connection makes no attempt', async () => {
    const nats = new FakeJetStream();
    nats.isUp = false;
    const { session } = await open({ nats });
    expect(nats.asked).toBe(0);
    await session.stop();
    expect([nats.asked, nats.sessions]).toEqual([0, []]);
  });
});
