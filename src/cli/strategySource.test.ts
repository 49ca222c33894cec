import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Secret } from '../runtime/secret.ts';
import { askOf } from './strategySource.ts';

/** The answer to one request of a service that sends what the test sends. */
async function asked() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const clock = new FakeClock();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = askOf({ url, key: new Secret('k') }, clock);
  const answer = ask('/v1/tapes', new AbortController().signal);
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { clock, answer, response };
}

test('a service that sends no answer is given up after 90 s', async () => {
  const { clock, answer } = await asked();
  const refused = expect(answer).rejects.toThrow('nothing was received for 90 s');
  await clock.advance(89_999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);
  await refused;
});

test('a service that stops in the middle of an answer is given up after 90 s', async () => {
  const { clock, answer, response } = await asked();
  response.write('a part');
  const { body } = await answer;
  const read = buffer(Readable.from(body));
  await expect(clock.advanceUntil(read, 10_000)).rejects.toThrow('nothing was received for 90 s');
  expect(clock.monotonic()).toBe(90_000);
});

test('an answer whose bytes come in time is whole', async () => {
  const { clock, answer, response } = await asked();
  response.write('a part');
  await clock.advance(60_000);
  const { status, body } = await answer;
  response.end(' and the rest');
  expect([status, (await buffer(Readable.from(body))).toString()]).toEqual([200, 'a part and the rest']);
  expect(clock.waiting).toBe(0);
});
