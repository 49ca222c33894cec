import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MARKET } from '../../test/support/wire.ts';
import { settlementOfMarket } from '../core/venueRules.ts';
import { TransportError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import type { EventType, Market } from '../schema/market.ts';
import { HttpRefusedError } from '../venues/http.ts';
import type { OpenPriceQuery } from '../venues/polymarket/cryptoPrice/client.ts';
import { OpenPrices } from './openPrices.ts';

const OPEN = MARKET.startTimeMs;

function windowOf(eventType: EventType, changes: Partial<Market> = {}): Market {
  const lengthMs = { '5m': 300_000, '15m': 900_000, '1h': 3_600_000, '4h': 14_400_000 }[eventType as '5m'];
  const slug = `${changes.ticker ?? 'BTC'}-${eventType}`;
  return { ...MARKET, eventType, slug, endTimeMs: OPEN + (lengthMs ?? 86_400_000), ...changes };
}

function setUp(answers: () => number | null | Error = () => 97_000.5) {
  const clock = new FakeClock(OPEN);
  const asked: { query: OpenPriceQuery; afterMs: number }[] = [];
  const source = {
    openPrice: async (query: OpenPriceQuery) => {
      asked.push({ query, afterMs: clock.now() - OPEN });
      const answer = answers();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const prices = new OpenPrices({ source, clock, random: () => 0.5, log: silentLogger });
  /** Reviews the windows once a second, like the lifecycle. @returns The last prices. */
  const review = async (markets: readonly Market[], seconds: number) => {
    let found: (number | null)[] = [];
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1000);
      found = markets.map((market) => prices.openPrice(market, settlementOfMarket(market)!, clock.now()));
    }
    return found;
  };
  const order = () => asked.map(({ query, afterMs }) => [query.ticker, query.eventType, afterMs]);
  return { clock, prices, asked, review, order };
}

it('requests a window a few seconds after its open, and returns its price from then on', async () => {
  const at = setUp();
  expect(await at.review([windowOf('5m')], 4)).toEqual([null]);
  expect(await at.review([windowOf('5m')], 1)).toEqual([97_000.5]);
  expect(await at.review([windowOf('5m')], 60)).toEqual([97_000.5]);
  expect(at.asked).toEqual([
    {
      query: {
        ...{ ticker: 'BTC', eventType: '5m', startTimeMs: OPEN, endTimeMs: OPEN + 300_000 },
        lookbackSeconds: 60,
      },
      afterMs: 4_000,
    },
  ]);
});

it('sends one request in five seconds, first for the window that ends first, none for 4h windows', async () => {
  const at = setUp();
  const markets = (['4h', '15m', '5m'] as const).map((eventType) => windowOf(eventType));
  await at.review([...markets, windowOf('5m', { ticker: 'ETH' })], 40);
  expect(at.order()).toEqual([
    ['BTC', '5m', 4_000],
    ['ETH', '5m', 9_000],
    ['BTC', '15m', 14_000],
  ]);
});

it('repeats a request without an answer after the others, never within the endpoint’s cache time', async () => {
  const at = setUp(() => null);
  await at.review([windowOf('5m'), windowOf('15m')], 25);
  expect(at.order()).toEqual([
    ['BTC', '5m', 4_000],
    ['BTC', '15m', 9_000],
    ['BTC', '5m', 14_000],
    ['BTC', '15m', 19_000],
    ['BTC', '5m', 24_000],
  ]);
});

it.each([
  [429, null, 34_000],
  [429, 45_000, 49_000],
])('pauses at least 30 s after %i with Retry-After %j', async (status, retryAfterMs, againMs) => {
  let isRefused = true;
  const refusal = new HttpRefusedError('too many', { status, excerpt: '', retryAfterMs });
  const at = setUp(() => (isRefused ? refusal : 97_000.5));
  await at.review([windowOf('5m')], 10);
  expect(at.prices.isFailing).toBe(true);
  isRefused = false;
  expect(await at.review([windowOf('5m')], 60)).toEqual([97_000.5]);
  expect(at.order().map(([, , afterMs]) => afterMs)).toEqual([4_000, againMs]);
  expect(at.prices.isFailing).toBe(false);
});

it('pauses longer after each failure', async () => {
  const at = setUp(() => new TransportError('no route'));
  await at.review([windowOf('15m')], 300);
  expect(at.order().map(([, , afterMs]) => afterMs)).toEqual([4_000, 27_000, 72_000, 162_000]);
});

it('requests nothing for windows that a candle decides, or before the average decided, or after the end', async () => {
  const at = setUp();
  const old = Date.UTC(2026, 6, 1);
  const past = windowOf('5m', { startTimeMs: old, endTimeMs: old + 300_000, slug: 'old' });
  expect(settlementOfMarket(past)?.kind).toBe('chainlink_spot');
  const ended = windowOf('5m', { startTimeMs: OPEN - 300_000, endTimeMs: OPEN, slug: 'ended' });
  await at.review([windowOf('1h'), windowOf('daily_up_down'), past, ended], 20);
  expect(at.asked).toEqual([]);
});

it('forgets a window that has another price by now', async () => {
  const at = setUp(() => null);
  await at.review([windowOf('5m'), windowOf('15m')], 5);
  await at.review([windowOf('15m')], 20);
  expect(at.order().map(([, eventType]) => eventType)).toEqual(['5m', '15m', '15m']);
});
