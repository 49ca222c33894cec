import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { DelayedSocketDriver } from '../../../../test/support/waitingSockets.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import type { VenueSocketEvents, VenueSocketOptions } from '../../venueSocket.ts';
import { ClobConnection } from './connection.ts';

const ALL_RESOLVED = 'closed 1000: all subscribed assets resolved';

/** A connection, and the messages that it sent. */
function rig(tokens: string[] = ['1', '2']) {
  const clock = new FakeClock();
  const opened: { events: VenueSocketEvents; options: VenueSocketOptions }[] = [];
  const sent: object[] = [];
  const sockets = new DelayedSocketDriver();
  sockets.connect = (options, events) => {
    opened.push({ events, options });
    return {
      send: (text) => void sent.push(JSON.parse(text)),
      close: () => events.onClosed('closed 1000', 0, null),
      terminate: () => undefined,
    };
  };
  const heard: string[] = [];
  /** The tokens that were served when each loss was reported. */
  const lost: string[][] = [];
  const shared = { sockets, clock, random: () => 0, log: silentLogger, metrics: new Metrics() };
  const connection: ClobConnection = new ClobConnection(
    ...([{ url: 'ws://127.0.0.1:1', ...shared }, 'BTC 5m', new Set(tokens)] as const),
    { onFrame: (text) => void heard.push(text), onDown: () => void lost.push([...connection.served]) },
  );
  const newest = () => (opened.at(-1) as (typeof opened)[number]).events;
  const lose = (cause: string) => newest().onClosed(cause, clock.now(), null);
  return { clock, opened, sent, heard, lost, connection, newest, lose };
}

test('the load of a connection falls to a third in ten seconds', async () => {
  const { clock, connection, newest } = rig([]);
  newest().onFrame('x'.repeat(1_000), clock.now(), 1_000);
  expect(connection.load.bytesPerSecond).toBe(100);
  await clock.advance(10_000);
  expect(connection.load.bytesPerSecond).toBeCloseTo(100 / Math.E, 9);
  newest().onFrame('x'.repeat(1_000), clock.now(), 1_000);
  expect(connection.load.bytesPerSecond).toBeCloseTo(100 / Math.E + 100, 9);
  await connection.close();
});

test('an open connection subscribes its tokens, with the flag that every message carries', async () => {
  const { clock, sent, opened, connection, newest } = rig();
  expect([sent, connection.isUp, connection.openedAt]).toEqual([[], false, Number.NEGATIVE_INFINITY]);
  await clock.advance(70);
  newest().onOpen();
  connection.add(['3']);
  connection.remove(['1']);
  const flag = { custom_feature_enabled: true };
  expect(sent).toEqual([
    { ...flag, assets_ids: ['1', '2'], type: 'market' },
    { ...flag, assets_ids: ['3'], operation: 'subscribe' },
    { ...flag, assets_ids: ['1'], operation: 'unsubscribe' },
  ]);
  expect([connection.isUp, connection.openedAt]).toEqual([true, 70]);
  const keepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 25_000 };
  expect(opened[0]?.options).toEqual({ url: 'ws://127.0.0.1:1', keepAlive, silenceLimitMs: null });
  await connection.close();
});

test('an answer to a keep-alive is passed on, and is no data', async () => {
  const { clock, heard, connection, newest } = rig();
  newest().onOpen();
  await clock.advance(100);
  newest().onFrame('PONG', clock.now(), 4);
  expect([connection.frames, connection.lastDataAt, connection.load.bytesPerSecond]).toEqual([0, 0, 0]);
  newest().onFrame('[]', clock.now(), 2);
  expect([connection.frames, connection.lastDataAt, heard]).toEqual([1, 100, ['PONG', '[]']]);
  await connection.close();
});

test('a loss is reported with the tokens that were served; then none is', async () => {
  const { connection, lost, newest, lose } = rig();
  newest().onOpen();
  connection.served.add('1').add('2');
  connection.remove(['1']);
  expect([...connection.served]).toEqual(['2']);
  lose('closed 1006');
  expect([lost, connection.served.size]).toEqual([[['2']], 0]);
  await connection.close();
});

test('books are requested again on the open connection, and a lost one is opened at once', async () => {
  const { sent, opened, connection, newest, lose } = rig();
  newest().onOpen();
  connection.served.add('1');
  connection.renew(['1']);
  expect(sent.slice(1)).toMatchObject([
    { assets_ids: ['1'], operation: 'unsubscribe' },
    { assets_ids: ['1'], operation: 'subscribe' },
  ]);
  expect(connection.served.size).toBe(0);
  lose('closed 1006');
  connection.renew(['1']);
  expect(opened).toHaveLength(2);
  await connection.close();
});

test('more tokens do not shorten the pause after a loss; a try at once does', async () => {
  const { opened, connection, newest, lose } = rig();
  newest().onOpen();
  lose('closed 1006');
  connection.add(['3']);
  expect(opened).toHaveLength(1);
  connection.tryNow();
  expect(opened).toHaveLength(2);
  await connection.close();
});

test('after the end of all its markets a connection waits a minute, unless it gets new tokens', async () => {
  const { clock, opened, connection, newest, lose } = rig();
  newest().onOpen();
  lose(ALL_RESOLVED);
  connection.tryNow();
  await clock.advance(29_999);
  expect(opened).toHaveLength(1);
  connection.add(['3']);
  expect(opened).toHaveLength(2);

  // The venue's refusal was about the old tokens: the next loss is like any other.
  newest().onOpen();
  lose('closed 1006');
  connection.tryNow();
  expect(opened).toHaveLength(3);
  newest().onOpen();
  lose(ALL_RESOLVED);
  await clock.advance(600_000);
  expect(opened).toHaveLength(4);
  await connection.close();
});
