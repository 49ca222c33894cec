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
function rig(ids: readonly string[]) {
  const clock = new FakeClock();
  const sent: { id: string; reply: string }[] = [];
  let [next, acknowledged] = [0, 0];
  let onReply: (error: null, message: Msg) => void = () => undefined;
  const outbox = {
    next: () => (next < ids.length ? { subject: 's', id: ids[next++], payload: new Uint8Array(1) } : null),
    acknowledge: () => acknowledged++,
    rewind: () => {
      next = acknowledged;
    },
    tick: () => undefined,
  };
  const connection = {
    info: { max_payload: 1e6 },
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
