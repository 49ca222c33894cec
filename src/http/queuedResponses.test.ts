import { EventEmitter, once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { closeQueuedResponses } from './queuedResponses.ts';

/** A server that answers nothing itself, and a client that has sent three requests at once. */
async function rig() {
  const server = createServer();
  const closed: string[] = [];
  const responses: ServerResponse[] = [];
  closeQueuedResponses({ server } as Pick<FastifyInstance, 'server'>);
  const arrived = new Promise<void>((resolve) => {
    server.on('request', ({ url = '' }, response) => {
      response.on('close', () => closed.push(url));
      if (responses.push(response) === 3) resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  client.write(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  const [socket] = (await accepted) as [Socket];
  await arrived;
  const disconnect = async () => {
    const ended = new Promise((resolve) => socket.once('close', resolve));
    client.destroy();
    await ended;
    await nextTurn();
  };
  return { client, closed, responses, disconnect };
}

test('every response of a connection that closes is closed once, also those that wait behind another', async () => {
  const { closed, responses, disconnect } = await rig();
  await disconnect();
  expect(closed.toSorted()).toEqual(['/1', '/2', '/3']);
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});

test('a response that was sent before its connection closes is closed once', async () => {
  const { client, closed, responses, disconnect } = await rig();
  const sent = responses.slice(0, 2).map((response) => once(response, 'close'));
  for (const response of responses.slice(0, 2)) response.end('sent');
  client.resume();
  await Promise.all(sent);
  expect(closed).toEqual(['/1', '/2']);
  await disconnect();
  expect(closed).toEqual(['/1', '/2', '/3']);
});

test('a response that Node leaves open is closed with its connection', async () => {
  const [server, socket] = [new EventEmitter(), new EventEmitter()];
  closeQueuedResponses({ server } as never);
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  let closed = 0;
  response.on('close', () => closed++);
  server.emit('request', { socket }, response);
  socket.emit('close');
  await nextTurn();
  expect([closed, response.destroyed]).toEqual([1, true]);
});
