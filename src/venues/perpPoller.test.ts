import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import {
  PERP_SAMPLES,
  type PerpSample,
  SAMPLE_TIME_MS,
  sampleNumber,
} from '../../test/support/perpSamples.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { PERP_VENUES, type PerpDepthEvent, type PerpVenueName } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import { PerpPoller } from './perpPoller.ts';
import { PERP_FEEDS } from './perpVenue.ts';
import { PERP_VENUE_BY_NAME } from './perpVenues.ts';

let venue: LocalVenue;
let clock: FakeClock;
let poller: PerpPoller | null;
let events: PerpDepthEvent[];
let failures: { feed: string; failure: string; pauseMs: number }[];
let metrics: Metrics;

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  metrics = new Metrics();
  events = [];
  failures = [];
  poller = null;
});
afterEach(async () => {
  await poller?.close();
  await venue.stop();
});

function start(name: PerpVenueName, tickers: Ticker[] = ['BTC'], symbols = PERP_VENUE_BY_NAME[name].symbols) {
  poller = new PerpPoller({
    venue: { ...PERP_VENUE_BY_NAME[name], symbols },
    url: venue.httpUrl,
    tickers,
    clock,
    random: () => 0,
    log: { ...silentLogger, warn: (line: never) => failures.push(line) } as never,
    metrics,
    onEvent: (event) => events.push(event),
  });
}

/** The ticker of the newest request. The body of a POST is complete only when the venue answers. */
const askedLast = (sample: PerpSample) => sample.asked(venue.requests.at(-1)!) as Ticker;

/** Answers with an increasing update id. */
function answerBooks(sample: PerpSample): void {
  let id = 0;
  venue.answer = (_request, response) => response.end(JSON.stringify(sample.book(askedLast(sample), ++id)));
}

async function outcomes(): Promise<Record<string, number>> {
  const { values } = await metrics.registry.getSingleMetric('underround_perp_polls_total')!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [`${labels.venue} ${labels.outcome}`, value]));
}

