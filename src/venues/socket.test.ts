import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CountingSocketDriver } from '../../test/support/countingSockets.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { DelayedSocketDriver } from '../../test/support/waitingSockets.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { type Disconnect, ReconnectingSocket, type ReconnectingSocketOptions } from './socket.ts';
import { DirectSocketDriver } from './venueSocket.ts';

let venue: LocalVenue;
let clock: FakeClock;
let metrics: Metrics;
let socket: ReconnectingSocket | null;
let frames: [string, number][];
let downs: Disconnect[];

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  metrics = new Metrics();
  frames = [];
  downs = [];
  socket = null;
});
afterEach(async () => {
  await socket?.close();
  await venue.stop();
});

function open(options: Partial<ReconnectingSocketOptions> = {}): ReconnectingSocket {
  socket = new ReconnectingSocket({
    url: venue.wsUrl,
    sockets: new DirectSocketDriver(clock),
    feed: 'test',
    clock,
    random: () => 0,
    log: silentLogger,
    metrics,
    keepAlive: { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 25_000 },
    silenceLimitMs: null,
    onOpen: (send) => send('subscribe'),
    onFrame: (text, receivedTimeMs) => frames.push([text, receivedTimeMs]),
    onDown: (disconnect) => downs.push(disconnect),
    ...options,
  });
  return socket;
}
const connected = (times: number) => until(() => venue.connections.length === times && socket!.isUp);
const counted = async (name: string) =>
  (await metrics.registry.getSingleMetric(name)!.get()).values[0]?.value;

