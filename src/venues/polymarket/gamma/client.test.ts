import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue } from '../../../../test/support/localVenue.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { HttpClient } from '../../http.ts';
import { GammaClient, type ListedEvents } from './client.ts';

let venue: LocalVenue;
let http: HttpClient;
let gamma: GammaClient;
let metrics: Metrics;

beforeEach(async () => {
  venue = await LocalVenue.start();
  metrics = new Metrics();
  http = new HttpClient({
    feed: 'polymarket.gamma',
    clock: new FakeClock(),
    random: () => 0,
    log: silentLogger,
    metrics,
  });
  gamma = new GammaClient({ url: `${venue.httpUrl}/gamma`, http, log: silentLogger });
});
afterEach(async () => {
  await http.close();
  await venue.stop();
});

const asked = () => venue.requests.map(({ url }) => new URL(url, 'http://venue'));
const eventsIn = (answers: readonly ListedEvents[]) => answers.flatMap(({ events }) => events);
const paths = () => asked().map((url) => url.pathname);

/** Lists `eventsOf(query)`, in pages of `limit` with a cursor; `/events/keyset` only if the venue has it. */
function answerEvents(
  eventsOf: (query: URLSearchParams) => readonly unknown[],
  { hasKeyset = true, hasPlain = true } = {},
): void {
  venue.answer = (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url!, 'http://venue');
    const isKeyset = pathname === '/gamma/events/keyset';
    if (isKeyset ? !hasKeyset : !hasPlain) {
      response.writeHead(404).end('{"error":"not found"}');
      return;
    }
    const events = eventsOf(query);
    const from = Number(query.get(isKeyset ? 'after_cursor' : 'offset') ?? 0);
    const to = from + Number(query.get('limit'));
    const page = events.slice(from, to);
    const next_cursor = to < events.length ? String(to) : null;
    response.end(JSON.stringify(isKeyset ? { events: page, next_cursor } : page));
  };
}

