import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { TransportError, VenueMessageError, VenueRefusedError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { HttpClient, HttpRefusedError, type JsonAnswer, retryAfterOf } from './http.ts';

let venue: LocalVenue;
let clock: FakeClock;
let metrics: Metrics;
let client: HttpClient;
let retries: { attempt: number; retryDelayMs: number; path: string }[];

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  retries = [];
});
afterEach(async () => {
  await client.close();
  await venue.stop();
});

function connect(options: { retries?: number } = {}): void {
  const log = { ...silentLogger, warn: (line: never) => retries.push(line) } as never;
  metrics = new Metrics();
  client = new HttpClient({ feed: 'test', clock, random: () => 0, log, metrics, ...options });
}
const get = (path = '/a?b=1') => client.get(venue.httpUrl + path);
/** Resolves to the error, so that a rejection while the clock advances is not unhandled. */
const failing = (answer: Promise<JsonAnswer>) =>
  answer.then(
    () => null,
    (error: unknown) => error,
  );

describe('HttpClient', () => {
  test('requests JSON with a browser’s headers and returns receive time and round trip', async () => {
    connect();
    venue.answer = (_request, response) => void clock.advance(35).then(() => response.end('[1]'));
    expect(await get()).toEqual({
      ...{ body: [1], receivedTimeMs: clock.now(), roundTripMs: 35 },
      ...{ ageMs: 0, maxAgeMs: 0 },
    });
    expect(venue.requests[0]).toMatchObject({ method: 'GET', url: '/a?b=1' });
    expect(venue.requests[0]!.headers['user-agent']).toMatch(/^Mozilla\/5\.0 /);
  });

  test.each([
    [{ 'cache-control': 'public, max-age=300', age: '219' }, 219_000, 300_000],
    [{ 'cache-control': 'max-age=15' }, 0, 15_000],
    [{ 'cache-control': 'no-store, s-maxage=60, x-max-age=60' }, 0, 0],
    [{ 'cache-control': 'max-age=soon', age: '-4' }, 0, 0],
  ])('reads how long a cache has kept an answer from %j', async (headers, ageMs, maxAgeMs) => {
    connect();
    venue.answerJson([1], 200, headers);
    expect(await get()).toMatchObject({ ageMs, maxAgeMs });
  });

  test('lists the feed with its newest answer and last failure until it is closed', async () => {
    connect();
    await get();
    const row = { feed: 'test', kind: 'requests', connections: 1, lastMessageMs: clock.now() };
    expect(metrics.venueFeeds.rows()).toMatchObject([{ ...row, up: 1, failures: 0, lastFailure: null }]);
    await clock.advance(1_000);
    venue.answer = (_request, response) => response.writeHead(500).end('no');
    await expect(get()).rejects.toThrow('test: 500 for /a: no');
    const lastFailure = { cause: 'test: 500 for /a: no', timeMs: clock.now() };
    expect(metrics.venueFeeds.rows()).toMatchObject([{ ...row, up: 0, failures: 1, lastFailure }]);
    await client.close();
    expect(metrics.venueFeeds.rows()).toEqual([]);
  });

  test.each([
    ['answered', 200, '{}'],
    ['answered', 404, '{}'],
    ['failed', 502, 'bad gateway'],
    ['refused', 403, 'no'],
    ['refused', 200, '<p>no JSON'],
  ])('counts as %s a request with status %d and %s', async (outcome, status, body) => {
    connect();
    venue.answerJson(body, status);
    await failing(get());
    const counter = metrics.registry.getSingleMetric('underround_venue_requests_total');
    expect((await counter!.get()).values).toEqual([{ labels: { feed: 'test', outcome }, value: 1 }]);
  });

  test('opens several connections to one host at once, without waiting for the first', async () => {
    connect({ retries: 0 });
    const silent = createServer();
    const accepted: Socket[] = [];
    silent.on('connection', (socket) => accepted.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/`;
    let ended = 0;
    const answers = Array.from({ length: 4 }, () => failing(client.get(url)).finally(() => ended++));
    await until(() => accepted.length === 4);
    expect(ended).toBe(0);
    for (const socket of accepted) socket.destroy();
    expect(await Promise.all(answers)).toEqual(Array(4).fill(expect.any(TransportError)));
  });

  test('posts JSON', async () => {
    connect();
    venue.answerJson([]);
    await client.post(`${venue.httpUrl}/books`, [{ token_id: '1' }]);
    expect(venue.requests[0]).toMatchObject({ method: 'POST', body: '[{"token_id":"1"}]' });
    expect(venue.requests[0]!.headers['content-type']).toBe('application/json');
  });

  test('reuses its connections', async () => {
    connect();
    const ports = new Set<number | undefined>();
    venue.answer = (request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{}');
    };
    for (let i = 0; i < 20; i++) await get();
    expect(ports.size).toBeLessThanOrEqual(4);
  });

  test('returns a null body for 404', async () => {
    connect();
    venue.answerJson({ error: 'slug not found' }, 404);
    expect((await get()).body).toBeNull();
  });

  const rows: [string, number, string, new (...a: never[]) => Error, RegExp][] = [
    ['403', 403, 'no', HttpRefusedError, /refused \(perhaps a blocked country\): no$/],
    ['451', 451, '', HttpRefusedError, /451 for \/a, refused/],
    [
      'Cloudflare 1010',
      403,
      '<h1>error code: 1010</h1>',
      HttpRefusedError,
      /Cloudflare 1010, this client is banned/,
    ],
    ['400', 400, '{"error":"offset"}', HttpRefusedError, /400 for \/a: \{"error":"offset"\}$/],
    ['410', 410, 'gone', HttpRefusedError, /410 for \/a: gone$/],
    ['500', 500, 'bad gateway', TransportError, /500 for \/a: bad gateway$/],
    ['a redirect', 302, '', VenueMessageError, /unexpected status/],
    ['JSON that is not final', 202, '[]', VenueMessageError, /unexpected status/],
    ['HTML with 200', 200, ' <!doctype html><p>hi', VenueMessageError, /HTML instead of JSON/],
    ['cut JSON', 200, '[{"id":', VenueMessageError, /no whole JSON/],
    ['nothing', 200, '', VenueMessageError, /no whole JSON/],
  ];
  test.each(rows)('%s', async (_shows, status, body, errorClass, message) => {
    connect({ retries: 0 });
    venue.answerJson(body, status);
    const error = await failing(get());
    expect(error).toBeInstanceOf(errorClass);
    expect((error as Error).message).toMatch(message);
  });

  test('stops reading a body longer than 16 MiB', async () => {
    connect();
    let sent = 0;
    venue.answer = (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 20, 32))) sent++;
        if (!response.destroyed && sent < 200) response.once('drain', more);
      };
      more();
    };
    const error = await failing(get());
    expect(error).toEqual(new VenueMessageError('answer longer than 16777216 bytes'));
    expect(sent).toBeLessThan(100);
  });

  test('reports a broken connection and a partial answer as transport failures', async () => {
    connect();
    venue.answer = (request) => request.socket.destroy();
    expect(await failing(get())).toBeInstanceOf(TransportError);
    venue.answer = (request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('[1', () => request.socket.destroy());
    };
    expect(await failing(get())).toBeInstanceOf(TransportError);
  });

  test('gives up after 10 s when the answer does not start or does not end', async () => {
    connect();
    for (const begin of [false, true]) {
      venue.answer = (_request, response) => void (begin && response.write('[1'));
      const answer = failing(get());
      const asked = venue.requests.length + 1;
      await until(() => venue.requests.length === asked);
      await clock.advance(9_999);
      expect(await Promise.race([answer, Promise.resolve('waiting')])).toBe('waiting');
      await clock.advance(1);
      expect(await answer).toMatchObject({
        code: 'transport_failed',
        message: 'test: no whole answer in 10000 ms',
      });
    }
  });

  test('retries as often as configured, with growing delays, and logs each retry', async () => {
    connect({ retries: 3 });
    venue.answerJson('bad gateway', 502);
    const answer = failing(get());
    for (let i = 1; i <= 3; i++) {
      await until(() => retries.length === i);
      await clock.advance(retries[i - 1]!.retryDelayMs);
    }
    expect(await answer).toBeInstanceOf(TransportError);
    expect(venue.requests).toHaveLength(4);
    expect(retries).toMatchObject([
      { attempt: 0, retryDelayMs: 150, path: '/a' },
      { attempt: 1, retryDelayMs: 300 },
      { attempt: 2, retryDelayMs: 600 },
    ]);
  });

  test.each([
    [3, 3_000],
    [30, 30_000],
    // The back-off is the least.
    [0, 150],
  ])('after a Retry-After of %d s waits %d ms and then returns the answer', async (seconds, waitMs) => {
    connect({ retries: 2 });
    venue.answerJson('slow down', 429, { 'retry-after': String(seconds) });
    const answer = get();
    await Promise.race([answer, until(() => retries.length === 1)]);
    expect(retries[0]!.retryDelayMs).toBe(waitMs);
    venue.answerJson([2]);
    await clock.advance(waitMs - 1);
    expect(venue.requests).toHaveLength(1);
    await clock.advance(1);
    expect((await answer).body).toEqual([2]);
  });

  test.each([
    ['longer than we wait', { 'retry-after': '31' }, 31_000],
    ['without a time', {}, null],
  ])('leaves a 429 %s to the caller', async (_shows, headers, retryAfterMs) => {
    connect({ retries: 2 });
    venue.answerJson('slow down', 429, headers as Record<string, string>);
    const error = await failing(get());
    expect(error).toBeInstanceOf(VenueRefusedError);
    expect(error).toMatchObject({ status: 429, retryAfterMs, excerpt: 'slow down' });
    expect(venue.requests).toHaveLength(1);
  });

  test('reports how long a ban lasts', async () => {
    connect({ retries: 2 });
    venue.answerJson('banned', 418, { 'retry-after': '120' });
    const error = await failing(get());
    expect(error).toBeInstanceOf(VenueRefusedError);
    expect(error).toMatchObject({ status: 418, retryAfterMs: 120_000, excerpt: 'banned' });
    expect(venue.requests).toHaveLength(1);
  });

  test('does not retry a refusal', async () => {
    connect({ retries: 5 });
    venue.answerJson('no', 403);
    expect(await failing(get())).toMatchObject({ status: 403 });
    expect(venue.requests).toHaveLength(1);
  });

  test('close() ends the pause before a retry', async () => {
    connect({ retries: 5 });
    venue.answerJson('bad gateway', 502);
    const answer = failing(get());
    await until(() => retries.length === 1);
    await client.close();
    expect(await answer).toBeInstanceOf(TransportError);
    expect([venue.requests.length, clock.waiting]).toEqual([1, 0]);
  });

  test('close() ends a request', async () => {
    connect({ retries: 5 });
    venue.answer = () => {};
    const hanging = failing(get());
    await until(() => venue.requests.length === 1);
    await client.close();
    expect(await hanging).toBeInstanceOf(TransportError);
    expect([retries, clock.waiting]).toEqual([[], 0]);
  });
});

test('parses a Retry-After in seconds or as a date', () => {
  connect();
  const now = Date.parse('2026-11-20T12:00:00Z');
  expect(retryAfterOf('120', now)).toBe(120_000);
  expect(retryAfterOf('Fri, 20 Nov 2026 12:00:09 GMT', now)).toBe(9_000);
  expect(retryAfterOf('Fri, 20 Nov 2026 11:00:00 GMT', now)).toBe(0);
  expect(retryAfterOf('90.0625', now)).toBe(90_063);
  for (const unreadable of ['soon', '-1', '1,2', '1234567890'])
    expect(retryAfterOf(unreadable, now), unreadable).toBeNull();
  expect(retryAfterOf(undefined, now)).toBeNull();
  expect(retryAfterOf(['7', '9'], now)).toBe(7_000);
});
