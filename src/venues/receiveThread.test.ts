import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { blockUntil, VenueThread } from '../../test/support/venueThread.ts';
import { builtEntry } from '../runtime/builtEntry.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { ReceiveThread, type ReceiveThreadOptions } from './receiveThread.ts';
import { type Disconnect, ReconnectingSocket } from './socket.ts';
import type { VenueSocket, VenueSocketOptions } from './venueSocket.ts';

let metrics: Metrics;
let thread: ReceiveThread;
let errors: { err: Error; restartDelayMs: number }[];
let frames: { text: string; receivedTimeMs: number }[];
let isOpen: boolean;
let closed: string[];

beforeEach(() => {
  metrics = new Metrics();
  [errors, frames, closed, isOpen] = [[], [], [], false];
});
afterEach(() => thread.close());

function start(options: Partial<ReceiveThreadOptions> = {}): void {
  const log = { ...silentLogger, error: (line: (typeof errors)[0]) => errors.push(line) } as never;
  thread = new ReceiveThread({ clock: systemClock, random: () => 0, log, metrics, ...options });
}

function connect(url: string, options: Partial<VenueSocketOptions> = {}) {
  return thread.connect(
    { url, keepAlive: null, silenceLimitMs: null, ...options },
    {
      onOpen: () => {
        isOpen = true;
      },
      onFrame: (text, receivedTimeMs) => {
        // Frames that wait behind this one must not be delivered before it is processed.
        thread.receiveWaiting();
        frames.push({ text: text.trim(), receivedTimeMs });
      },
      onClosed: (cause) => closed.push(cause),
    },
  );
}

const counted = async (name: string) =>
  (await metrics.registry.getSingleMetric(name)!.get()).values.find(({ labels }) => !('le' in labels))?.value;
/** The file of a built module, as an import specifier. */
const built = (name: string) => JSON.stringify(builtEntry(name));
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('while the main thread is blocked', () => {
  let venue: VenueThread;
  beforeEach(async () => {
    venue = await VenueThread.start();
  });
  afterEach(() => venue.stop());

  test('frames are stamped on receipt and wait in order', async () => {
    start();
    connect(venue.url);
    await until(() => isOpen);
    const sending = venue.send(20);
    venue.blockUntilRead(20);
    expect(frames).toEqual([]);
    // The last frame may still be on its way between the threads; all earlier ones have arrived.
    while (!thread.receiveWaiting());
    expect(frames.length).toBeGreaterThanOrEqual(19);
    const times = await sending;
    await until(() => frames.length === 20);
    expect(frames.map(({ text }) => text)).toEqual(numbers(20));
    for (const [index, { sentMs, readMs }] of times.entries()) {
      expect(frames[index]?.receivedTimeMs).toBeGreaterThanOrEqual(sentMs);
      expect(frames[index]?.receivedTimeMs).toBeLessThanOrEqual(readMs);
    }
    expect(await counted('underround_feed_handover_pauses_total')).toBe(0);
  });

  test('the metrics show how long frames waited for it', async () => {
    start();
    connect(venue.url);
    await until(() => isOpen);
    const sending = venue.send(5);
    venue.blockUntilRead(5);
    expect(thread.waitingBytes).toBeGreaterThan(0);
    const times = await sending;
    await until(() => frames.length === 5);
    const text = await metrics.registry.metrics();
    const seconds = Number(/^underround_feed_handover_seconds_sum (.*)$/m.exec(text)?.[1]);
    expect(seconds * 1000).toBeGreaterThanOrEqual(times.at(-1)!.readMs - times[0]!.readMs);
    expect(text).toContain('\nunderround_feed_handover_waiting_bytes 0\n');
  });

  test('keep-alives are sent', async () => {
    start();
    connect(venue.url, { keepAlive: { text: 'PING', answer: 'PONG', periodMs: 20, answerLimitMs: null } });
    await until(() => isOpen);
    venue.blockUntilPinged(3);
    await until(() => frames.length >= 3);
    expect(closed).toEqual([]);
  });

  test('reading stops at a limit and resumes when half of it is delivered, without loss', async () => {
    const waitingBytesMax = 1_000_000;
    start({ waitingBytesMax });
    connect(venue.url);
    await until(() => isOpen);
    const sending = venue.flood(400, 10_000);
    blockUntil(() => thread.isPaused);
    expect(thread.waitingBytes).toBeGreaterThan(waitingBytesMax);
    expect(thread.waitingBytes).toBeLessThan(1.5 * waitingBytesMax);
    await sending;
    await until(() => frames.length === 400);
    expect(frames.map(({ text }) => text)).toEqual(numbers(400));
    expect(thread.isPaused).toBe(false);
    expect(await counted('underround_feed_handover_pauses_total')).toBeGreaterThanOrEqual(1);
    expect(closed).toEqual([]);
  });
});

