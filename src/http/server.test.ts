import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { decompress } from 'fzstd';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { idleLive, KEY, testApi, uncheckedApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { STUB_DEPTH, stubStore } from '../../test/support/stubStore.ts';
import type { ApiDependencies } from '../api/createApi.ts';
import { StoreRefusedError, StoreUnavailableError } from '../runtime/errors.ts';
import { type Logger, silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { StoreReader } from '../store/reader.ts';
import { CLOSE_GRACE_MS } from './server.ts';

const failing = (error: unknown): Partial<StoreReader> => ({
  rows: async () => {
    throw error;
  },
});

/** Decompresses with another implementation than the one that compressed. */
const unpackZstd = (bytes: Buffer): Buffer => Buffer.from(decompress(bytes));

const apps: FastifyInstance[] = [];
function api(parts: Partial<ApiDependencies> = {}): FastifyInstance {
  const app = testApi({ store: stubStore(), ...parts });
  apps.push(app);
  return app;
}
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** Starts listening. @returns Its URL without a path. */
const served = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' });
const portOf = async (app: FastifyInstance) => Number(new URL(await served(app)).port);

const DEPTH = '/v1/perp/depth?ticker=BTC';
/** A page long enough to be streamed. */
const STREAMED = `${DEPTH}&limit=1001`;

describe('refusals', () => {
  test.each([
    ['no key', {}, 'Unknown API key'],
    ['an invalid key with invalid parameters', { authorization: 'Bearer bad' }, 'Unknown API key'],
  ])('%s is 401 before anything is validated', async (_name, headers, detail) => {
    const response = await api().inject({ url: '/v1/perp/depth', headers });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.json()).toEqual({ detail });
  });

  test.each([
    ['GET', '/nothing', 404, 'Not Found'],
    ['GET', '/v1/nothing?x=1', 404, 'Not Found'],
    ['GET', '/v1/markets/a/b/c', 404, 'Not Found'],
    ['GET', '/%zz', 404, 'Not Found'],
    ['POST', '/v1/candles', 405, 'Method Not Allowed'],
    ['DELETE', '/v1/markets/0xaa/timeseries', 405, 'Method Not Allowed'],
    ['OPTIONS', '/health', 405, 'Method Not Allowed'],
  ] as const)('%s %s is %i without a key', async (method, url, status, detail) => {
    const response = await api().inject({ method, url });
    expect([response.statusCode, response.json()]).toEqual([status, { detail }]);
    expect(response.headers.allow).toBe(status === 405 ? 'GET, HEAD' : undefined);
  });

  test('all invalid parameters are reported at once, in declaration order', async () => {
    const response = await api().inject({ url: '/v1/perp/depth?offset=-3&limit=99999', headers: KEY });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toEqual({
      detail: [
        { type: 'missing', loc: ['query', 'ticker'], msg: 'Field required', input: null },
        {
          type: 'less_than_equal',
          loc: ['query', 'limit'],
          msg: 'Input should be less than or equal to 10000',
          input: '99999',
          ctx: { le: 10_000 },
        },
        {
          type: 'greater_than_equal',
          loc: ['query', 'offset'],
          msg: 'Input should be greater than or equal to 0',
          input: '-3',
          ctx: { ge: 0 },
        },
      ],
    });
  });

  test.each([
    [`${DEPTH}&start=2026-02-02&end=2026-01-01`, 'start must not be after end'],
    ['/v1/markets?event_type=2h', 'event_type must be one of 5m, 15m, 1h, 4h, daily_up_down'],
    ['/v1/markets?since=2026-02-02&until=2026-01-01', 'since must not be after until'],
  ])('%s is 400', async (url, detail) => {
    const response = await api().inject({ url, headers: KEY });
    expect([response.statusCode, response.json()]).toEqual([400, { detail }]);
  });

  test('a value of the wrong type is reported before an invalid range', async () => {
    const url = `${DEPTH}&start=2026-02-02&end=2026-01-01&limit=x`;
    expect((await api().inject({ url, headers: KEY })).statusCode).toBe(422);
    const other = '/v1/markets?event_type=2h&limit=x';
    expect((await api().inject({ url: other, headers: KEY })).statusCode).toBe(422);
  });

  test.each([
    [
      new StoreUnavailableError('socket gone'),
      502,
      'The data store is temporarily unreachable, retry with back-off',
    ],
    [new StoreRefusedError('secret SQL', { storeCode: '62' }), 500, 'Internal Server Error'],
    [new TypeError('secret bug'), 500, 'Internal Server Error'],
  ])('the text of %s is never sent', async (error, status, detail) => {
    const response = await api({ store: stubStore(failing(error)) }).inject({ url: DEPTH, headers: KEY });
    expect([response.statusCode, response.json()]).toEqual([status, { detail }]);
  });

  test('bodies: too large is 413, invalid JSON is 422', async () => {
    const app = api();
    app.post('/test', async () => 'ok');
    const large = await app.inject({ method: 'POST', url: '/test', payload: 'x'.repeat(256 * 1024 + 1) });
    expect([large.statusCode, large.json()]).toEqual([
      413,
      { detail: 'Request body is larger than 256 KiB' },
    ]);
    for (const path of ['sign-in', 'sign-up', 'sign-out', 'password']) {
      const payload = JSON.stringify({ email: 'x'.repeat(8 * 1024) });
      const refused = await app.inject({ method: 'POST', url: `/app/${path}`, payload });
      const isPublic = path === 'sign-in' || path === 'sign-up';
      expect([path, refused.statusCode]).toEqual([path, isPublic ? 413 : 401]);
      if (isPublic) expect(refused.json()).toEqual({ detail: 'Request body is larger than 8 KiB' });
    }
    const headers = { 'content-type': 'text/plain' };
    const broken = await app.inject({ method: 'POST', url: '/test', payload: '{"a": ', headers });
    expect([broken.statusCode, broken.json().detail[0].loc]).toEqual([422, ['body', 6]]);
    const unreadable = { 'content-type': 'x' };
    const whole = await app.inject({ method: 'POST', url: '/test', payload: '{}', headers: unreadable });
    expect([whole.statusCode, whole.body]).toEqual([200, 'ok']);
  });

  test.each([
    ['announced by its length', 'Content-Length: 8193\r\n\r\n'],
    ['sent in chunks', `Transfer-Encoding: chunked\r\n\r\n2001\r\n${'x'.repeat(0x2001)}\r\n`],
  ])('a body that is too large is refused before the rest of it arrives: %s', async (_name, rest) => {
    const app = api();
    const socket = connect(await portOf(app), '127.0.0.1');
    socket.write(`POST /app/sign-in HTTP/1.1\r\nHost: localhost\r\n${rest}`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 413 .*\r\nconnection: close\r\n.*larger than 8 KiB"\}$/is);
  });

  test('for a body with many errors, 100 of them are reported', async () => {
    const payload = `{${Array.from({ length: 15_000 }, (_, at) => `"m${at}":${at}`).join(',')}}`;
    const response = await api().inject({ method: 'POST', url: '/v1/backtest', payload, headers: KEY });
    expect([response.statusCode, response.json().detail.length]).toEqual([422, 100]);
    expect(response.rawPayload.length).toBeLessThan(64 * 1024);
  });

  test.each(['/v1/backtest', '/v1/backtest/sweep', '/v1/paper/strategies'])(
    'POST %s: a body nested too deeply is 400, even far deeper than the stack',
    async (url) => {
      for (const levels of [65, 100_000]) {
        const payload = `{"strategy":${'['.repeat(levels)}${']'.repeat(levels)}}`;
        const response = await api().inject({ method: 'POST', url, payload, headers: KEY });
        const refusal = { detail: 'JSON is nested too deeply' };
        expect([response.statusCode, response.json()], `${levels} levels`).toEqual([400, refusal]);
      }
    },
  );

  test.each([
    ['that is not HTTP', 'NONSENSE\r\n', 400, 'Bad Request'],
    ['with a head too large', `GET /livez HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n`, 431, /Fields Too Large/],
    ['without a host', 'GET /livez HTTP/1.1\r\n', 400, 'Host header is missing'],
    ['with two hosts', 'GET /livez HTTP/1.1\r\nHost: a\r\nhost: b\r\n', 400, 'Host header is repeated'],
    [
      'that expects the unknown',
      'POST /livez HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n',
      417,
      /^Expectation/,
    ],
  ])(
    'a request %s is refused with JSON and the headers of every response',
    async (_name, head, status, detail) => {
      const info = vi.fn();
      const app = api({ dataSource: 'replay', log: { ...silentLogger, info } as unknown as Logger });
      const socket = connect(await portOf(app), '127.0.0.1');
      socket.end(`${head}Connection: close\r\n\r\n`);
      const answer = await text(socket);
      const [fields = '', body = ''] = answer.split('\r\n\r\n');
      expect(fields).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(fields).toMatch(/\r\ncontent-type: application\/json/);
      expect(fields).toMatch(/\r\nx-data-source: replay/);
      expect(fields).toMatch(/\r\nx-content-type-options: nosniff/);
      expect(JSON.parse(body)).toEqual({ detail: expect.stringMatching(detail) });
      const id = /\r\nx-request-id: ([\w-]+)/.exec(fields)?.[1];
      expect(info.mock.calls.map(([line]) => [line.request_id, line.status])).toEqual([[id, status]]);
    },
  );

  test('HTTP/1.0 needs no host', async () => {
    const app = api();
    const socket = connect(await portOf(app), '127.0.0.1');
    socket.end('GET /livez HTTP/1.0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"ok":true\}$/s);
  });
});

describe('headers of every response', () => {
  test('a request id, the client’s own if it is valid', async () => {
    const app = api();
    const own = await app.inject({ url: '/livez', headers: { 'x-request-id': 'abc-1' } });
    expect(own.headers['x-request-id']).toBe('abc-1');
    const hostile = await app.inject({ url: '/livez', headers: { 'x-request-id': 'a b"c' } });
    expect(hostile.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-1$/);
    expect((await app.inject({ url: '/nothing' })).headers['x-request-id']).toMatch(/^[0-9a-f]{12}-2$/);
  });

  test.each([
    ...['/livez', '/metrics', '/docs', '/openapi.json', '/nothing', '/', '/app/me', '/app/nothing', DEPTH],
    ...['/%zz', '//', '/v1/stream'],
  ])('nosniff: %s', async (url) => {
    // Pages are not part of the API description.
    const app = uncheckedApi({ store: stubStore() });
    apps.push(app);
    for (const method of ['GET', 'HEAD', 'POST'] as const) {
      const { headers } = await app.inject({ method, url, headers: KEY, payload: '{' });
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test.each(['simulated', 'replay'] as const)('X-Data-Source: %s', async (dataSource) => {
    expect((await api({ dataSource }).inject({ url: '/nothing' })).headers['x-data-source']).toBe(dataSource);
  });

  test.each([
    { lagMs: 0, header: undefined },
    { lagMs: 1_999, header: undefined },
    { lagMs: 2_000, header: '2' },
    { lagMs: 543_210, header: '543' },
  ])('X-Store-Lag $header while the store lags $lagMs ms', async ({ lagMs, header }) => {
    const app = api({ live: { ...idleLive, storeLagMs: () => lagMs } });
    for (const url of ['/v1/nothing', '/app/nothing'])
      expect((await app.inject({ url })).headers['x-store-lag']).toBe(header);
    expect((await app.inject({ url: '/livez' })).headers['x-store-lag']).toBeUndefined();
  });

  test('live data has no X-Data-Source', async () => {
    expect((await api().inject({ url: '/livez' })).headers['x-data-source']).toBeUndefined();
  });
});

test('one log line and one duration per request, without its query string', async () => {
  const info = vi.fn();
  const metrics = new Metrics();
  const app = api({ log: { ...silentLogger, info } as unknown as Logger, metrics });
  const url = await served(app);
  await fetch(`${url}${DEPTH}&api_key=secret`, { headers: KEY });
  await expect.poll(() => info.mock.calls.length).toBe(1);
  expect(info.mock.calls[0]).toEqual([
    expect.objectContaining({ method: 'GET', route: '/v1/perp/depth', status: 200, key_id: 'key_1' }),
    'http.request',
  ]);
  expect(JSON.stringify(info.mock.calls)).not.toContain('secret');
  await fetch(`${url}/random-path-1`);
  await expect.poll(() => info.mock.calls.length).toBe(2);
  const counted = await metrics.registry.metrics();
  expect(counted).toContain(
    'underround_http_request_seconds_count{method="GET",route="/v1/perp/depth",status="200"} 1',
  );
  expect(counted).toContain('route="unknown",status="404"');
  expect(counted).not.toContain('random-path');
});

test('metrics are not served here if they have their own address', async () => {
  expect((await api().inject({ url: '/metrics' })).statusCode).toBe(200);
  expect((await api({ metricsElsewhere: true }).inject({ url: '/metrics' })).statusCode).toBe(404);
});

describe('health', () => {
  test('has three fields from memory', async () => {
    expect((await api().inject({ url: '/health' })).json()).toEqual({
      ok: false,
      latest_snapshot: null,
      snapshots_last_5min: 0,
    });
    const clock = new FakeClock();
    const live = { ...idleLive, latestSnapshotTimeMs: clock.now() - 299_999, snapshotsLast5Min: () => 7 };
    const app = api({ clock, live });
    expect((await app.inject({ url: '/health' })).json()).toEqual({
      ok: true,
      latest_snapshot: '2026-11-20T11:55:00.001+00:00',
      snapshots_last_5min: 7,
    });
    await clock.advance(1);
    expect((await app.inject({ url: '/health' })).json()).toMatchObject({ ok: false });
  });

  test('/readyz reports the reasons', async () => {
    const live = { ...idleLive, ready: () => ({ ok: false, reasons: ['store'], degraded: ['feed'] }) };
    const response = await api({ live }).inject({ url: '/readyz' });
    expect([response.statusCode, response.headers['retry-after'], response.json()]).toEqual([
      503,
      '5',
      { ok: false, reasons: ['store'], degraded: ['feed'], detail: 'not ready: store' },
    ]);
    expect((await api().inject({ url: '/readyz' })).statusCode).toBe(200);
  });

  test('/metrics is Prometheus text', async () => {
    const response = await api().inject({ url: '/metrics' });
    expect(response.headers['content-type']).toContain('text/plain');
    expect(response.body).toContain('# TYPE underround_http_request_seconds histogram');
  });
});

describe('compression and HEAD', () => {
  const whole = `{"ticker":"BTC","total":1,"limit":200,"offset":0,"snapshots":[\n${JSON.stringify(STUB_DEPTH)}\n]\n,"next_cursor":null}`;

  test.each([
    ['gzip, deflate', 'gzip'],
    ['gzip, br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['zstd;q=0, *', 'br'],
    ['identity;q=1, br;q=0.5', undefined],
    ['BR;Q=0.9', 'br'],
    ['br;q=nonsense, gzip;q=0.001', 'gzip'],
    ['', undefined],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'zstd'],
    ['gzip;q=0', undefined],
    ['identity', undefined],
  ] as const)('Accept-Encoding %s -> %s', async (accept, encoding) => {
    const response = await api().inject({ url: DEPTH, headers: { ...KEY, 'accept-encoding': accept } });
    expect(response.headers['content-encoding']).toBe(encoding);
    expect(response.headers.vary).toBe('Accept-Encoding');
    const bytes = response.rawPayload;
    const plain = { br: brotliDecompressSync, gzip: gunzipSync, zstd: unpackZstd, none: Buffer.from };
    expect(String(plain[encoding ?? 'none'](bytes))).toBe(whole);
  });

  test('a small body is not compressed', async () => {
    const response = await api().inject({ url: '/livez', headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers['content-encoding']).toBeUndefined();
  });

  test('HEAD returns the head and reads no rows', async () => {
    const stream = vi.fn();
    const response = await api({ store: stubStore({ stream }) }).inject({
      method: 'HEAD',
      url: STREAMED,
      headers: KEY,
    });
    expect([response.statusCode, response.body]).toEqual([200, '']);
    expect(stream).not.toHaveBeenCalled();
    const small = await api().inject({ method: 'HEAD', url: '/livez' });
    expect([small.headers['content-length'], small.body]).toEqual(['11', '']);
  });
});

describe('streamed bodies', () => {
  const streaming = (source: Readable) => stubStore({ stream: async () => source });

  /** Resolves when the stream is closed, with or without an error. */
  const closing = (source: Readable) => new Promise<void>((resolve) => void source.once('close', resolve));

  async function listening(source: Readable): Promise<string> {
    return `${await served(api({ store: streaming(source) }))}${STREAMED}`;
  }

  test('an engine failure in the middle cuts the connection', async () => {
    const source = new Readable({ read: () => undefined });
    source.push('[{"update_id":1},'.padEnd(64 * 1024));
    const response = await fetch(await listening(source), { headers: KEY });
    expect(response.status).toBe(200);
    source.destroy(new StoreUnavailableError('gone'));
    await expect(response.text()).rejects.toThrow('terminated');
  });

  const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
  test.each([new StoreUnavailableError('gone'), cut])('%s before any byte is 502', async (error) => {
    const source = new Readable({ read: () => source.destroy(error) });
    const response = await fetch(await listening(source), { headers: KEY });
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([502, ['detail']]);
    expect(response.headers.get('retry-after')).toBe('5');
  });

  test('an incomplete array cuts the connection', async () => {
    const source = new Readable({ read: () => undefined });
    source.push('[{"update_id":1}'.padEnd(64 * 1024));
    const response = await fetch(await listening(source), { headers: KEY });
    source.push(null);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  test('a disconnecting client destroys the stream', async () => {
    const chunk = Buffer.from('[{"update_id":1},'.padEnd(64 * 1024));
    const source = new Readable({ read: () => void source.push(chunk) });
    const closed = closing(source);
    const leaving = new AbortController();
    const response = await fetch(await listening(source), { headers: KEY, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await closed;
    expect(source.destroyed).toBe(true);
  });

  test('a client that disconnects while the page is searched cancels the query', async () => {
    let asked: (signal: AbortSignal) => void = () => undefined;
    const query = new Promise<AbortSignal>((resolve) => {
      asked = resolve;
    });
    const rows = <T>(_query: string, _params?: object, options: { signal?: AbortSignal } = {}) => {
      const { signal } = options;
      asked(signal as AbortSignal);
      return new Promise<T[]>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const app = api({ store: stubStore({ rows }) });
    const leaving = new AbortController();
    const url = `${await served(app)}${STREAMED}`;
    const request = fetch(url, { headers: KEY, signal: leaving.signal });
    const signal = await query;
    leaving.abort();
    await expect(request).rejects.toThrow('aborted');
    await once(signal, 'abort').catch(() => undefined);
    expect(signal.aborted).toBe(true);
  });

  test('a slow reader slows the engine down', async () => {
    let pushed = 0;
    const chunk = Buffer.from('[{"update_id":1},'.padEnd(64 * 1024));
    const source = new Readable({
      read() {
        pushed += chunk.length;
        this.push(chunk);
      },
    });
    const app = api({ store: streaming(source) });
    const socket = connect(await portOf(app), '127.0.0.1');
    socket.write(
      `GET ${STREAMED} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${KEY.authorization}\r\n\r\n`,
    );
    await once(socket, 'readable');
    // The kernel's buffers fill first; then nothing moves although the engine always has more.
    for (let still = 0, before = pushed; still < 1000; before = pushed) {
      await new Promise(setImmediate);
      still = pushed === before ? still + 1 : 0;
    }
    expect(pushed).toBeLessThan(64 * 1024 * 1024);
    socket.destroy();
    await closing(source);
  });
});

describe('closing', () => {
  test('does not wait for a connection without a request', async () => {
    const app = api();
    const port = await portOf(app);
    const connected = once(app.server, 'connection');
    const socket = connect(port, '127.0.0.1');
    const ended = once(socket, 'close');
    await connected;
    await app.close();
    await ended;
  });

  test('cuts a client that does not read, after the grace', async () => {
    const clock = new FakeClock();
    const source = new Readable({ read: () => void source.push('['.padEnd(64 * 1024)) });
    const app = api({ clock, store: stubStore({ stream: async () => source }) });
    const socket = connect(await portOf(app), '127.0.0.1');
    socket.write(
      `GET ${STREAMED} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${KEY.authorization}\r\n\r\n`,
    );
    await once(socket, 'readable');
    const closed = app.close();
    while (clock.waiting === 0) await new Promise(setImmediate);
    await clock.advance(CLOSE_GRACE_MS - 1);
    expect(source.destroyed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(source.destroyed).toBe(true);
    socket.destroy();
  });
});
