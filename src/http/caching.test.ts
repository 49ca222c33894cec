import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { idleLive, KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { STUB_MARKET, STUB_PAGE, stubStore } from '../../test/support/stubStore.ts';
import type { ApiDependencies } from '../api/createApi.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { Tier } from '../schema/tier.ts';
import type { StoreReader } from '../store/reader.ts';
import { SETTLED_AFTER_MS } from './caching.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const DEPTH = '/v1/perp/depth?ticker=BTC';
const settled = `${DEPTH}&end=${new Date(NOW - SETTLED_AFTER_MS - 1).toISOString()}`;
let stream: StoreReader['stream'];
let app: FastifyInstance | undefined;
function api(
  keys: object = {},
  { clock = new FakeClock(NOW), tier = 'premium' as Tier, storeLagMs = 0 } = {},
): FastifyInstance {
  const stub = stubStore({ page: { ...STUB_PAGE, ...keys } });
  stream = vi.fn(stub.stream);
  const rows = async <T>(query: string, params?: Record<string, unknown>) => {
    const found = await stub.rows<object>(query, params);
    const changed = (row: object) => Object.entries(keys).filter(([name]) => name in row);
    return found.map((row) => ({ ...row, ...Object.fromEntries(changed(row)) })) as T[];
  };
  const accounts: ApiDependencies['accounts'] = {
    moment: () => 0,
    maintenance: () => null,
    authenticate: (header) =>
      header === KEY.authorization
        ? { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier }
        : { reason: 'missing', detail: 'Missing bearer token' },
    signedIn: async () => null,
  };
  const live = { ...idleLive, storeLagMs: () => storeLagMs };
  app = testApi({ store: { rows, stream }, clock, accounts, live });
  return app;
}
afterEach(() => app?.close());

async function ask(url: string, headers: Record<string, string> = {}, keys: object = {}) {
  const response = await api(keys).inject({ url, headers: { ...KEY, ...headers } });
  const { etag, vary, 'cache-control': kept } = response.headers;
  return { status: response.statusCode, etag, vary, kept, body: response.body };
}

test('only its client may cache a range that ended more than ten minutes ago, for an hour', async () => {
  const { status, etag, vary, kept } = await ask(settled);
  expect([status, kept, vary]).toEqual([
    200,
    'private, max-age=3600',
    'Accept-Encoding, Authorization, Cookie',
  ]);
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
});

test.each([
  ['no end', DEPTH],
  ['an end exactly ten minutes ago', `${DEPTH}&end=${new Date(NOW - SETTLED_AFTER_MS).toISOString()}`],
  ['a future end', `${DEPTH}&end=2027-01-01`],
  ['a refusal', `${settled}&limit=x`],
  ['a page of markets', '/v1/markets?limit=0&until=2020-01-01'],
  ['an unknown path', '/v1/nothing'],
])('%s is not cached', async (_name, url) => {
  const { etag, kept } = await ask(url);
  expect([etag, kept]).toEqual([undefined, 'no-store']);
});

test.each(['/app/me', '/%61pp/me', '/app', '/app?x=1', '/app/nothing', '/v1/%6darkets'])(
  '%s is not cached either, for any refusal',
  async (url) => {
    const { statusCode, headers } = await api().inject(url);
    expect([statusCode < 500, headers['cache-control']]).toEqual([true, 'no-store']);
  },
);

test('routes outside /v1 send no caching headers', async () => {
  expect((await api().inject('/livez')).headers['cache-control']).toBeUndefined();
});

test.each([
  ['', settled],
  [', and no row of a long page is read', `${settled}&limit=1001`],
])('a client that has cached the response gets 304%s', async (_, url) => {
  const { etag = '' } = await ask(url);
  for (const held of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
    const again = await ask(url, { 'if-none-match': held });
    expect(again).toEqual({
      status: 304,
      etag,
      vary: 'Accept-Encoding, Authorization, Cookie',
      kept: 'private, max-age=3600',
      body: '',
    });
    expect(stream).toHaveBeenCalledTimes(url === settled ? 1 : 0);
  }
  expect((await ask(url, { 'if-none-match': '"other", W/"x"' })).status).toBe(200);
  expect((await ask(url, { 'if-none-match': 'nonsense' })).status).toBe(200);
});

test.each([
  ['another query', `${settled}&limit=7`, {}],
  ['another page', `${settled}&offset=1`, {}],
  ['one row more', settled, { found: 3 }],
  ['another total', settled, { total: '2' }],
  ['another last row', settled, { last: ['1795176000000', '2'] }],
  ['another revision of its rows', settled, { revision: '1' }],
  ['another first row', settled, { first: ['1795176000001', '1'] }],
])('%s has another tag', async (_name, url, keys) => {
  const two = { found: 2 };
  expect((await ask(url, {}, { ...two, ...keys })).etag).not.toBe((await ask(settled, {}, two)).etag);
});

describe('in a tier with a history window', () => {
  const DAY_MS = 86_400_000;
  const end = new Date(NOW - DAY_MS).toISOString();
  const candles = `/v1/candles?market_id=${STUB_MARKET}&timeframe=5m&end=${end}`;
  const at = (days: number) => `start=${new Date(NOW - days * DAY_MS).toISOString()}`;

  /**
   * Caching headers of each response and of its next page, requested after `passMs` by a client that cached everything.
   */
  async function keptOf(urls: readonly string[], passMs = 0) {
    const kept: unknown[] = [];
    for (const url of urls) {
      const clock = new FakeClock(NOW);
      const asked = api({ found: 2 }, { clock, tier: 'free' });
      const { headers, body } = await asked.inject({ url, headers: KEY });
      await clock.advance(passMs);
      const next = `${url}&cursor=${JSON.parse(body).next_cursor}`;
      const later = await asked.inject({ url: next, headers: { ...KEY, 'if-none-match': '*' } });
      await asked.close();
      kept.push([headers['cache-control'], later.statusCode, later.headers['cache-control']]);
    }
    return kept;
  }
  const lists = ['/v1/perp/depth?ticker=BTC&limit=1', `/v1/trades?market_id=${STUB_MARKET}&limit=1`];

  test('a range that begins at the start of the window is not cached, because the window moves', async () => {
    const urls = lists.map((url) => `${url}&end=${end}`);
    expect(await keptOf(urls)).toEqual(urls.map(() => ['no-store', 200, 'no-store']));
  });

  test('a range that begins inside the window is cached until the window has moved past its start', async () => {
    const urls = [...lists.map((url) => `${url}&end=${end}&${at(30)}`), `${candles}&limit=1&${at(30)}`];
    const mayKeep = 'private, max-age=3600';
    expect(await keptOf(urls)).toEqual(urls.map(() => [mayKeep, 304, mayKeep]));
    expect(await keptOf(urls, 2 * DAY_MS)).toEqual(urls.map(() => [mayKeep, 200, 'no-store']));
  });
});

test('a range without rows has an ETag too', async () => {
  const { etag = '' } = await ask(settled, {}, { found: 0, total: '0' });
  expect((await ask(settled, { 'if-none-match': etag }, { found: 0, total: '0' })).status).toBe(304);
});

test('without a key there is no 304', async () => {
  const { etag = '' } = await ask(settled);
  const response = await api().inject({ url: settled, headers: { 'if-none-match': etag } });
  expect([response.statusCode, response.headers['cache-control']]).toEqual([401, 'no-store']);
});

test.each([
  ['a short response', settled, {}],
  ['a streamed response', `${settled}&limit=1001`, {}],
  ['a compressed response', `${settled}&limit=1001`, { 'accept-encoding': 'gzip' }],
])('%s that fails before its first byte is a plain error that is not cached', async (_, url, accepts) => {
  const source = new Readable({ read: () => source.destroy(new StoreUnavailableError('gone')) });
  const store = stubStore({ stream: async () => source });
  app = testApi({ store, clock: new FakeClock(NOW) });
  const { statusCode, headers, body } = await app.inject({ url, headers: { ...KEY, ...accepts } });
  const { etag, 'cache-control': kept, 'content-encoding': encoding } = headers;
  expect({ statusCode, etag, kept, encoding }).toEqual({
    ...{ statusCode: 502, etag: undefined, kept: 'no-store', encoding: undefined },
  });
  expect(Object.keys(JSON.parse(body))).toEqual(['detail']);
});

test('while the store lags, a revalidation and a full answer both carry the lag and forbid caching', async () => {
  const early = `${DEPTH}&end=2026-11-01`;
  const { etag = '' } = await ask(early);
  for (const [headers, status] of [
    [{ 'if-none-match': etag }, 304],
    [{}, 200],
  ] as const) {
    const answer = await api({}, { storeLagMs: 65_000 }).inject({
      url: early,
      headers: { ...KEY, ...headers },
    });
    const { 'x-store-lag': lag, 'cache-control': kept } = answer.headers;
    expect({ status: answer.statusCode, lag, kept }).toEqual({ status, lag: '65', kept: 'no-store' });
  }
});

test('a response that says how much of the history is recorded is not cached, even if all was when its rows were read', async () => {
  const states = [{ share: 0.99, hours: 1, failure: null }];
  const live = { ...idleLive, history: () => states.shift() ?? null };
  app = testApi({ store: stubStore(), clock: new FakeClock(NOW), live });
  const { headers } = await app.inject({ url: settled, headers: KEY });
  expect([headers['x-history-recorded'], headers['cache-control']]).toEqual(['99%', 'no-store']);
  const later = await app.inject({ url: settled, headers: KEY });
  expect([later.headers['x-history-recorded'], later.headers['cache-control']]).toEqual([
    undefined,
    'private, max-age=3600',
  ]);
});