describe('ReconnectingSocket', () => {
  test('sends its subscriptions on open and stamps every frame with the clock', async () => {
    open();
    await connected(1);
    await until(() => venue.latest.received.length === 1);
    expect(venue.latest.received).toEqual(['subscribe']);
    venue.latest.socket.send('one');
    await until(() => frames.length === 1);
    await clock.advance(5);
    venue.latest.socket.send('two');
    await until(() => frames.length === 2);
    expect(frames).toEqual([
      ['one', clock.now() - 5],
      ['two', clock.now()],
    ]);
    expect(await counted('underround_venue_frames_total')).toBe(2);
    expect(await counted('underround_venue_received_bytes_total')).toBe(6);
  });

  test('lists the socket with its newest data and last failure until it is closed', async () => {
    const state = () => metrics.venueFeeds.rows();
    open({ group: 'BTC-5m' });
    const row = { feed: 'test', group: 'BTC-5m', kind: 'socket', connections: 1 };
    expect(state()).toMatchObject([{ ...row, up: 0, lastMessageMs: null }]);
    await connected(1);
    await clock.advance(10_000);
    await until(() => frames.length === 1);
    expect(state()).toMatchObject([{ ...row, up: 1, lastMessageMs: null }]);
    venue.latest.socket.send('data');
    await until(() => frames.length === 2);
    const heard = { ...row, lastMessageMs: clock.now() };
    expect(state()).toMatchObject([{ ...heard, up: 1, failures: 0 }]);
    venue.latest.socket.close(1001);
    await until(() => downs.length === 1);
    const lastFailure = { cause: 'closed 1001', timeMs: clock.now() };
    expect(state()).toMatchObject([{ ...heard, up: 0, failures: 1, lastFailure }]);
    await socket?.close();
    expect(state()).toEqual([]);
  });

  test('sends PING each period and stays connected while it is answered', async () => {
    open();
    await connected(1);
    for (let i = 1; i <= 5; i++) {
      await clock.advance(10_000);
      await until(() => frames.length === i);
    }
    expect(venue.latest.received.filter((text) => text === 'PING')).toHaveLength(5);
    expect(downs).toEqual([]);
  });

  test('reconnects and subscribes again after an unanswered PING', async () => {
    open();
    await connected(1);
    venue.latest.answersPing = false;
    await clock.advance(30_000);
    expect(downs).toEqual([]);
    await clock.advance(10_000);
    expect(downs).toEqual([{ cause: 'PING unanswered for 25000 ms', receivedTimeMs: clock.now() }]);
    await clock.advance(500);
    await connected(2);
    await until(() => venue.latest.received.length === 1);
    expect(venue.latest.received).toEqual(['subscribe']);
  });

  test('ends a stalled connection that sends only PONG', async () => {
    open({ silenceLimitMs: 25_000 });
    await connected(1);
    await clock.advance(10_000);
    await until(() => frames.length === 1);
    venue.latest.socket.send('data');
    await until(() => frames.length === 2);
    await clock.advance(24_999);
    expect(downs).toEqual([]);
    await clock.advance(1);
    expect(downs).toMatchObject([{ cause: 'no data for 25000 ms' }]);
  });

  test('doubles the back-off up to a limit, with jitter between half and all of the delay', async () => {
    venue.refuseUpgrade = 502;
    const delays: number[] = [];
    const log = { ...silentLogger, warn: (line: { retryDelayMs: number }) => delays.push(line.retryDelayMs) };
    const random = [0, 0.999999];
    open({ log: log as never, random: () => random[delays.length % 2]! });
    for (let i = 1; i <= 9; i++) {
      await until(() => delays.length === i);
      await clock.advance(delays.at(-1)!);
    }
    expect(delays.slice(0, 9)).toEqual([250, 1000, 1000, 4000, 4000, 16000, 15000, 30000, 15000]);
    expect(downs).toEqual([]);
  });

  test.each([401, 403, 451])(
    'retries a handshake refused with %i rarely and logs the refusal',
    async (status) => {
      venue.refuseUpgrade = status;
      const lines: unknown[][] = [];
      const log = { ...silentLogger, warn: (...line: unknown[]) => lines.push(line) };
      open({ log: log as never });
      await until(() => lines.length === 1);
      expect(lines[0]).toEqual([
        { feed: 'test', group: undefined, cause: `HTTP ${status}`, attempt: 1, retryDelayMs: 30_000 },
        'venue refused the connection (geo-blocked?)',
      ]);
      venue.refuseUpgrade = null;
      await clock.advance(30_000);
      await connected(1);
    },
  );

  test.each([429, 503])(
    'waits at least as long as a refusal with %i requests, plus jitter',
    async (status) => {
      venue.refuseUpgrade = status;
      venue.refusalHeader = 'retry-after: 90';
      const delays: number[] = [];
      const log = {
        ...silentLogger,
        warn: (line: { retryDelayMs: number }) => delays.push(line.retryDelayMs),
      };
      open({ log: log as never });
      await until(() => delays.length === 1);
      // Nobody may shorten this pause.
      socket?.tryAgain();
      await clock.advance(90_249);
      expect(delays).toEqual([90_250]);
      await clock.advance(1);
      await until(() => delays.length === 2);
      expect(delays[1]).toBe(90_500);
    },
  );

  test('waits long after too many requests without a stated time, and nobody may shorten that', async () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets });
    sockets.connections[0]?.onClosed('HTTP 429', clock.now(), null);
    socket?.tryAgain();
    await clock.advance(29_999);
    expect(sockets.connections).toHaveLength(1);
    await clock.advance(1);
    expect(sockets.connections).toHaveLength(2);
  });

  test('waits an hour at most, whatever a refusal requests', async () => {
    venue.refuseUpgrade = 503;
    venue.refusalHeader = 'retry-after: 86400';
    const delays: number[] = [];
    const log = { ...silentLogger, warn: (line: { retryDelayMs: number }) => delays.push(line.retryDelayMs) };
    open({ log: log as never });
    await until(() => delays.length === 1);
    expect(delays).toEqual([3_600_250]);
  });

  test('follows the feed’s own rule for a cause: at a time, or never', async () => {
    const sockets = new CountingSocketDriver(clock);
    open({ sockets, retryOf: (cause) => (cause === 'closed 4003' ? { afterMs: 7_000 } : 'never') });
    await connected(1);
    venue.latest.socket.close(4003);
    await until(() => downs.length === 1);
    await clock.advance(6_999);
    expect(sockets.attempts).toBe(1);
    await clock.advance(1);
    await connected(2);
    socket?.drop('useless');
    expect(downs.map(({ cause }) => cause)).toEqual(['closed 4003', 'useless']);
    await clock.advance(3_600_000);
    expect([sockets.attempts, clock.waiting]).toEqual([2, 0]);
  });

  test('tryAgain() ends the pause: no second connection follows when it would have been over', async () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets });
    sockets.connections[0]?.onOpen();
    sockets.connections[0]?.onClosed('closed 1001', clock.now(), null);
    socket?.tryAgain();
    sockets.connections[1]?.onOpen();
    await clock.advance(60_000);
    expect(sockets.connections).toHaveLength(2);
    sockets.connections[1]?.onFrame('data', clock.now(), 4);
    expect(frames).toEqual([['data', clock.now()]]);
  });

  test('resets the back-off after a lasting connection', async () => {
    open();
    for (let i = 1; i <= 3; i++) {
      await connected(i);
      venue.latest.socket.close(1013, 'slow consumer: send buffer full');
      await until(() => downs.length === i);
      await clock.advance(250 * 2 ** (i - 1));
    }
    await connected(4);
    venue.latest.answersPing = true;
    for (let i = 1; i <= 3; i++) {
      await clock.advance(10_000);
      await until(() => venue.latest.received.length === i + 1);
    }
    venue.latest.socket.close(1001);
    await until(() => downs.length === 4);
    await clock.advance(250);
    await connected(5);
    expect(downs.map((down) => down.cause)).toEqual([
      ...Array(3).fill('closed 1013 slow consumer: send buffer full'),
      'closed 1001',
    ]);
    expect(await counted('underround_venue_disconnects_total')).toBe(4);
  });

  test('a connection of less than 30 s leaves the back-off as it was', async () => {
    const delays: number[] = [];
    const log = { ...silentLogger, warn: (line: { retryDelayMs: number }) => delays.push(line.retryDelayMs) };
    const sockets = new DelayedSocketDriver();
    open({ sockets, log: log as never });
    for (const lastsMs of [0, 29_999, 30_000]) {
      sockets.connections.at(-1)?.onOpen();
      await clock.advance(lastsMs);
      sockets.connections.at(-1)?.onClosed('closed 1001', clock.now(), null);
      await clock.advance(delays.at(-1)!);
    }
    expect(delays).toEqual([250, 500, 250]);
  });

  test('gives up on a server that never answers the handshake', async () => {
    const lines: { cause: string }[] = [];
    const log = { ...silentLogger, warn: (line: { cause: string }) => lines.push(line) };
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    open({ url: `ws://127.0.0.1:${port}`, log: log as never });
    await clock.advance(10_000);
    expect(lines[0]).toMatchObject({ cause: 'no connection in 10000 ms' });
    await socket!.close();
    silent.close();
  });

  test('reports a failed connection as the cause, without onDown before an open', async () => {
    const lines: { cause: string }[] = [];
    const log = { ...silentLogger, warn: (line: { cause: string }) => lines.push(line) };
    const gone = await LocalVenue.start();
    const url = gone.wsUrl;
    await gone.stop();
    open({ url, log: log as never });
    await until(() => lines.length === 1);
    expect(lines[0]!.cause).toMatch(/ECONNREFUSED/);
    expect(downs).toEqual([]);
  });

  test('reports when the driver read a frame or an end, and nothing of a connection that was replaced', async () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets });
    const [first] = sockets.connections;
    first?.onOpen();
    first?.onFrame('5 €', 7, 5);
    first?.onClosed('closed 1001', 9, null);
    expect([frames, downs]).toEqual([[['5 €', 7]], [{ cause: 'closed 1001', receivedTimeMs: 9 }]]);
    expect(metrics.venueFeeds.rows()).toMatchObject([{ lastFailure: { cause: 'closed 1001', timeMs: 9 } }]);
    socket?.tryAgain();
    sockets.connections[1]?.onOpen();
    first?.onFrame('late', 10, 4);
    expect([frames.length, await counted('underround_venue_received_bytes_total')]).toEqual([1, 5]);
  });

  test('reconnect() replaces an open connection at once, and shortens no pause', () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets });
    sockets.connections[0]?.onOpen();
    socket?.reconnect('useless');
    expect([sockets.connections.length, downs.map(({ cause }) => cause)]).toEqual([2, ['useless']]);
    sockets.connections[1]?.onClosed('closed 1001', clock.now(), null);
    socket?.reconnect('useless');
    expect(sockets.connections).toHaveLength(2);
  });

  test('close() closes the socket without calling onDown and leaves no timer', async () => {
    open({ silenceLimitMs: 60_000 });
    await connected(1);
    await socket!.close();
    await until(() => venue.latest.closed);
    expect(downs).toEqual([]);
    expect(clock.waiting).toBe(0);
    await clock.advance(120_000);
    expect(venue.connections).toHaveLength(1);
  });

  test('close() during the pause before an attempt ends all attempts', async () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets });
    sockets.connections[0]?.onClosed('closed 1001', clock.now(), null);
    await socket!.close();
    await clock.advance(3_600_000);
    expect(sockets.connections).toHaveLength(1);
  });

  test('a connection that opens after close() gets no subscription', async () => {
    const sockets = new DelayedSocketDriver();
    let subscriptions = 0;
    open({ sockets, onOpen: () => subscriptions++ });
    await socket!.close();
    sockets.connections[0]?.onOpen();
    expect([subscriptions, socket!.isUp]).toEqual([0, false]);
  });

  test('close() waits a second at most for the venue', async () => {
    let ended = 0;
    const connection = { send: () => undefined, close: () => undefined, terminate: () => ended++ };
    const sockets = { connect: () => connection, receiveWaiting: () => true, lagMs: 0 };
    open({ sockets });
    let isClosed = false;
    void socket!.close().then(() => {
      isClosed = true;
    });
    await clock.advance(999);
    expect([isClosed, ended]).toEqual([false, 0]);
    await clock.advance(1);
    expect([isClosed, ended]).toEqual([true, 1]);
  });

  test('topics count as silent only while the connection that carries them is open', async () => {
    const sockets = new DelayedSocketDriver();
    open({ sockets, topics: ['btc'] });
    const silent = () => metrics.venueDrift.topics.silent(clock.now()).map(({ topic }) => topic);
    sockets.connections[0]?.onOpen();
    await clock.advance(600_000);
    expect(silent()).toEqual(['btc']);
    sockets.connections[0]?.onClosed('closed 1001', clock.now(), null);
    expect(silent()).toEqual([]);
    socket?.tryAgain();
    sockets.connections[1]?.onOpen();
    expect(silent()).toEqual(['btc']);
    await socket!.close();
    expect(silent()).toEqual([]);
  });
});
