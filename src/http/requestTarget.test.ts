import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { RateLimits } from '../accounts/limits/limits.ts';
import { readableTarget } from './server.ts';

function api() {
  const rateLimits = new RateLimits(new FakeClock());
  const app = testApi({ store: stubStore(), dataSource: 'simulated', rateLimits });
  onTestFinished(() => app.close());
  return app;
}

/** Headers that every response carries, for any spelling of the path. */
const CARRIED = {
  'x-request-id': expect.any(String),
  'x-data-source': 'simulated',
  ratelimit: expect.any(String),
  'ratelimit-policy': expect.any(String),
  'cache-control': 'no-store',
};

describe.each(['%zz', '%E0%A4%A', '%', '0xaa%2', '%00%ff', 'a%2Fb', '%25zz', '%'.repeat(8000)])(
  'a market spelt %s',
  (spelling) => {
    test.each(['timeseries', 'orderbook'])('requires a key, then is unknown: %s', async (list) => {
      const url = `/v1/markets/${spelling}/${list}`;
      const locked = await api().inject({ url });
      expect([locked.statusCode, locked.json()]).toEqual([401, { detail: 'Unknown API key' }]);
      expect(locked.headers).toMatchObject({ ...CARRIED, 'www-authenticate': 'Bearer' });
      const unknown = await api().inject({ url, headers: KEY });
      expect([unknown.statusCode, unknown.json()]).toEqual([404, { detail: 'Market not found' }]);
      expect(unknown.headers).toMatchObject(CARRIED);
    });
  },
);

test('a broken escape in a time is refused like any other invalid time', async () => {
  const response = await api().inject({ url: '/v1/snapshot-at/12%3A00%zz?market_id=0xaa', headers: KEY });
  expect([response.statusCode, response.json().detail[0]]).toEqual([
    422,
    expect.objectContaining({ loc: ['path', 'ts'], input: '12%3A00%zz' }),
  ]);
});

test.each([
  ['GET', '/v1/%zz', 404],
  ['POST', '/v1/markets/%zz/timeseries', 405],
] as const)('%s %s is %i, with the headers of every response', async (method, url, status) => {
  const response = await api().inject({ method, url });
  expect(response.statusCode).toBe(status);
  expect(response.headers).toMatchObject(CARRIED);
});

describe('a target', () => {
  test.each([
    ['/v1/markets?x=%zz', '/v1/markets?x=%zz'],
    ['/a%2Fb/%C3%A9?x', '/a%2Fb/%C3%A9?x'],
    ['/a%2Fb/%zz?x=%zz', '/a%252Fb/%25zz?x=%zz'],
    ['http://host:8080/v1/markets?limit=1', '/v1/markets?limit=1'],
    ['HTTP://host?x', '/?x'],
    ['http://host', '/'],
    ['*', '/*'],
    ['', '/'],
  ])('%j becomes %j', (target, read) => {
    expect(readableTarget(target)).toBe(read);
  });

  test('is always a decodable path, and is unchanged if it was one already', () => {
    const piece = fc.constantFrom('%', '%2', '%2f', '%C3', '%A9', '%zz', 'a', '/', '?', '&', '://', 'http');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = `/${pieces.join('')}`;
        const [path = '', ...query] = readableTarget(target).split('?');
        const [given = '', ...givenQuery] = target.split('?');
        expect(query).toEqual(givenQuery);
        const spelt = decodeURIComponent(path);
        expect([path, spelt]).toContain(given);
      }),
      { numRuns: 500, seed: 20261122 },
    );
  });
});
