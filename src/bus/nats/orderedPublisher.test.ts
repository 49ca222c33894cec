import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { NatsLink } from './natsLink.ts';
import { OrderedPublisher } from './orderedPublisher.ts';

const TICK_MS = 100;

/** A publisher with an outbox in memory; the test answers what it sends. */
function rig(ids: readonly string[], bytes = 1) {
  const clock = new FakeClock();
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
    tick: () => undefined,
  };
  const connection = {
    info: { max_payload: 8e6 },
    publish: (
      _: string,
      __: Uint8Array,
      options: { reply: string; headers: { get(name: string): string } },
    ) => sent.push({ id: options.headers.get('Nats-Msg-Id'), reply: options.reply }),
    subscribe: (_: string, { callback }: { callback: typeof onReply }) => {
      onReply = callback;
      return { unsubscribe: () => undefined };
    },
  } as unknown as NatsConnection;
  const publisher = new OrderedPublisher({
    link: { isUp: true, onChange: () => () => undefined } as unknown as NatsLink,
    outbox: outbox as unknown as Outbox,
    clock,
    log: silentLogger,
    metrics: new Metrics(),
    random: () => 0.5,
  });
  onTestFinished(() => publisher.close());
  publisher.connect(connection);
  const answer = (at: number, body: object) =>
    onReply(null, { subject: sent[at]?.reply, json: () => body } as unknown as Msg);
  return { clock, publisher, sent, answer, acknowledged: () => acknowledged };
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
