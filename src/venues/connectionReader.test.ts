import { MessageChannel } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { ConnectionReader } from './connectionReader.ts';
import { type SocketBatch, type SocketCommand, type SocketEvent, WaitingBytes } from './handover.ts';

const CLOCK = new FakeClock();
const NOW_MS = CLOCK.now();
let venue: LocalVenue;

beforeEach(async () => {
  venue = await LocalVenue.start();
  onTestFinished(() => venue.stop());
});

/** A reader, with the main thread's end of its port. */
function reading(waitingBytesMax = 1_000_000) {
  const { port1, port2 } = new MessageChannel();
  const waiting = new WaitingBytes(waitingBytesMax);
  new ConnectionReader({ port: port2, shared: waiting.shared, waitingBytesMax, proxyUrl: null }, CLOCK);
  const events: SocketEvent[] = [];
  port1.on('message', (batch: SocketBatch) => void events.push(...batch.events));
  onTestFinished(() => port1.close());
  const command = (one: SocketCommand) => port1.postMessage(one);
  const connect = async (id: number) => {
    const before = venue.connections.length;
    command({
      ...{ do: 'connect', id },
      options: { url: venue.wsUrl, keepAlive: null, silenceLimitMs: null },
    });
    await until(() => venue.connections.length > before);
    return venue.latest;
  };
  return {
    waiting,
    events,
    command,
    connect,
    happened: (count: number) => until(() => events.length >= count),
  };
}

test('does what the main thread commands, and posts every event with its connection and time', async () => {
  const { events, command, connect, happened } = reading();
  const first = await connect(1);
  await happened(1);
  first.socket.send('prices é');
  await happened(2);
  command({ do: 'send', id: 1, text: 'subscribe' });
  await until(() => first.received.length === 1);
  const second = await connect(2);
  await happened(3);
  command({ do: 'terminate', id: 2 });
  await until(() => second.closed);
  command({ do: 'close', id: 1 });
  await happened(4);
  venue.refuseUpgrade = 503;
  venue.refusalHeader = 'retry-after: 7';
  command({ do: 'connect', id: 3, options: { url: venue.wsUrl, keepAlive: null, silenceLimitMs: null } });
  await happened(5);
  // Nothing is known any more under the number of a closed connection.
  command({ do: 'send', id: 1, text: 'late' });
  expect(first.received).toEqual(['subscribe']);
  expect(events).toEqual([
    ['open', 1, NOW_MS],
    ['frame', 1, NOW_MS, 'prices é', 9],
    ['open', 2, NOW_MS],
    ['closed', 1, NOW_MS, 'closed 1000', null],
    ['closed', 3, NOW_MS, 'HTTP 503', '7'],
  ]);
});

test('reads no connection while too many bytes wait, and all of them once it is to resume', async () => {
  const { waiting, events, command, connect, happened } = reading(1_000);
  const open = await connect(1);
  await happened(1);
  open.socket.send('x'.repeat(2_000));
  await happened(2);
  expect([waiting.isPaused, waiting.bytes]).toEqual([true, 2_200]);
  const during = await connect(2);
  await happened(3);
  for (const { socket } of [open, during]) {
    await new Promise((resolve) => socket.send('later', resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(events.slice(2)).toEqual([['open', 2, NOW_MS]]);
  expect(waiting.subtract(2_200)).toBe(true);
  command({ do: 'resume' });
  await happened(5);
  expect(events.slice(3).toSorted((a, b) => a[1] - b[1])).toEqual([
    ['frame', 1, NOW_MS, 'later', 5],
    ['frame', 2, NOW_MS, 'later', 5],
  ]);
  // A connection that is opened now is read at once.
  const after = await connect(3);
  await happened(6);
  after.socket.send('now');
  await happened(7);
});
