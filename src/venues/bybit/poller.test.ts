import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../../test/support/localVenue.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { BybitPoller } from './poller.ts';

let venue: LocalVenue;
let clock: FakeClock;
let poller: BybitPoller | null;
let events: PerpDepthEvent[];
let failures: { failure: string; pauseMs: number }[];
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

function start(tickers: Ticker[] = ['BTC']): void {
  poller = new BybitPoller({
    url: venue.httpUrl,
    tickers,
    clock,
    random: () => 0,
    log: { ...silentLogger, warn: (line: never) => failures.push(line) } as never,
    metrics,
    onEvent: (event) => events.push(event),
  });
}

const book = (symbol: string, u: number) => ({
  retCode: 0,
  retMsg: 'OK',
  result: { s: symbol, b: [['1.0', '2']], a: [['1.1', '3']], ts: 1773386409389, u },
});
const symbolOf = (url: string) => new URL(url, 'http://venue').searchParams.get('symbol')!;

/** Answers with an increasing update id. */
function answerBooks(): void {
  let u = 0;
  venue.answer = (request, response) => response.end(JSON.stringify(book(symbolOf(request.url!), ++u)));
}

async function outcomes(): Promise<Record<string, number>> {
  const { values } = await metrics.registry.getSingleMetric('underround_perp_polls_total')!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
}