describe('frames that arrive as fast as they are processed', () => {
  /** More than any of these tests should deliver. */
  const FRAMES_MAX = 1_000;
  /** Counted as waiting when the thread ends. */
  const ENDED_BYTES = 1_000_000;
  /** Each frame takes 10 ms. */
  let nowMs: number;
  /** Null: the machine's. */
  let wallMs: number | null;
  let delivered: number;
  let isBroken: boolean;
  let onDelivery: () => void;
  let socket: VenueSocket;

  beforeEach(async () => {
    [nowMs, wallMs, delivered, isBroken] = [0, null, 0, false];
    onDelivery = () => undefined;
    const now = () => wallMs ?? systemClock.now();
    start({ entry: answeringEntry(), clock: { ...systemClock, now, monotonic: () => nowMs } as Clock });
    socket = thread.connect(
      { url: 'ws://none', keepAlive: null, silenceLimitMs: null },
      {
        onOpen: () => {
          isOpen = true;
        },
        onFrame: () => {
          if (isBroken) throw new Error('not processed');
          onDelivery();
          nowMs += 10;
          if (++delivered < FRAMES_MAX) receiveOne();
        },
        onClosed: (cause) => closed.push(`${cause} after ${delivered - FRAMES_MAX} frames`),
      },
    );
    await until(() => isOpen);
  });

  /** A thread that answers each text with a frame of one byte, or ends. */
  function answeringEntry(): string {
    const file = join(temporaryDirectory(), 'answering.mjs');
    writeFileSync(
      file,
      `import { workerData } from 'node:worker_threads';
       import { WaitingBytes } from ${built('venues/handover')};
       const { port, shared, waitingBytesMax } = workerData;
       const waiting = new WaitingBytes(waitingBytesMax, shared);
       process.on('exit', () => waiting.add(${ENDED_BYTES}));
       port.on('message', ({ do: command, id, text }) => {
         if (command === 'connect') port.postMessage({ events: [['open', id, 1_000]], bytes: 0 });
         if (command !== 'send') return;
         if (text === 'end') process.exit(3);
         port.postMessage({ events: [['frame', id, 2_000, 'x', 1]], bytes: 1 });
         waiting.add(1);
       });`,
    );
    return file;
  }

  function receiveOne(): void {
    const before = thread.waitingBytes;
    socket.send('next');
    blockUntil(() => thread.waitingBytes > before);
  }

  test('are delivered for a limited time; until the others follow, the caller knows that some wait', () => {
    for (let count = 0; count < 12; count++) receiveOne();
    expect(thread.receiveWaiting()).toBe(false);
    expect(delivered).toBe(5);
    expect(thread.receiveWaiting()).toBe(false);
    expect(delivered).toBe(10);
    delivered = FRAMES_MAX;
    while (!thread.receiveWaiting());
    expect([delivered, thread.waitingBytes, thread.lagMs]).toEqual([FRAMES_MAX + 12, 0, 0]);
  });

  test('leave turns for everything else, and show the age of the oldest', async () => {
    for (let count = 0; count < 12; count++) receiveOne();
    await until(() => delivered > 0);
    expect(delivered).toBe(5);
    expect(thread.lagMs).toBeGreaterThan(Date.now() - 60_000);
    expect(thread.lagMs).toBeLessThanOrEqual(Date.now() - 2_000);
    await until(() => delivered > 5);
    expect(delivered).toBe(10);
    delivered = FRAMES_MAX;
    await until(() => thread.waitingBytes === 0);
    expect([delivered, thread.lagMs]).toEqual([FRAMES_MAX + 12, 0]);
  });

  test('follow by themselves when a caller that asked for them has had its turn', async () => {
    for (let count = 0; count < 12; count++) receiveOne();
    delivered = FRAMES_MAX;
    expect([thread.receiveWaiting(), delivered]).toEqual([false, FRAMES_MAX + 5]);
    await until(() => thread.waitingBytes === 0);
    expect(delivered).toBe(FRAMES_MAX + 12);
  });

  test('are not all delivered while one of them is processed', () => {
    const answers: boolean[] = [];
    onDelivery = () => answers.push(thread.receiveWaiting());
    delivered = FRAMES_MAX;
    receiveOne();
    expect([thread.receiveWaiting(), answers]).toEqual([true, [false]]);
  });

  test('are dropped once their connection is terminated', () => {
    for (let count = 0; count < 3; count++) receiveOne();
    socket.terminate();
    expect([thread.receiveWaiting(), delivered, thread.waitingBytes]).toEqual([true, 0, 0]);
  });

  test('are delivered before the end of their thread is reported, however many turns they need', async () => {
    for (let count = 0; count < 300; count++) receiveOne();
    socket.send('end');
    blockUntil(() => thread.waitingBytes > ENDED_BYTES);
    delivered = FRAMES_MAX;
    onDelivery = () => {
      nowMs += 50;
    };
    await until(() => closed.length === 1);
    expect(closed).toEqual(['the receive thread has ended after 300 frames']);
  });

  test('show their bytes and the age of the oldest in the metrics', async () => {
    for (let count = 0; count < 7; count++) receiveOne();
    [wallMs, delivered] = [2_500, FRAMES_MAX];
    expect(thread.receiveWaiting()).toBe(false);
    const text = await metrics.registry.metrics();
    expect(text).toContain('\nunderround_feed_handover_waiting_bytes 2\n');
    expect(text).toContain('\nunderround_feed_handover_lag_seconds 0.5\n');
  });

  test('are counted with the seconds that they have waited', async () => {
    const name = 'underround_feed_handover_seconds';
    const waited = async () => {
      const { values } = await metrics.registry.getSingleMetric(name)!.get();
      return values.find((one) => 'metricName' in one && one.metricName === `${name}_sum`)!.value;
    };
    const before = await waited();
    [wallMs, delivered] = [2_500, FRAMES_MAX];
    receiveOne();
    expect(thread.receiveWaiting()).toBe(true);
    expect((await waited()) - before).toBeCloseTo(0.5, 3);
    // A wall clock that was set back.
    wallMs = 1_500;
    receiveOne();
    expect(thread.receiveWaiting()).toBe(true);
    expect((await waited()) - before).toBeCloseTo(0.5, 3);
  });

  test('are delivered also after one that could not be processed', () => {
    isBroken = true;
    receiveOne();
    expect(() => thread.receiveWaiting()).toThrow('not processed');
    [isBroken, delivered] = [false, FRAMES_MAX];
    receiveOne();
    expect([thread.receiveWaiting(), delivered]).toEqual([true, FRAMES_MAX + 1]);
  });

  test('have no age while the wall clock is before their receipt', () => {
    for (let count = 0; count < 6; count++) receiveOne();
    expect(thread.receiveWaiting()).toBe(false);
    const ages = [1_999, 2_000, 2_001].map((atMs) => {
      wallMs = atMs;
      return thread.lagMs;
    });
    expect(ages).toEqual([0, 0, 1]);
  });
});

