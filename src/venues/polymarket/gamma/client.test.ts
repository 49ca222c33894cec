import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue } from '../../../../test/support/localVenue.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { HttpClient } from '../../http.ts';
import { GammaClient } from './client.ts';

let venue: LocalVenue;
let http: HttpClient;
let gamma: GammaClient;
let metrics: Metrics;

beforeEach(async () => {
  venue = await LocalVenue.start();
  const clock = new FakeClock();
  metrics = new Metrics();
  http = new HttpClient({
    feed: 'polymarket.gamma',
    clock,
    random: () => 0,
    log: silentLogger,
    metrics,
  });
  gamma = new GammaClient({ url: `${venue.httpUrl}/gamma`, http });
});
afterEach(async () => {
  await http.close();
  await venue.stop();
});

const asked = () => venue.requests.map(({ url }) => new URL(url, 'http://venue'));
/** Answers with a list made from the query. */
function answerList(list: (query: URLSearchParams) => unknown): void {
  venue.answer = (request, response) =>
    response.end(JSON.stringify(list(new URL(request.url!, 'http://venue').searchParams)));
}

describe('eventsBySlug', () => {
  test('requests open and closed events, since closed defaults to false', async () => {
    answerList((query) => query.getAll('slug').map((slug) => `${slug} ${query.get('closed')}`));
    const events = await gamma.eventsBySlug(['a', 'b']);
    expect([...events].sort()).toEqual(['a false', 'a true', 'b false', 'b true']);
    expect(asked().map((url) => url.pathname)).toEqual(['/gamma/events', '/gamma/events']);
  });

  test('requests batches whose answers fit on one page', async () => {
    answerList((query) => query.getAll('slug'));
    const slugs = Array.from({ length: 95 }, (_, i) => `btc-updown-5m-${i}`);
    const events = await gamma.eventsBySlug(slugs);
    expect(new Set(events)).toEqual(new Set(slugs));
    const batches = asked().map((url) => url.searchParams.getAll('slug').length);
    expect(batches).toEqual([40, 40, 40, 40, 15, 15]);
    expect(new Set(asked().map((url) => url.searchParams.get('limit')))).toEqual(new Set(['100']));
  });

  test('sends no request without slugs', async () => {
    expect(await gamma.eventsBySlug([])).toEqual([]);
    expect(venue.requests).toEqual([]);
  });

  test('reports unknown fields of every event, and sets an answer aside that is no list', async () => {
    answerList(() => [
      { id: '1', markets: [{ slug: 'a' }] },
      { id: '2', markets: [{ takerOrderDelayMs: 150 }] },
    ]);
    await gamma.eventsBySlug(['a']);
    expect(metrics.venueDrift.findings()).toMatchObject([
      {
        category: 'unknown_field',
        kind: 'event',
        key: 'markets[].takerOrderDelayMs',
        count: 2,
        sample: '150',
      },
    ]);
    venue.answerJson({ events: [] });
    await expect(gamma.eventsBySlug(['a'])).rejects.toThrow(VenueMessageError);
    expect(metrics.venueDrift.takeSetAside()[0]).toMatchObject({ kind: 'event', text: '{"events":[]}' });
  });

  test.each([
    ['an object', '{}'],
    ['a 404, which is never a listing', null],
  ])('rejects %s as a listing', async (_shows, body) => {
    venue.answerJson(body ?? '{}', body === null ? 404 : 200);
    await expect(gamma.eventsBySlug(['a'])).rejects.toThrow(
      new VenueMessageError('polymarket.gamma: /events did not answer a list'),
    );
  });
});

describe('eventsOfSeries', () => {
  const query = {
    seriesSlug: 'btc-up-or-down-5m',
    endMinMs: Date.parse('2026-11-20T12:00:00Z'),
    endMaxMs: Date.parse('2026-11-20T13:00:00Z'),
    closed: false,
  };

  test('requests pages until one is not full', async () => {
    const all = Array.from({ length: 250 }, (_, i) => i);
    answerList((params) => all.slice(Number(params.get('offset')), Number(params.get('offset')) + 100));
    expect(await gamma.eventsOfSeries(query)).toEqual(all);
    expect(Object.fromEntries(asked()[1]!.searchParams)).toEqual({
      series_slug: 'btc-up-or-down-5m',
      end_date_min: '2026-11-20T12:00:00Z',
      end_date_max: '2026-11-20T13:00:00Z',
      closed: 'false',
      limit: '100',
      offset: '100',
    });
  });

  test('rejects a listing that never ends', async () => {
    answerList(() => Array(100).fill(0));
    await expect(gamma.eventsOfSeries(query)).rejects.toThrow(/lists over 2000 events/);
    expect(venue.requests).toHaveLength(20);
  });
});

describe('marketByConditionId', () => {
  test('searches open markets, then closed ones', async () => {
    answerList((query) =>
      query.get('closed') === 'true' ? [{ conditionId: query.get('condition_ids') }] : [],
    );
    expect(await gamma.marketByConditionId('0xab')).toEqual({ conditionId: '0xab' });
    expect(asked().map((url) => url.searchParams.get('closed'))).toEqual(['false', 'true']);
  });

  test('returns null when there is none', async () => {
    answerList(() => []);
    expect(await gamma.marketByConditionId('0xab')).toBeNull();
  });
});
