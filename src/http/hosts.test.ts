import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { KEY, testApi, unaskedStore, uncheckedApi } from '../../test/support/api.ts';
import { loadTransport } from './transport.ts';

const CONFIG = {
  ...{ tlsCertFile: null, tlsKeyFile: null, trustProxy: null },
  ...{ host: 'recorder.lan', publicHosts: ['books.example.com'] },
};
const DETAIL = 'Unknown host name; the operator lists the names of this service in UNDERROUND_PUBLIC_HOST';

function open(config = CONFIG) {
  const app = testApi({ store: unaskedStore, transport: loadTransport(config) });
  onTestFinished(() => app.close());
  return app;
}

it.each([
  ['localhost', true],
  ['LOCALHOST:8080', true],
  ['localhost.', true],
  ['a.localhost:1', true],
  ['127.0.0.1:8080', true],
  ['192.0.2.7', true],
  ['0.0.0.0:80', true],
  ['[::1]:8080', true],
  ['[2001:db8::1]', true],
  ['books.example.com', true],
  ['Books.Example.com.:443', true],
  ['recorder.lan:8080', true],
  ['evil.example', false],
  ['evil.example:8080', false],
  ['localhost.evil.example', false],
  ['notlocalhost', false],
  ['127.0.0.1.evil.example', false],
  ['a.books.example.com', false],
  ['books.example.com.evil.example', false],
  ['books.example.com@evil.example', false],
  ['[evil.example]', false],
  ['::1', false],
  [':8080', false],
])('host %j: %s', async (host, isKnown) => {
  const answer = await open().inject({ url: '/v1/tickers', headers: { host, ...KEY } });
  expect([answer.statusCode, answer.json()]).toEqual(
    isKnown ? [404, { detail: 'Not Found' }] : [421, { detail: DETAIL }],
  );
});

it('is checked before routes, keys and bodies', async () => {
  const headers = { host: 'evil.example' };
  const asked = [
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['DELETE', '/health/'],
    ['GET', '/openapi.json'],
    ['POST', '/app/sign-in'],
    ['GET', '/v1/markets'],
    ['HEAD', '/docs'],
    ['GET', '/livez/../v1/markets'],
  ] as const;
  const app = uncheckedApi({ store: unaskedStore });
  onTestFinished(() => app.close());
  for (const [method, url] of asked) {
    const answer = await app.inject({ method, url, headers });
    expect(answer.statusCode, `${method} ${url}`).toBe(421);
  }
});

it('probes are answered for any name', async () => {
  for (const url of ['/livez', '/readyz', '/health', '/metrics', '/health?x=1']) {
    const answer = await open().inject({ url, headers: { host: 'probe.internal' } });
    expect(answer.statusCode, url).toBe(200);
  }
});

it('forwarded headers of a proxy do not change it', async () => {
  const app = open({ ...CONFIG, trustProxy: '1' } as never);
  const forwarded = { 'x-forwarded-host': 'books.example.com', 'x-forwarded-proto': 'https' };
  const answer = await app.inject({ url: '/v1/markets', headers: { host: 'evil.example', ...forwarded } });
  expect(answer.statusCode).toBe(421);
});

it.each([
  ['a handshake', 'GET /v1/stream', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'],
  ['an offer of another protocol', 'GET /v1/markets', 'Upgrade: h2c\r\nConnection: Upgrade, close\r\n'],
])('%s is refused as well', async (_, line, headers) => {
  const app = open();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  socket.write(`${line} HTTP/1.1\r\nHost: evil.example\r\n${headers}${key}\r\n`);
  await once(socket, 'end');
  expect(text).toMatch(/^HTTP\/1\.1 421 /);
});