/** Resolves once this many polls have an outcome. */
async function counted(polls: number): Promise<void> {
  const sum = async () => Object.values(await outcomes()).reduce((total, count) => total + count, 0);
  while ((await sum()) < polls) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe.each(PERP_VENUES)('polling %s', (name) => {
  const sample = PERP_SAMPLES[name];

  /** Polls once for each of these books. */
  async function poll(books: readonly (readonly [id: number, timeMs?: number])[]): Promise<void> {
    const left = [...books];
    venue.answer = (_request, response) => {
      const [id, timeMs] = left.shift() ?? books.at(-1)!;
      response.end(JSON.stringify(sample.book('BTC', id, timeMs)));
    };
    start(name);
    await clock.advance(0);
    for (let i = 1; i < books.length; i++) {
      await counted(i);
      await clock.advance(200);
    }
    await counted(books.length);
  }

  test('polls every 200 ms on a fixed grid, however long an answer takes', async () => {
    answerBooks(sample);
    const asked: number[] = [];
    const answer = venue.answer;
    venue.answer = (request, response) => {
      asked.push(clock.monotonic());
      answer(request, response);
    };
    start(name);
    await clock.advance(0);
    for (let i = 1; i <= 5; i++) {
      await until(() => events.length === i);
      await clock.advance(70);
      await clock.advance(130);
    }
    await until(() => asked.length === 6);
    expect(asked).toEqual([0, 200, 400, 600, 800, 1000]);
    const { method, url, body } = venue.requests[0]!;
    expect({ method, url, body }).toEqual(sample.request);
  });

  test('has at most one request in flight per symbol and returns to the grid after a slow answer', async () => {
    let inFlight = 0;
    let most = 0;
    const held: (() => void)[] = [];
    venue.answer = (_request, response) => {
      most = Math.max(most, ++inFlight);
      held.push(() => {
        inFlight--;
        response.end(JSON.stringify(sample.book('BTC', held.length)));
      });
    };
    start(name);
    await clock.advance(0);
    await until(() => held.length === 1);
    await clock.advance(730);
    expect(held).toHaveLength(1);
    held[0]!();
    await until(() => events.length === 1);
    expect(events[0]!.roundTripMs).toBe(730);
    await clock.advance(69);
    expect(held).toHaveLength(1);
    await clock.advance(1);
    await until(() => held.length === 2);
    expect(most).toBe(1);
    expect((await outcomes())[`${name} skipped_in_flight`]).toBe(3);
    held[1]!();
    await until(() => events.length === 2);
  });

  test('emits no event for an unchanged update id', async () => {
    await poll([[5], [5], [6], [8]]);
    expect(events.map(sampleNumber)).toEqual([5, 6, 8]);
    expect(await outcomes()).toMatchObject({ [`${name} changed`]: 3, [`${name} unchanged`]: 1 });
  });

  test('emits no event for a book that is older than the last one', async () => {
    await poll([
      [5, 500],
      [4, 400],
      [6, 600],
      [6, 600],
    ]);
    expect(events).toHaveLength(2);
    expect(await outcomes()).toMatchObject({ [`${name} outdated`]: 1 });
  });

  test('accepts a venue whose books are all older than the last one for more than 10 s', async () => {
    const older = Array.from({ length: 60 }, (_, at) => [at + 1, 100 * (at + 1)] as const);
    await poll([[1_000, 100_000], ...older]);
    expect(await outcomes()).toMatchObject({ [`${name} outdated`]: 51, [`${name} changed`]: 10 });
    expect(events).toHaveLength(10);
  });

  test('accepts no old cache because another one answered 10 s before', async () => {
    const newer = Array.from({ length: 60 }, (_, at) => [at + 10, 100 * (at + 10)] as const);
    await poll([[9, 900], [1, 100], ...newer, [2, 200]]);
    expect(await outcomes()).toMatchObject({ [`${name} outdated`]: 2, [`${name} changed`]: 61 });
  });

  test.runIf(sample.isNumbered)('accepts a venue that counts from the start again', async () => {
    await poll([
      [5, 500],
      [1, 600],
      [1, 800],
      [2, 900],
    ]);
    expect(events.map(sampleNumber)).toEqual([5, 1, 2]);
  });

  test('staggers symbols, each with its own request in flight, within the venue’s limit', async () => {
    answerBooks(sample);
    const asked: [string, number][] = [];
    const ports = new Set<number>();
    const answer = venue.answer;
    venue.answer = (request, response) => {
      asked.push([askedLast(sample), Math.round(clock.monotonic())]);
      ports.add(request.socket.remotePort!);
      answer(request, response);
    };
    start(name, ['BTC', 'ETH', 'SOL']);
    await clock.advance(0);
    const third = Math.ceil(sample.periodMs / 3);
    for (let i = 0; i < 5; i++) {
      for (const step of [third, third, sample.periodMs - 2 * third]) {
        const before = events.length;
        await until(() => asked.length === before + 1 && events.length === before + 1);
        await clock.advance(step);
      }
      const before = events.length;
      if (i === 4) await until(() => asked.length === before + 1 && events.length === before + 1);
    }
    expect(asked.slice(0, 4).map(([ticker]) => ticker)).toEqual(['BTC', 'ETH', 'SOL', 'BTC']);
    expect(asked.filter(([ticker]) => ticker === 'BTC').map(([, at]) => at)).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => n * sample.periodMs),
    );
    expect(ports.size).toBeLessThanOrEqual(3);
  });

  test('leaves out a ticker that the venue does not list', async () => {
    answerBooks(sample);
    start(name, ['BTC', 'ETH', 'SOL'], { ...PERP_VENUE_BY_NAME[name].symbols, BTC: null, SOL: null });
    await clock.advance(0);
    await until(() => events.length === 1);
    await clock.advance(200);
    await until(() => events.length === 2);
    expect(events.map(({ ticker }) => ticker)).toEqual(['ETH', 'ETH']);
  });

  const refusals: PerpSample['refusals'] = [
    ...sample.refusals,
    ['429 with Retry-After', [429, 'slow down', { 'retry-after': '7' }], 'rate_limited', 7_000],
    ['a blocked country', [403, '<html>blocked from your country</html>'], 'refused', 15_000],
    ['HTML instead of JSON', [200, '<html></html>'], 'invalid', 200],
    ['a server error', [502, 'bad gateway'], 'transport', 200],
  ];
  test.each(refusals)('%s: pauses, logs the pause and resumes', async (_shows, answer, failure, pauseMs) => {
    const [status, body, headers = {}] = answer;
    venue.answerJson(body, status, headers);
    start(name);
    await clock.advance(0);
    await until(() => failures.length === 1);
    expect(failures[0]).toMatchObject({ feed: PERP_FEEDS[name], failure, pauseMs, ticker: 'BTC' });
    answerBooks(sample);
    const asked = venue.requests.length;
    await clock.advance(pauseMs - 1);
    expect(venue.requests).toHaveLength(asked);
    await clock.advance(201);
    await until(() => events.length >= 1);
    expect((await outcomes())[`${name} ${failure}`]).toBe(1);
  });

  test('pauses all symbols after a rate limit, only one symbol after another refusal', async () => {
    const [, refused] = sample.refusals.find(([, , outcome]) => outcome === 'refused')!;
    venue.answer = (_request, response) => {
      const ticker = askedLast(sample);
      if (ticker !== 'BTC') return response.end(JSON.stringify(sample.book(ticker, venue.requests.length)));
      response.writeHead(refused[0]);
      return response.end(refused[1]);
    };
    start(name, ['BTC', 'ETH']);
    await clock.advance(125);
    await until(() => failures.length === 1 && events.length === 1);
    venue.answerJson('slow down', 429, { 'retry-after': '61' });
    await clock.advance(250);
    await until(() => failures.length === 2);
    const asked = venue.requests.length;
    await clock.advance(60_000);
    expect(venue.requests).toHaveLength(asked);
    expect(failures.map(({ failure }) => failure)).toEqual(['refused', 'rate_limited']);
  });

  test('polls an unreachable venue less and less often, up to 10 s apart', async () => {
    venue.answerJson('bad gateway', 502);
    start(name);
    await clock.advance(0);
    for (let i = 1; i <= 8; i++) {
      await until(() => failures.length === i);
      await clock.advance(failures.at(-1)!.pauseMs + 200);
    }
    expect(failures.slice(0, 8).map(({ pauseMs }) => pauseMs)).toEqual([
      200, 400, 800, 1600, 3200, 5000, 5000, 5000,
    ]);
  });

  test('pauses only for the first delay again after an answer in between', async () => {
    venue.answerJson('bad gateway', 502);
    start(name);
    await clock.advance(0);
    for (let i = 1; i <= 3; i++) {
      await until(() => failures.length === i);
      if (i === 3) answerBooks(sample);
      await clock.advance(failures.at(-1)!.pauseMs + 200);
    }
    await until(() => events.length >= 1);
    venue.answerJson('bad gateway', 502);
    await clock.advance(200);
    await until(() => failures.length >= 4);
    expect(failures.slice(0, 4).map(({ pauseMs }) => pauseMs)).toEqual([200, 400, 800, 200]);
  });

  test('ends a request without an answer after its timeout', async () => {
    venue.answer = () => {};
    start(name);
    await clock.advance(0);
    await until(() => venue.requests.length === 1);
    await clock.advance(2_000);
    await until(() => failures.length === 1);
    expect(failures[0]).toMatchObject({ failure: 'transport' });
  });

  test('reports nothing after close()', async () => {
    venue.answer = () => {};
    start(name);
    await clock.advance(0);
    await until(() => venue.requests.length === 1);
    await poller!.close();
    await clock.advance(60_000);
    expect(failures).toEqual([]);
    expect(venue.requests).toHaveLength(1);
  });
});

