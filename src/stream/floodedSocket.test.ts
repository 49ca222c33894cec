import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StreamRig } from '../../test/support/streams.ts';
import { MESSAGES_AT_ONCE } from './connection.ts';

/** More would be read later. */
const COUNT = MESSAGES_AT_ONCE;
const TEXT = '{"type":"pong"}';
const HANDSHAKE = [
  'GET /v1/stream HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Authorization: Bearer free',
].join('\r\n');

/** A text frame of a client, whose mask is zeros. */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

test('messages that arrive in one packet are processed one in each turn of the event loop', async () => {
  const rig = await new StreamRig().start();
  const socket = connect(Number(rig.url.split(':')[1]), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`${HANDSHAKE}\r\n\r\n`);
  await once(socket, 'data');
  const parse = vi.spyOn(JSON, 'parse');
  const processed = () => parse.mock.calls.filter(([text]) => text === TEXT).length;
  socket.write(Buffer.concat(Array(COUNT).fill(frameOf(TEXT))));
  let [before, most] = [0, 0];
  while (before < COUNT) {
    await nextTurn();
    const now = processed();
    [most, before] = [Math.max(most, now - before), now];
  }
  expect(most).toBe(1);
});
