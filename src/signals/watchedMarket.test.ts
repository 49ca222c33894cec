import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import type { DecidingFeed, Market } from '../schema/market.ts';
import { TickerPrices } from './tickerPrices.ts';
import { WatchedMarket } from './watchedMarket.ts';

const START_MS = Date.UTC(2026, 10, 20, 12);
const NOW_MS = START_MS + 60_000;
/** Prices of the exchange's spot market. */
const PRICES = {
  spot: () => ({ price: 34.2, source: 'binance_spot', basis: null }),
  sigma: () => ({ annual: 0.9, samples: 600 }),
  sources: () => ({ prices: [], ageMs: null }),
  insideMean: () => null,
} as unknown as TickerPrices;

function hour(decidingFeed: DecidingFeed | null, ticker: 'HYPE' | 'BTC' = 'HYPE') {
  return marketRecord({
    marketId: `0x${'ab'.repeat(32)}`,
    ...{ ticker, eventType: '1h', startTimeMs: START_MS, endTimeMs: START_MS + 3_600_000 },
    ...{ decidingFeed, strikePrice: 34.1, strikeSource: 'relayed', strikeBasis: 'binance_candle' },
  });
}

test.each<[string, 'HYPE' | 'BTC', DecidingFeed | null, boolean]>([
  ['the spot market', 'HYPE', 'binance_spot', true],
  ['the futures market, whose prices are not recorded', 'HYPE', 'binance_futures', false],
  ['the futures market, as for HYPE without a listed source', 'HYPE', null, false],
  ['the spot market, as for BTC without a listed source', 'BTC', null, true],
  ['prices that are not read', 'BTC', 'unknown', false],
])('an hour decided by %s is priced or not', (_shows, ticker, decidingFeed, isPriced) => {
  const watched = WatchedMarket.of(hour(decidingFeed, ticker), NOW_MS);
  watched?.price(PRICES, NOW_MS);
  // Without a price there is no model value, and logical signals go on.
  expect([watched !== null, watched?.spot !== null]).toEqual([true, isPriced]);
});

test('a record whose listing begins to name unknown prices still replaces the older one', () => {
  const watched = WatchedMarket.of(hour('binance_spot', 'BTC'), NOW_MS);
  const newer = { ...hour('unknown', 'BTC'), status: 'closed' as const };
  watched?.applyRecord(newer, NOW_MS);
  expect(watched?.market).toBe(newer);
  watched?.price(PRICES, NOW_MS);
  expect(watched?.spot).toBeNull();
});

test('inside the average that decides, without any fresh price, a market has no value', () => {
  const market = marketRecord({
    marketId: `0x${'cd'.repeat(32)}`,
    ...{ ticker: 'BTC', eventType: '5m', startTimeMs: START_MS, endTimeMs: START_MS + 300_000 },
    ...{ decidingFeed: null, strikePrice: 97_000, strikeSource: 'official', strikeBasis: 'listing' },
  });
  const watched = WatchedMarket.of(market, NOW_MS);
  watched?.price(new TickerPrices(), market.endTimeMs - 30_000);
  expect(watched?.model.averageFromMs).toBe(market.endTimeMs - 60_000);
  expect([watched?.spot, watched?.model.yesProb]).toEqual([null, null]);
});

/** A window of Chainlink's average; changes are those of its record. */
function window5m(changes: Partial<Market> = {}) {
  return marketRecord({
    marketId: `0x${'ef'.repeat(32)}`,
    ...{ ticker: 'BTC', eventType: '5m', startTimeMs: START_MS, endTimeMs: START_MS + 300_000 },
    ...{ strikePrice: 97_000, strikeSource: 'official', strikeBasis: 'listing', ...changes },
  });
}