describe('a receive thread that ends by itself', () => {
  let venue: LocalVenue;
  let clock: FakeClock;
  let socket: ReconnectingSocket;
  let downs: Disconnect[];
  beforeEach(async () => {
    venue = await LocalVenue.start();
    [clock, downs] = [new FakeClock(), []];
    start({ clock, entry: crashingEntry() });
    socket = reconnecting(clock);
    await until(() => socket.isUp);
  });
  afterEach(async () => {
    await socket.close();
    await venue.stop();
  });

  /** The built thread, modified to throw when it should send `crash`. */
  function crashingEntry(): string {
    const file = join(temporaryDirectory(), 'crashing.mjs');
    writeFileSync(
      file,
      `import { workerData } from 'node:worker_threads';
       import ${built('venues/receiveWorker')};
       const { port } = workerData;
       port.on('message', ({ text, id }) => {
         if (text === 'crash after a frame') port.postMessage({ events: [['frame', id, 7, 'the last', 8]], bytes: 0 });
         if (text?.startsWith('crash')) throw new Error('broken');
       });`,
    );
    return file;
  }

  function reconnecting(by: Clock): ReconnectingSocket {
    const parts = { clock: by, random: () => 0.5, log: silentLogger, metrics, sockets: thread };
    return new ReconnectingSocket({
      ...{ ...parts, url: venue.wsUrl, feed: 'test', keepAlive: null, silenceLimitMs: null },
      onOpen: () => undefined,
      onFrame: (text, receivedTimeMs) => frames.push({ text, receivedTimeMs }),
      onDown: (disconnect) => downs.push(disconnect),
    });
  }

  test('is logged, counted and replaced, and its connections are reported lost', async () => {
    venue.latest.socket.send('before');
    await until(() => frames.length === 1);
    socket.send('crash');
    await until(() => downs.length === 1);
    expect(downs).toEqual([{ cause: 'the receive thread has ended', receivedTimeMs: clock.now() }]);
    expect(errors.map(({ err, restartDelayMs }) => [err.message, restartDelayMs])).toEqual([['broken', 100]]);
    expect(await counted('underround_feed_thread_failures_total')).toBe(1);
    await clock.advance(1_000);
    await until(() => socket.isUp);
    venue.latest.socket.send('after');
    await until(() => frames.length === 2);
    expect(frames.map(({ text }) => text)).toEqual(['before', 'after']);
  });

  test('delivers what it had received before its connections are reported lost', async () => {
    socket.send('crash after a frame');
    await until(() => downs.length === 1);
    expect(frames).toEqual([{ text: 'the last', receivedTimeMs: 7 }]);
  });

  test('is replaced soon again once one has run for a minute', async () => {
    for (const [at, ranMs] of [0, 40_000, 60_000].entries()) {
      await clock.advance(ranMs);
      socket.send('crash');
      await until(() => downs.length === at + 1);
      await clock.advance(5_000);
      await until(() => socket.isUp);
    }
    expect(errors.map(({ restartDelayMs }) => restartDelayMs)).toEqual([100, 200, 100]);
  });

  test('reports no connection lost that was closed before', async () => {
    connect(venue.wsUrl);
    await until(() => isOpen);
    venue.latest.socket.close(4000);
    await until(() => closed.length === 1);
    socket.send('crash');
    await until(() => downs.length === 1);
    expect(closed).toEqual(['closed 4000']);
  });

  test('fails connection attempts until it is replaced', async () => {
    socket.send('crash');
    await until(() => downs.length === 1);
    connect(venue.wsUrl).terminate();
    connect(venue.wsUrl);
    // The caller first gets its socket.
    expect(closed).toEqual([]);
    await until(() => closed.length === 1);
    expect(closed).toEqual(['the receive thread has ended']);
  });
});

