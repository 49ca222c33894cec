import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import type { DecidingFeed } from '../schema/market.ts';
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