test('a rate limit that is answered after a ban does not end the ban', async () => {
  const held: ((status: number, body: string) => void)[] = [];
  venue.answer = (_request, response) => {
    held.push((status, body) => response.writeHead(status).end(body));
  };
  start('bybit', ['BTC', 'ETH']);
  await clock.advance(0);
  await until(() => held.length === 1);
  await clock.advance(100);
  await until(() => held.length === 2);
  held[0]!(403, 'access too frequent');
  await until(() => failures.length === 1);
  held[1]!(200, '{"retCode":10006,"retMsg":"Too many visits!","result":{}}');
  await until(() => failures.length === 2);
  expect(failures.map(({ failure }) => failure)).toEqual(['banned', 'rate_limited']);
  await clock.advance(599_000);
  expect(await outcomes()).toMatchObject({ 'bybit skipped_paused': expect.any(Number) });
  expect(held).toHaveLength(2);
  await clock.advance(1_200);
  await until(() => held.length > 2);
});

test.each([
  [418, '864000', 'banned', 3 * 86_400_000],
  [429, '3600', 'rate_limited', 600_000],
  [429, '0', 'rate_limited', 1_000],
])(
  'after status %d with Retry-After %s s polling is %s for %d ms',
  async (status, seconds, failure, pauseMs) => {
    venue.answerJson('no', status, { 'retry-after': seconds });
    start('binance');
    await clock.advance(0);
    await until(() => failures.length === 1);
    expect(failures).toMatchObject([{ failure, pauseMs }]);
  },
);

