import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Connection } from './connection.ts';
import { StreamMetrics } from './streamMetrics.ts';
import { textFrame } from './textFrame.ts';

/** Both sides of every length at which a frame's header changes. */
const LENGTHS = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];

test('a frame of any length is read by another implementation, in order with the socket’s own frames', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const metrics = new Metrics();
  let accept: (connection: Connection) => void = () => undefined;
  const accepted = new Promise<Connection>((resolve) => {
    accept = resolve;
  });
  sockets.on('connection', (socket, { socket: transport }) => {
    const parts = { clock: new FakeClock(), log: silentLogger, metrics: new StreamMetrics(metrics) };
    accept(new Connection(socket, transport, { ...parts, stream: 'market' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  const received: string[] = [];
  const all = new Promise<void>((resolve) => {
    client.on('message', (data, isBinary) => {
      expect(isBinary).toBe(false);
      if (received.push(String(data)) === 2 * LENGTHS.length) resolve();
    });
  });
  const connection = await accepted;
  const texts = LENGTHS.map((length) => 'ö'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2));
  for (const text of texts) {
    connection.sendFrame(textFrame([Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]));
    connection.send(Buffer.from('between'));
  }
  await all;
  expect(received).toEqual(texts.flatMap((text) => [text, 'between']));
  const counted = await metrics.registry.getMetricsAsJSON();
  const valueNamed = (name: string) => counted.find((metric) => metric.name === name)?.values[0]?.value;
  expect(valueNamed('underround_stream_messages_total')).toBe(2 * LENGTHS.length);
  const bytes = LENGTHS.reduce((sum, length) => sum + length + 'between'.length, 0);
  expect(valueNamed('underround_stream_bytes_total')).toBe(bytes);
});

test('the message is a view of the frame, after its header', () => {
  const { bytes, message } = textFrame([Buffer.from('{"type":'), Buffer.from('"x"}')]);
  expect(String(message)).toBe('{"type":"x"}');
  expect([...bytes.subarray(0, 2)]).toEqual([0x81, 12]);
});
