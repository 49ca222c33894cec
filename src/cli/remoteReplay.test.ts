import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Duplex, Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Secret } from '../runtime/secret.ts';
import { printRemoteReplay } from './remoteReplay.ts';
import { ReplayOutput } from './replayOutput.ts';

/** A replay from a service that has received the handshake. */
async function replay() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = new FakeClock();
  const printed: string[] = [];
  const out = new Writable({
    write: (text, _encoding, done) => {
      printed.push(String(text));
      done();
    },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = printRemoteReplay(
    { command: '{"type":"subscribe"}', speed: 0, start: undefined, end: undefined },
    { service: { url, key: new Secret('k') }, clock },
    new ReplayOutput(out, new AbortController().signal),
  );
  const [request, socket, head] = (await once(server, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const refusal = `${url} does not answer: nothing was received for 90 s; start the service, or name another with --url or UNDERROUND_URL`;
  return { clock, running, printed, refusal, request, socket, head };
}

test('a service that does not answer the handshake is given up after 90 s', async () => {
  const { clock, running, refusal } = await replay();
  const refused = expect(running).rejects.toThrow(refusal);
  await clock.advance(89_999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);
  await refused;
  expect(clock.waiting).toBe(0);
});

test('a service that falls silent is given up 90 s after its last message', async () => {
  const { clock, running, printed, refusal, request, socket, head } = await replay();
  const server = new WebSocketServer({ noServer: true });
  const service = await new Promise<WebSocket>((resolve) =>
    server.handleUpgrade(request, socket, head, resolve),
  );
  const [command] = await once(service, 'message');
  expect(String(command)).toBe('{"type":"subscribe"}');
  await clock.advance(60_000);
  service.send('{"type":"snapshot"}');
  while (printed.length === 0) await new Promise(setImmediate);
  await clock.advance(60_000);
  // Nothing happened in the recording for a minute.
  const answered = once(service, 'pong');
  service.ping();
  await answered;
  const refused = expect(running).rejects.toThrow(refusal);
  await clock.advance(89_999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);
  await refused;
  expect(printed).toEqual(['{"type":"snapshot"}\n']);
});
