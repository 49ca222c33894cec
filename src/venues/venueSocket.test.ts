import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { ReceiveThread } from './receiveThread.ts';
import {
  DirectSocketDriver,
  FRAME_BYTES_MAX,
  type SocketDriver,
  type VenueSocket,
  type VenueSocketOptions,
} from './venueSocket.ts';

let venue: LocalVenue;
/** Every event that a connection reported, in order, without times. */
let events: string[];
let times: number[];
let sockets: VenueSocket[];

beforeEach(async () => {
  venue = await LocalVenue.start();
  [events, times, sockets] = [[], [], []];
});
afterEach(async () => {
  // The end of a connection that one test left open must not count as an event of the next test.
  for (const socket of sockets) socket.terminate();
  await venue.stop();
});

function connect<S extends VenueSocket>(
  driver: Pick<SocketDriver, 'receiveWaiting'> & { connect(...made: Parameters<SocketDriver['connect']>): S },
  options: Partial<VenueSocketOptions> = {},
): S {
  const note = (event: string, timeMs: number | null) => {
    events.push(event);
    if (timeMs !== null) times.push(timeMs);
  };
  const socket = driver.connect(
    { url: venue.wsUrl, keepAlive: null, silenceLimitMs: null, ...options },
    {
      onOpen: () => note('open', null),
      onFrame: (text, timeMs, bytes) => note(`${text} of ${bytes}`, timeMs),
      onClosed: (cause, timeMs, retryAfter) =>
        note(retryAfter === null ? cause : `${cause}, retry after ${retryAfter}`, timeMs),
    },
  );
  sockets.push(socket);
  return socket;
}
const happened = (count: number) => until(() => events.length >= count);

const DRIVERS = [
  [
    'in the same thread',
    () => ({ driver: new DirectSocketDriver(systemClock), stop: async () => undefined }),
  ],
  [
    'in the receive thread',
    () => {
      const parts = { clock: systemClock, random: () => 0, log: silentLogger, metrics: new Metrics() };
      const driver = new ReceiveThread(parts);
      return { driver, stop: () => driver.close() };
    },
  ],
] as const;

describe.each(DRIVERS)('a connection that is read %s', (_, make) => {
  let driver: SocketDriver;
  let stop: () => Promise<unknown>;
  beforeEach(() => {
    ({ driver, stop } = make());
  });
  afterEach(() => stop());

  test('reports its open, frames and close in order, with wall times', async () => {
    const beforeMs = systemClock.now();
    connect(driver);
    await until(() => venue.connections.length === 1);
    const { socket } = venue.latest;
    for (let index = 0; index < 50; index++) socket.send(`frame ${index}`);
    socket.send('5 €');
    socket.close(1013, 'slow consumer');
    await happened(53);
    const numbered = Array.from({ length: 50 }, (_, index) => `frame ${index} of ${index < 10 ? 7 : 8}`);
    expect(events).toEqual(['open', ...numbered, '5 € of 5', 'closed 1013 slow consumer']);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(beforeMs);
    expect(times.at(-1)).toBeLessThanOrEqual(systemClock.now());
  });

  test('sends texts and ignores binary frames', async () => {
    const socket = connect(driver);
    await happened(1);
    socket.send('one');
    socket.send('two');
    await until(() => venue.latest.received.length === 2);
    expect(venue.latest.received).toEqual(['one', 'two']);
    venue.latest.socket.send(Buffer.from('binary'));
    venue.latest.socket.send('text');
    await happened(2);
    expect(events).toEqual(['open', 'text of 4']);
  });

  test('ends after close() with the protocol’s handshake and reports it', async () => {
    const socket = connect(driver);
    await happened(1);
    socket.close();
    await happened(2);
    expect(events).toEqual(['open', 'closed 1000']);
    await until(() => venue.latest.closed);
  });

  test('reports nothing after terminate(), not even frames in flight', async () => {
    const socket = connect(driver);
    await happened(1);
    venue.latest.socket.send('on its way');
    socket.terminate();
    await until(() => venue.latest.closed);
    connect(driver);
    await happened(2);
    expect(events).toEqual(['open', 'open']);
  });

  test('reports the status of a refused handshake', async () => {
    venue.refuseUpgrade = 403;
    connect(driver);
    await happened(1);
    expect(events).toEqual(['HTTP 403']);
  });

  test('reports the pause that a refused handshake requests', async () => {
    venue.refuseUpgrade = 429;
    venue.refusalHeader = 'retry-after: 7';
    connect(driver);
    await happened(1);
    expect(events).toEqual(['HTTP 429, retry after 7']);
  });

  test('reports why it could not connect', async () => {
    const gone = await LocalVenue.start();
    const url = gone.wsUrl;
    await gone.stop();
    connect(driver, { url });
    await happened(1);
    expect(events).toEqual([`connect ECONNREFUSED ${new URL(url).host}`]);
  });

  test('ends when PING stays unanswered', async () => {
    const keepAlive = { text: 'PING', answer: 'PONG', periodMs: 20, answerLimitMs: 50 };
    connect(driver, { keepAlive });
    await happened(1);
    venue.latest.answersPing = false;
    await until(() => events.at(-1) !== 'open' && !events.at(-1)?.startsWith('PONG'));
    expect(events.at(-1)).toBe('PING unanswered for 50 ms');
    await until(() => venue.latest.closed);
  });

  test('ends when it delivers no data', async () => {
    connect(driver, { silenceLimitMs: 30 });
    await happened(2);
    expect(events).toEqual(['open', 'no data for 30 ms']);
    await until(() => venue.latest.closed);
  });

  test('ends after a frame that is too long', async () => {
    connect(driver);
    await happened(1);
    venue.latest.socket.send('x'.repeat(FRAME_BYTES_MAX + 1));
    await happened(2);
    expect(events).toEqual(['open', 'Max payload size exceeded']);
  });
});