test('has nothing that waits before its first connection', async () => {
  start();
  expect([thread.waitingBytes, thread.lagMs, thread.isPaused]).toEqual([0, 0, false]);
  expect(thread.receiveWaiting()).toBe(true);
  const text = await metrics.registry.metrics();
  expect(text).toContain('\nunderround_feed_handover_waiting_bytes 0\n');
  expect(text).toContain('\nunderround_feed_handover_lag_seconds 0\n');
});

test('reads all connections in one thread, with a heap of at most 256 MB', async () => {
  const entry = join(temporaryDirectory(), 'reporting.mjs');
  writeFileSync(
    entry,
    `import { resourceLimits, threadId, workerData } from 'node:worker_threads';
     const { port } = workerData;
     const self = threadId + ' ' + resourceLimits.maxOldGenerationSizeMb;
     port.on('message', ({ do: command, id }) => {
       if (command === 'connect') port.postMessage({ events: [['frame', id, 1, self, 1]], bytes: 1 });
     });`,
  );
  start({ entry });
  const heard: [string, string][] = [];
  for (const name of ['one', 'other']) {
    const onFrame = (text: string) => heard.push([name, text]);
    const events = { onOpen: () => undefined, onFrame, onClosed: () => undefined };
    thread.connect({ url: 'ws://none', keepAlive: null, silenceLimitMs: null }, events);
  }
  await until(() => heard.length === 2);
  const [[, self]] = heard as [[string, string]];
  expect(self).toMatch(/^\d+ 256$/);
  expect(heard).toEqual([
    ['one', self],
    ['other', self],
  ]);
});