describe('eventsBySlug', () => {
  const bySlug = (query: URLSearchParams) =>
    query.getAll('slug').map((slug) => `${slug} ${query.get('closed')}`);

  test('requests open and closed events, since closed defaults to false', async () => {
    answerEvents(bySlug);
    const events = eventsIn(await gamma.eventsBySlug(['a', 'b']));
    expect([...events].sort()).toEqual(['a false', 'a true', 'b false', 'b true']);
    expect(paths()).toEqual(['/gamma/events/keyset', '/gamma/events/keyset']);
  });

  test('requests batches whose answers fit on one page', async () => {
    answerEvents((query) => query.getAll('slug'));
    const slugs = Array.from({ length: 95 }, (_, i) => `btc-updown-5m-${i}`);
    const events = eventsIn(await gamma.eventsBySlug(slugs));
    expect(new Set(events)).toEqual(new Set(slugs));
    const batches = asked().map((url) => url.searchParams.getAll('slug').length);
    expect(batches).toEqual([40, 40, 40, 40, 15, 15]);
    expect(new Set(asked().map((url) => url.searchParams.get('limit')))).toEqual(new Set(['100']));
    expect(asked().some((url) => url.searchParams.has('offset'))).toBe(false);
  });

  test('sends no request without slugs', async () => {
    expect(await gamma.eventsBySlug([])).toEqual([]);
    expect(venue.requests).toEqual([]);
  });

  test('reports unknown fields of every event, and sets an answer aside that is no list', async () => {
    answerEvents(() => [
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
    venue.answerJson({ list: [] });
    await expect(gamma.eventsBySlug(['a'])).rejects.toThrow(VenueMessageError);
    expect(metrics.venueDrift.takeSetAside()[0]).toMatchObject({ kind: 'page', text: '{"list":[]}' });
  });

  test.each([
    ['an object without events', '{}'],
    ['a bare list', '[]'],
  ])('rejects %s as a page', async (_shows, body) => {
    venue.answerJson(body);
    await expect(gamma.eventsBySlug(['a'])).rejects.toThrow(
      new VenueMessageError('polymarket.gamma: /events/keyset did not answer a page'),
    );
  });

  test('says of each answer how old it is, and how long a cache may repeat it', async () => {
    venue.answer = (request, response) => {
      const cached = { 'cache-control': 'public, max-age=300', age: '219' };
      response.writeHead(200, request.url!.includes('closed=true') ? {} : cached);
      response.end('{"events":[]}');
    };
    expect(await gamma.eventsBySlug(['a'])).toMatchObject([
      { ageMs: 219_000, maxAgeMs: 300_000 },
      { ageMs: 0, maxAgeMs: 0 },
    ]);
  });
});

describe('a venue without /events/keyset', () => {
  test('is asked by the older path, without asking again for the newer one', async () => {
    answerEvents((query) => query.getAll('slug'), { hasKeyset: false });
    expect(eventsIn(await gamma.eventsBySlug(['a']))).toEqual(['a', 'a']);
    expect(eventsIn(await gamma.eventsBySlug(['b']))).toEqual(['b', 'b']);
    expect(paths().sort()).toEqual([
      ...Array(4).fill('/gamma/events'),
      ...Array(2).fill('/gamma/events/keyset'),
    ]);
  });

  test('lists the pages of a series by offset', async () => {
    const all = Array.from({ length: 250 }, (_, i) => i);
    answerEvents(() => all, { hasKeyset: false });
    expect(eventsIn(await gamma.eventsOfSeries(SERIES))).toEqual(all);
    expect(asked().map((url) => url.searchParams.get('offset'))).toEqual([null, '0', '100', '200']);
  });

  test('is asked for the newer path again once the older one is gone', async () => {
    answerEvents(() => ['x'], { hasKeyset: false });
    await gamma.eventsOfSeries(SERIES);
    answerEvents(() => ['x'], { hasPlain: false });
    await expect(gamma.eventsOfSeries(SERIES)).rejects.toThrow(
      new VenueMessageError('polymarket.gamma: /events did not answer a list'),
    );
    expect(eventsIn(await gamma.eventsOfSeries(SERIES))).toEqual(['x']);
  });

  test('fails a listing whose path disappears between two pages', async () => {
    answerEvents(() => Array(150).fill(0));
    const answer = venue.answer;
    venue.answer = (request, response) => {
      if (venue.requests.length > 1) answerEvents(() => [], { hasKeyset: false });
      (venue.requests.length > 1 ? venue.answer : answer)(request, response);
    };
    await expect(gamma.eventsOfSeries(SERIES)).rejects.toThrow(
      new VenueMessageError('polymarket.gamma: /events/keyset ended within a listing'),
    );
  });
});

const SERIES = {
  seriesSlug: 'btc-up-or-down-5m',
  endMinMs: Date.parse('2026-11-20T12:00:00Z'),
  endMaxMs: Date.parse('2026-11-20T13:00:00Z'),
  closed: false,
};

describe('eventsOfSeries', () => {
  test('requests pages by cursor until there is none', async () => {
    const all = Array.from({ length: 250 }, (_, i) => i);
    answerEvents(() => all);
    expect(eventsIn(await gamma.eventsOfSeries(SERIES))).toEqual(all);
    expect(Object.fromEntries(asked()[1]!.searchParams)).toEqual({
      series_slug: 'btc-up-or-down-5m',
      end_date_min: '2026-11-20T12:00:00Z',
      end_date_max: '2026-11-20T13:00:00Z',
      closed: 'false',
      limit: '100',
      after_cursor: '100',
    });
    expect(venue.requests).toHaveLength(3);
  });

  test('ends at an empty page, whatever its cursor', async () => {
    venue.answerJson({ events: [], next_cursor: 'again' });
    expect(eventsIn(await gamma.eventsOfSeries(SERIES))).toEqual([]);
    expect(venue.requests).toHaveLength(1);
  });

  test('rejects a listing that never ends', async () => {
    venue.answerJson({ events: Array(100).fill(0), next_cursor: 'again' });
    await expect(gamma.eventsOfSeries(SERIES)).rejects.toThrow(/btc-up-or-down-5m lists over 2000 events/);
    expect(venue.requests).toHaveLength(20);
  });
});