test('ends at the first PING that is due when the limit of the oldest unanswered one is over', async () => {
  const clock = new FakeClock();
  const keepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 20_000 };
  connect(new DirectSocketDriver(clock), { keepAlive });
  await happened(1);
  venue.latest.answersPing = false;
  await clock.advance(29_999);
  expect(events).toEqual(['open']);
  await clock.advance(1);
  expect(events).toEqual(['open', 'PING unanswered for 20000 ms']);
});

test.each(['close', 'terminate'] as const)('leaves no timer after %s()', async (end) => {
  const clock = new FakeClock();
  const keepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: null };
  const socket = connect(new DirectSocketDriver(clock), { keepAlive, silenceLimitMs: 30_000 });
  expect(clock.waiting).toBe(1);
  await happened(1);
  expect(clock.waiting).toBe(2);
  socket[end]();
  expect(clock.waiting).toBe(0);
});

describe('a connection whose reading is paused', () => {
  const keepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 25_000 };

  test('does not end for silence, and restarts all limits when reading resumes', async () => {
    const clock = new FakeClock();
    const socket = connect(new DirectSocketDriver(clock), { keepAlive, silenceLimitMs: 30_000 });
    await happened(1);
    venue.latest.answersPing = false;
    socket.pause();
    await clock.advance(120_000);
    venue.latest.socket.send('meanwhile');
    expect(events).toEqual(['open']);
    socket.resume();
    await happened(2);
    await clock.advance(29_999);
    expect(events).toEqual(['open', 'meanwhile of 9']);
    await clock.advance(1);
    expect(events).toEqual(['open', 'meanwhile of 9', 'no data for 30000 ms']);
  });

  test.each([
    [{ silenceLimitMs: 30_000 }, 120_000, 30_000, 'no data for 30000 ms'],
    [{ silenceLimitMs: 30_000 }, 115_000, 30_000, 'no data for 30000 ms'],
    // The first PING after 10 s is the oldest unanswered one.
    [{ keepAlive }, 120_000, 40_000, 'PING unanswered for 25000 ms'],
  ])(
    'is given the whole limit again when reading resumes, though no data had waited: %j, after %i ms',
    async (limits, pausedMs, limitMs, cause) => {
      const clock = new FakeClock();
      const socket = connect(new DirectSocketDriver(clock), limits);
      await happened(1);
      venue.latest.answersPing = false;
      socket.pause();
      await clock.advance(pausedMs);
      socket.resume();
      await clock.advance(limitMs - 1);
      expect(events).toEqual(['open']);
      await clock.advance(1);
      expect(events).toEqual(['open', cause]);
    },
  );

  test('delivers no frame before reading resumes, if it was paused before it opened', async () => {
    const clock = new FakeClock();
    const socket = connect(new DirectSocketDriver(clock), { silenceLimitMs: 30_000 });
    socket.pause();
    await happened(1);
    await new Promise((resolve) => venue.latest.socket.send('early', resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(['open']);
    socket.resume();
    await happened(2);
    expect(events).toEqual(['open', 'early of 5']);
  });

  test('ends after close() as soon as reading resumes', async () => {
    const socket = connect(new DirectSocketDriver(new FakeClock()));
    await happened(1);
    socket.pause();
    socket.close();
    const peer = venue.latest.socket;
    // It has answered; it ends the connection itself only after half a minute.
    await until(() => peer.readyState === peer.CLOSING);
    socket.resume();
    await happened(2);
    expect(events).toEqual(['open', 'closed 1000']);
  });

  test('continues to send keep-alives', async () => {
    const clock = new FakeClock();
    const socket = new DirectSocketDriver(clock).connect(
      { url: venue.wsUrl, keepAlive, silenceLimitMs: null },
      { onOpen: () => events.push('open'), onFrame: () => undefined, onClosed: () => undefined },
    );
    await happened(1);
    socket.pause();
    await clock.advance(50_000);
    await until(() => venue.latest.received.length === 5);
    socket.terminate();
  });
});