test('a book of more than a day ahead of its receipt is not used', async () => {
  const times = [86_400_001, 86_400_000].map((aheadMs) => clock.now() + aheadMs - SAMPLE_TIME_MS);
  // It is asked for again 400 ms later.
  venue.answer = (_request, response) =>
    response.end(
      JSON.stringify(PERP_SAMPLES.binance.book('BTC', 1, times.shift()! + (times.length ? 0 : 400))),
    );
  start('binance');
  await clock.advance(0);
  await until(() => failures.length === 1);
  expect([failures[0]?.failure, events]).toEqual(['invalid', []]);
  await clock.advance(400);
  await until(() => events.length === 1);
  expect(events[0]?.eventTimeMs).toBe(clock.now() + 86_400_000);
});

test('the symbols of a venue are spread over its whole period', async () => {
  answerBooks(PERP_SAMPLES.hyperliquid);
  start('hyperliquid', ['BTC', 'ETH', 'SOL']);
  for (let polls = 1; polls <= 3; polls++) {
    await clock.advance(polls === 1 ? 0 : 125);
    await until(() => events.length === polls);
  }
  expect(events.map(({ ticker, roundTripMs }) => [ticker, roundTripMs])).toEqual([
    ['BTC', 0],
    ['ETH', 0],
    ['SOL', 0],
  ]);
});

test('close() ends the polls of every symbol, begun or not', async () => {
  answerBooks(PERP_SAMPLES.binance);
  start('binance', ['BTC', 'ETH']);
  await clock.advance(0);
  await until(() => events.length === 1);
  await poller!.close();
  expect(clock.waiting).toBe(0);
});

test('two venues have each their own feed and counts', async () => {
  answerBooks(PERP_SAMPLES.okx);
  start('okx');
  await clock.advance(0);
  await until(() => events.length === 1);
  await poller!.close();
  answerBooks(PERP_SAMPLES.binance);
  start('binance');
  await clock.advance(0);
  await until(() => events.length === 2);
  expect(await outcomes()).toEqual({ 'okx changed': 1, 'binance changed': 1 });
  expect(metrics.venueFeeds.rows().map(({ feed }) => feed)).toEqual(['binance.perp']);
});