describe('BybitPoller', () => {
  test('polls every 200 ms on a fixed grid, however long an answer takes', async () => {
    answerBooks();
    const asked: number[] = [];
    const answer = venue.answer;
    venue.answer = (request, response) => {
      asked.push(clock.monotonic());
      answer(request, response);
    };
    start();
    await clock.advance(0);
    for (let i = 1; i <= 5; i++) {
      await until(() => events.length === i);
      await clock.advance(70);
      await clock.advance(130);
    }
    await until(() => asked.length === 6);
    expect(asked).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(venue.requests[0]!.url).toBe('/v5/market/orderbook?category=linear&symbol=BTCUSDT&limit=50');
  });

  test('has at most one request in flight per symbol and returns to the grid after a slow answer', async () => {
    let inFlight = 0;
    let most = 0;
    const held: (() => void)[] = [];
    venue.answer = (_request, response) => {
      most = Math.max(most, ++inFlight);
      held.push(() => {
        inFlight--;
        response.end(JSON.stringify(book('BTCUSDT', held.length)));
      });
    };
    start();
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
    expect((await outcomes()).skipped_in_flight).toBe(3);
    held[1]!();
    await until(() => events.length === 2);
  });

  test('emits no event for an unchanged update id', async () => {
    const ids = [5, 5, 6, 1];
    venue.answer = (_request, response) => response.end(JSON.stringify(book('BTCUSDT', ids.shift() ?? 1)));
    start();
    await clock.advance(0);
    for (let i = 1; i <= 5; i++) {
      await until(() => venue.requests.length === i);
      await clock.advance(199);
      await clock.advance(1);
    }
    await until(() => events.length === 3);
    expect(events.map((event) => event.updateId)).toEqual([5, 6, 1]);
  });

  test('staggers symbols, each with its own request in flight, over keep-alive connections', async () => {
    answerBooks();
    const asked: [string, number][] = [];
    const ports = new Set<number>();
    const answer = venue.answer;
    venue.answer = (request, response) => {
      asked.push([symbolOf(request.url!), Math.round(clock.monotonic())]);
      ports.add(request.socket.remotePort!);
      answer(request, response);
    };
    start(['BTC', 'ETH', 'SOL']);
    await clock.advance(0);
    for (let i = 0; i < 5; i++) {
      for (const step of [67, 67, 66]) {
        const before = events.length;
        await until(() => asked.length === before + 1 && events.length === before + 1);
        await clock.advance(step);
      }
      const before = events.length;
      if (i === 4) await until(() => asked.length === before + 1 && events.length === before + 1);
    }
    expect(asked.slice(0, 4).map(([symbol]) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'BTCUSDT']);
    expect(asked.filter(([symbol]) => symbol === 'BTCUSDT').map(([, at]) => at)).toEqual([
      0, 200, 400, 600, 800, 1000,
    ]);
    expect(ports.size).toBeLessThanOrEqual(3);
  });

  const rows: [string, number, string, Record<string, string>, string, number][] = [
    ['a ban by address', 403, 'access too frequent', {}, 'banned', 600_000],
    ['a blocked country', 403, '<html>CloudFront: blocked from your country</html>', {}, 'refused', 15_000],
    [
      'the limit by code',
      200,
      JSON.stringify({ retCode: 10006, retMsg: 'Too many visits!', result: {} }),
      {},
      'rate_limited',
      1_000,
    ],
    [
      'the limit by status and code',
      403,
      JSON.stringify({ retCode: 10006, retMsg: 'Too many visits' }),
      {},
      'rate_limited',
      1_000,
    ],
    ['429 with Retry-After', 429, 'slow down', { 'retry-after': '7' }, 'rate_limited', 7_000],
    [
      'an unknown symbol',
      200,
      JSON.stringify({ retCode: 10001, retMsg: 'symbol invalid', result: {} }),
      {},
      'refused',
      15_000,
    ],
    ['HTML instead of JSON', 200, '<html></html>', {}, 'invalid', 200],
    ['a server error', 502, 'bad gateway', {}, 'transport', 200],
  ];
  test.each(rows)(
    '%s: pauses, logs the pause and resumes',
    async (_shows, status, body, headers, failure, pauseMs) => {
      venue.answerJson(body, status, headers);
      start();
      await clock.advance(0);
      await until(() => failures.length === 1);
      expect(failures[0]).toMatchObject({ failure, pauseMs, ticker: 'BTC' });
      answerBooks();
      const asked = venue.requests.length;
      await clock.advance(pauseMs - 1);
      expect(venue.requests).toHaveLength(asked);
      await clock.advance(201);
      await until(() => events.length >= 1);
      expect((await outcomes())[failure]).toBe(1);
    },
  );

  test('pauses all symbols after a rate limit, only one symbol after another refusal', async () => {
    venue.answer = (request, response) => {
      const symbol = symbolOf(request.url!);
      const refused = { retCode: 10001, retMsg: 'symbol invalid', result: {} };
      response.end(JSON.stringify(symbol === 'BTCUSDT' ? refused : book(symbol, venue.requests.length)));
    };
    start(['BTC', 'ETH']);
    await clock.advance(100);
    await until(() => failures.length === 1 && events.length === 1);
    venue.answerJson('access too frequent', 403);
    await clock.advance(200);
    await until(() => failures.length === 2);
    const asked = venue.requests.length;
    await clock.advance(60_000);
    expect(venue.requests).toHaveLength(asked);
    expect(failures.map(({ failure }) => failure)).toEqual(['refused', 'banned']);
  });

  test('polls an unreachable venue less and less often, up to 10 s apart', async () => {
    venue.answerJson('bad gateway', 502);
    start();
    await clock.advance(0);
    for (let i = 1; i <= 8; i++) {
      await until(() => failures.length === i);
      await clock.advance(failures.at(-1)!.pauseMs + 200);
    }
    expect(failures.slice(0, 8).map(({ pauseMs }) => pauseMs)).toEqual([
      200, 400, 800, 1600, 3200, 5000, 5000, 5000,
    ]);
  });

  test('ends a request without an answer after its timeout', async () => {
    venue.answer = () => {};
    start();
    await clock.advance(0);
    await until(() => venue.requests.length === 1);
    await clock.advance(2_000);
    await until(() => failures.length === 1);
    expect(failures[0]).toMatchObject({ failure: 'transport' });
  });

  test('reports nothing after close()', async () => {
    venue.answer = () => {};
    start();
    await clock.advance(0);
    await until(() => venue.requests.length === 1);
    await poller!.close();
    await clock.advance(60_000);
    expect(failures).toEqual([]);
    expect(venue.requests).toHaveLength(1);
  });
});
