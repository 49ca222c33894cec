import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { BUFFERED_BYTES_MAX, Connection, MESSAGES_AT_ONCE, PRESSURE_BYTES } from './connection.ts';
import { StreamMetrics } from './streamMetrics.ts';
import { textFrame } from './textFrame.ts';

/** A connection over a socket whose buffer the test sets, and what it wrote and closed with. */
function rig() {
  const clock = new FakeClock();
  const written: string[] = [];
  const closes: [number, string][] = [];
  const transport = Object.assign(new EventEmitter(), { write: () => void written.push('frame') });
  const socket = Object.assign(new EventEmitter(), {
    ...{ OPEN: 1, readyState: 1, bufferedAmount: 0 },
    send: (message: Buffer) => void written.push(message.toString()),
    ping: () => void written.push('ping'),
    close: (code: number, reason: string) => void closes.push([code, reason]),
    isPaused: false,
    pause: () => void Object.assign(socket, { isPaused: true }),
    resume: () => void Object.assign(socket, { isPaused: false }),
  });
  const connection = new Connection(socket as never, transport as never, {
    ...{ clock, log: silentLogger, metrics: new StreamMetrics(new Metrics()), stream: 'market' },
  });
  const drained: number[] = [];
  connection.onDrained = () => void drained.push(clock.monotonic());
  const buffer = (bytes: number) => {
    socket.bufferedAmount = bytes;
    return connection.isPressed;
  };
  const drain = () => {
    socket.bufferedAmount = 0;
    transport.emit('drain');
  };
  return { clock, written, closes, socket, connection, drained, buffer, drain };
}

const SLOW = [1013, 'too slow'];

test('a client is under pressure from 256 KiB on, and closed after 5 s in which its buffer does not shrink', async () => {
  const { clock, closes, buffer } = rig();
  expect([buffer(PRESSURE_BYTES - 1), buffer(PRESSURE_BYTES)]).toEqual([false, true]);
  await clock.advance(4_999);
  expect(closes).toEqual([]);
  await clock.advance(1);
  expect(closes).toEqual([SLOW]);
});

test('a buffer that left in time begins a new 5 s at the next pressure', async () => {
  const { clock, closes, drained, buffer, drain } = rig();
  buffer(PRESSURE_BYTES);
  await clock.advance(3_000);
  drain();
  expect(drained).toEqual([3_000]);
  await clock.advance(500);
  buffer(PRESSURE_BYTES);
  await clock.advance(4_999);
  expect(closes).toEqual([]);
  await clock.advance(1);
  expect(closes).toEqual([SLOW]);
});

test('a buffer that shrinks keeps its client, which is sent more once the pressure is over', async () => {
  const { clock, closes, drained, buffer, socket } = rig();
  buffer(PRESSURE_BYTES + 2);
  socket.bufferedAmount = PRESSURE_BYTES + 1;
  await clock.advance(5_000);
  socket.bufferedAmount = PRESSURE_BYTES - 1;
  expect([closes, drained]).toEqual([[], []]);
  await clock.advance(5_000);
  expect([closes, drained]).toEqual([[], [10_000]]);
  await clock.advance(10_000);
  expect(closes).toEqual([]);
});

test('a client is closed at the third ping after two without an answer; a message is an answer', async () => {
  const { clock, closes, written, socket } = rig();
  await clock.advance(50_000);
  socket.emit('message', '{"type":"pong"}', false);
  await clock.advance(50_000);
  expect([closes, written.filter((text) => text === 'ping').length]).toEqual([[], 4]);
  socket.emit('pong');
  await clock.advance(74_999);
  expect(closes).toEqual([]);
  await clock.advance(1);
  expect(closes).toEqual([[1008, 'two pings without an answer']]);
  await clock.advance(60_000);
  expect(closes).toHaveLength(1);
});

test('a client that reads slowly is not closed while its buffer leaves, however late it finds a ping', async () => {
  const { clock, closes, buffer, drain } = rig();
  for (let read = 0; read < 5; read++) {
    await clock.advance(47_000);
    buffer(PRESSURE_BYTES);
    await clock.advance(3_000);
    drain();
  }
  expect(closes).toEqual([]);
  await clock.advance(75_000);
  expect(closes).toEqual([[1008, 'two pings without an answer']]);
});

test('nothing is written to a socket that closes', () => {
  const { connection, written, socket } = rig();
  const frame = textFrame([Buffer.from('a')]);
  connection.sendFrame(frame);
  socket.readyState = 2;
  connection.sendFrame(frame);
  expect(written).toEqual(['frame']);
});

test('a client that sends commands without reading is closed above 1 MiB', () => {
  const { connection, closes, socket } = rig();
  socket.bufferedAmount = BUFFERED_BYTES_MAX;
  connection.answer('a');
  expect(closes).toEqual([]);
  socket.bufferedAmount = BUFFERED_BYTES_MAX + 1;
  connection.answer('b');
  expect(closes).toEqual([SLOW]);
});

test('a command that fails ends the connection once, and later ones are ignored', () => {
  const { connection, closes, socket } = rig();
  const commands: string[] = [];
  let ended = 0;
  connection.onClosed = () => void ended++;
  connection.onText = (text) => {
    commands.push(text);
    throw new TypeError('a defect');
  };
  socket.emit('message', 'first', false);
  socket.emit('message', 'second', false);
  socket.emit('close');
  expect([commands, closes, ended, connection.isOpen]).toEqual([
    ...[['first'], [[1011, 'internal error']], 1, false],
  ]);
});

/** Receives messages; of one read, the socket library passes on all, also of a paused socket. */
function flooded() {
  const opened = rig();
  let handled = 0;
  opened.connection.onText = () => void handled++;
  const receive = (count: number) => {
    for (let n = 0; n < count; n++) opened.socket.emit('message', Buffer.from('{"type":"subscribe"}'), false);
    return [opened.socket.isPaused, handled];
  };
  return { ...opened, receive };
}

test('a client that sends 200 messages at once, and ten a second, is always read', async () => {
  const { clock, receive } = flooded();
  expect(receive(MESSAGES_AT_ONCE)).toEqual([false, 200]);
  await clock.advance(1_000);
  expect(receive(10)).toEqual([false, 210]);
});

test('a client that sends more is not read until its messages are ten a second, and none is lost', async () => {
  const { clock, socket, receive } = flooded();
  expect(receive(MESSAGES_AT_ONCE + 1)).toEqual([true, 201]);
  await clock.advance(99);
  expect(receive(4)).toEqual([true, 205]);
  await clock.advance(400);
  expect(socket.isPaused).toBe(true);
  await clock.advance(1);
  expect(socket.isPaused).toBe(false);
  expect(receive(1)).toEqual([true, 206]);
});

test('a connection that ends is read again: the client’s close message must arrive', async () => {
  const { clock, socket, connection, receive } = flooded();
  receive(MESSAGES_AT_ONCE + 1);
  connection.close('goingAway');
  expect(socket.isPaused).toBe(false);
  const before = clock.waiting;
  await clock.advance(100);
  expect([before, clock.waiting]).toEqual([0, 0]);
});
