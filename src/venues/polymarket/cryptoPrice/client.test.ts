import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue } from '../../../../test/support/localVenue.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { HttpClient, HttpRefusedError } from '../../http.ts';
import { CryptoPriceClient, hasOpenPrice, type OpenPriceQuery } from './client.ts';

const START = Date.UTC(2026, 10, 20, 12, 5);
const QUERY: OpenPriceQuery = {
  ...{ ticker: 'BTC' as const, eventType: '5m' as const, lookbackSeconds: 60 },
  ...{ startTimeMs: START, endTimeMs: START + 300_000 },
};
/** Answers of 2025-12-06 and 2026-05-14. */
const KNOWN = {
  ...{ openPrice: 89299.0560483538, closePrice: 89530.1902704494, timestamp: 1765012902842 },
  ...{ completed: true, incomplete: false, cached: true },
};
const UNKNOWN = {
  ...{ openPrice: null, closePrice: null, timestamp: 0 },
  ...{ completed: false, incomplete: true, cached: false },
};

let venue: LocalVenue;
let http: HttpClient;
let client: CryptoPriceClient;

beforeEach(async () => {
  venue = await LocalVenue.start();
  const runtime = { clock: new FakeClock(), random: () => 0, log: silentLogger, metrics: new Metrics() };
  http = new HttpClient({ ...runtime, feed: 'polymarket.crypto_price' });
  client = new CryptoPriceClient({ url: `${venue.httpUrl}/api/crypto/crypto-price`, http });
});
afterEach(async () => {
  await http.close();
  await venue.stop();
});

test.each([
  ['5m', 'fiveminute'],
  ['15m', 'fifteen'],
] as const)(
  'asks for the average of a %s window, with times without milliseconds',
  async (eventType, variant) => {
    venue.answerJson({ ...KNOWN, timestamp: START + 3_000, incomplete: true, completed: false });
    expect(await client.openPrice({ ...QUERY, eventType })).toBe(89299.0560483538);
    const { pathname, searchParams } = new URL(venue.requests[0]!.url, venue.httpUrl);
    expect(pathname).toBe('/api/crypto/crypto-price');
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ symbol: 'BTC', eventStartTime: '2026-11-20T12:05:00Z', variant, endDate: '2026-11-20T12:10:00Z' },
      ...{ twapEnabled: 'true', twapLookbackSeconds: '60' },
    });
  },
);

test('knows no name of a 4h window, so none is asked for', () => {
  expect((['5m', '15m', '4h', '1h'] as const).filter(hasOpenPrice)).toEqual(['5m', '15m']);
});

test.each([
  ['while the venue has none', UNKNOWN, 200],
  ['for an answer that is older than the window', { ...KNOWN, timestamp: START - 1 }, 200],
  ['for an answer that gives 0 as its time', { ...KNOWN, timestamp: 0 }, 200],
  ['where the route is gone', {}, 404],
])('has no price %s', async (_when, body, status) => {
  venue.answerJson(body, status);
  expect(await client.openPrice(QUERY)).toBeNull();
});

test.each([
  ['that was made when the window opened', START],
  ['without a time', undefined],
])('has the price of an answer %s', async (_which, timestamp) => {
  venue.answerJson({ ...KNOWN, timestamp });
  expect(await client.openPrice(QUERY)).toBe(89299.0560483538);
});

test('rejects an answer of another shape, and passes a refusal on', async () => {
  for (const openPrice of ['89299', 0, -1]) {
    venue.answerJson({ ...KNOWN, openPrice });
    await expect(client.openPrice(QUERY)).rejects.toThrow(VenueMessageError);
    await expect(client.openPrice(QUERY)).rejects.toThrow(/^crypto-price: openPrice /);
  }
  venue.answerJson({ error: 'Too many requests' }, 429, { 'retry-after': '7' });
  const refusal = await client.openPrice(QUERY).catch((error) => error);
  expect(refusal).toBeInstanceOf(HttpRefusedError);
  expect(refusal).toMatchObject({ status: 429, retryAfterMs: 7_000 });
});
