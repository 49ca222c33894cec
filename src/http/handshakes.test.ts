import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { stubStore } from '../../test/support/stubStore.ts';

/** Headers that Java's HTTP client and `curl --http2` add to requests. */
const H2C = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
const WEBSOCKET = {
  ...{ connection: 'Upgrade', upgrade: 'websocket' },
  ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
};
/** More than all buffers between server and client hold. */
const ROWS = Array.from({ length: 1000 }, () => `"${'x'.repeat(8192)}"`).join();

let app: FastifyInstance;
let agent: Agent;
let connections = 0;

beforeEach(async () => {
  const stream = async () => Readable.from([Buffer.from(`[${ROWS}]`)]);
  app = testApi({ store: stubStore({ stream }) });
  connections = 0;
  app.server.on('connection', () => void connections++);
  await app.listen({ port: 0, host: '127.0.0.1' });
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await app.close();
});

async function ask(
  path: string,
  { method = 'GET', headers = {}, body = '' } = {},
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string }> {
  const { port } = app.server.address() as AddressInfo;
  const asking = request({
    ...{ host: '127.0.0.1', port, path, method, agent },
    headers: { ...KEY, ...headers },
  });
  asking.end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  };
}

describe.each([
  ['h2c', H2C],
  ['websocket, on a plain route', WEBSOCKET],
])('an offer of %s is ignored', (_name, headers) => {
  test('a long response is complete, and the connection stays usable', async () => {
    const answer = await ask('/v1/perp/depth?ticker=BTC&limit=1001', { headers });
    expect([answer.status, answer.text.length > ROWS.length]).toEqual([200, true]);
    expect(answer.text).toContain(ROWS);
    expect(answer.headers).toMatchObject({ connection: 'keep-alive' });
    expect(answer.headers).not.toHaveProperty('upgrade');
    const before = connections;
    expect((await ask('/livez')).text).toBe('{"ok":true}');
    expect(connections).toBe(before);
  });

  test('the body of a request is read', async () => {
    const answer = await ask('/v1/paper/strategies', { method: 'POST', headers, body: '{"name": 1}' });
    expect([answer.status, JSON.parse(answer.text).detail[0]]).toEqual([
      422,
      { type: 'string_type', loc: ['body', 'name'], msg: 'Input should be a valid string', input: 1 },
    ]);
  });

  test('a key is still required, and unknown paths are 404', async () => {
    const bad = await ask('/v1/markets', { headers: { ...headers, authorization: 'Bearer wrong' } });
    expect([bad.status, bad.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect((await ask('/v1/nothing', { headers })).text).toBe('{"detail":"Not Found"}');
  });
});

test('a stream requested with another protocol gets 426 with the protocol it speaks', async () => {
  const answer = await ask('/v1/stream', { headers: H2C });
  expect([answer.status, answer.headers.upgrade]).toEqual([503, undefined]);
});