const SPOT_MS = Date.UTC(2026, 7, 1);
test.each<[string, Market, string]>([
  ["an average of the relayed feed, with the venue's strike", window5m(), 'chainlink'],
  [
    "an average, with a strike of an exchange's trades",
    window5m({ strikeBasis: 'binance_trades' }),
    'exchange',
  ],
  ['a relayed price', window5m({ startTimeMs: SPOT_MS, endTimeMs: SPOT_MS + 300_000 }), 'chainlink'],
  ["an exchange's candle", hour('binance_spot', 'BTC'), 'exchange'],
])('a market decided by %s is priced by that feed', (_shows, market, decider) => {
  const asked: string[] = [];
  const spot = (own: string) => {
    asked.push(own);
    return null;
  };
  const nowMs = market.startTimeMs + 1_000;
  WatchedMarket.of(market, nowMs)?.price({ ...PRICES, spot } as unknown as TickerPrices, nowMs);
  expect(asked).toEqual([decider]);
});

test('the time of a market never goes back', () => {
  const watched = WatchedMarket.of(window5m(), NOW_MS);
  watched?.price(PRICES, NOW_MS);
  watched?.price(PRICES, NOW_MS - 1);
  expect([watched?.nowMs, watched?.model.secondsLeft]).toEqual([NOW_MS, 240]);
});

test('the listing says over how many seconds the deciding average goes', () => {
  const market = window5m({ decidingFeed: 'chainlink_twap', twapLookbackSeconds: 30 });
  expect(WatchedMarket.of(market, NOW_MS)?.model.averageFromMs).toBe(market.endTimeMs - 30_000);
});

test('the hold of orders is the one that applies now, not the one at the start of the window', () => {
  const changeMs = Date.UTC(2026, 7, 17, 11);
  const times = { startTimeMs: changeMs - 3_600_000, endTimeMs: changeMs + 10_800_000 };
  const market = window5m({ eventType: '4h', ...times });
  const watched = WatchedMarket.of(market, changeMs - 1);
  expect(watched?.terms.takerHoldMs).toBe(250);
  watched?.applyRecord(market, changeMs);
  expect(watched?.terms.takerHoldMs).toBe(50);
});

test('a newer record changes the fee and the deciding average', () => {
  const watched = WatchedMarket.of(window5m({ takerFeeRate: 0.04, takerFeeExponent: 1 }), NOW_MS);
  const terms = { takerFeeRate: 0.08, takerFeeExponent: 1, decidingFeed: 'chainlink_twap' } as const;
  const newer = window5m({ ...terms, twapLookbackSeconds: 30 });
  const charged = () => watched?.fee.charged({ price: 5_000, size: 100_000_000 });
  expect([charged(), watched?.model.averageFromMs]).toEqual([1_000_000, newer.endTimeMs - 60_000]);
  watched?.applyRecord(newer, NOW_MS);
  expect([charged(), watched?.model.averageFromMs]).toEqual([2_000_000, newer.endTimeMs - 30_000]);
});

test('the strike counts from the start of the window', () => {
  const watched = WatchedMarket.of(window5m(), START_MS - 1);
  const strikeAt = (nowMs: number) => {
    watched?.price(PRICES, nowMs);
    return watched?.model.strike;
  };
  expect([strikeAt(START_MS - 1), strikeAt(START_MS)]).toEqual([null, 97_000]);
});

test("a strike of an exchange's trades is compared with its prices, whatever feed decides", () => {
  const market = { ...hour('binance_futures'), strikeBasis: 'binance_trades' } as const;
  const watched = WatchedMarket.of(market, NOW_MS);
  watched?.price(PRICES, NOW_MS);
  expect(watched?.spot?.price).toBe(34.2);
});

test('a market is trusted with a proven whole book while no gap is open', () => {
  const watched = WatchedMarket.of(window5m(), NOW_MS) as WatchedMarket;
  Object.assign(watched, { hasBook: true, isProven: true });
  watched.openGaps.add('gap_1');
  expect(watched.trusted).toBe(false);
  watched.openGaps.clear();
  expect(watched.trusted).toBe(true);
});