test('logs the exit status of a thread that ends without an error', async () => {
  const entry = join(temporaryDirectory(), 'exiting.mjs');
  writeFileSync(entry, 'process.exit(3);');
  start({ clock: new FakeClock(), entry });
  thread.start();
  await until(() => errors.length === 1);
  expect(errors[0]?.err.message).toBe('exit status 3');
});

test('replaces a thread that ends at once with growing delays, up to half a minute', async () => {
  const clock = new FakeClock();
  const entry = join(temporaryDirectory(), 'ending.mjs');
  writeFileSync(entry, `throw new Error('broken');`);
  start({ clock, entry });
  thread.start();
  const delays = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000];
  for (const [index, delayMs] of delays.entries()) {
    await until(() => errors.length === index + 1);
    expect(errors[index]?.restartDelayMs).toBe(delayMs);
    await clock.advance(delayMs);
  }
  await until(() => errors.length > delays.length);
  expect(clock.waiting).toBe(1);
  await thread.close();
  expect(clock.waiting).toBe(0);
});

test('closes its connections and opens no others after close()', async () => {
  const venue = await LocalVenue.start();
  start();
  connect(venue.wsUrl);
  await until(() => isOpen);
  await thread.close();
  await until(() => venue.latest.closed);
  connect(venue.wsUrl);
  await until(() => closed.length === 1);
  expect(venue.connections).toHaveLength(1);
  expect(errors).toEqual([]);
  await venue.stop();
});

test('has no thread any more when close() returns', async () => {
  const started = once(process, 'worker');
  start();
  thread.start();
  const [worker] = (await started) as [Worker];
  expect(worker.threadId).toBeGreaterThan(0);
  await thread.close();
  expect(worker.threadId).toBe(-1);
});

test('does not keep the process running for an open connection', async () => {
  const venue = await LocalVenue.start();
  start();
  const script = `
    import { createServer } from 'node:net';
    import { systemClock } from ${built('runtime/clock')};
    import { Metrics } from ${built('runtime/metrics')};
    import { ReceiveThread } from ${built('venues/receiveThread')};
    const parts = { clock: systemClock, random: () => 0, log: console, metrics: new Metrics() };
    const awake = createServer().listen(0, '127.0.0.1');
    const events = { onOpen: () => awake.close(() => console.log('open')), onFrame() {}, onClosed() {} };
    new ReceiveThread(parts).connect({ url: '${venue.wsUrl}', keepAlive: null, silenceLimitMs: null }, events);`;
  const file = join(temporaryDirectory(), 'open.mjs');
  writeFileSync(file, script);
  expect(await promisify(execFile)(process.execPath, [file])).toEqual({ stdout: 'open\n', stderr: '' });
  await venue.stop();
});
