import { expect, test } from 'vitest';
import { TickerPrices } from './tickerPrices.ts';

const T0 = Date.UTC(2026, 10, 20, 12);

/**
 * Thirty seconds: trades rise by 1 a second from 97,000, half a second before each; the relay is 50 lower, 2 s late.
 */
function thirtySeconds(sources: { trades: boolean; relay: boolean }): TickerPrices {
  const prices = new TickerPrices();
  for (let second = 1; second <= 30; second++) {
    const receivedTimeMs = T0 + second * 1_000;
    const trade = { source: 'binance_spot', price: 97_000 + second } as const;
    if (sources.trades) prices.push({ ...trade, eventTimeMs: receivedTimeMs - 500, receivedTimeMs });
    const relayed = { source: 'chainlink', price: 96_950 + second - 2 } as const;
    if (sources.relay) prices.push({ ...relayed, eventTimeMs: receivedTimeMs - 2_000, receivedTimeMs });
  }
  return prices;
}

const asked = { fromMs: T0 + 10_000, nowMs: T0 + 30_000 };
const spot = (price: number) => ({ price, source: 'binance_spot', basis: null }) as const;

test('the relay decides: its mean, with the current price for the seconds that have not arrived', () => {
  const prices = thirtySeconds({ trades: true, relay: true });
  // Seconds 11 to 28 of the relay, two at 96,980.
  const mean = (18 * (96_950 + 19.5) + 2 * 96_980) / 20;
  expect(prices.insideMean({ ...asked, decider: 'chainlink', spot: spot(96_980) })).toBeCloseTo(mean, 6);
});

test.each([true, false])('the strike is from trades: their mean, relay %s', (relay) => {
  const prices = thirtySeconds({ trades: true, relay });
  // Seconds 11 to 30 of the trades.
  expect(prices.insideMean({ ...asked, decider: 'exchange', spot: spot(97_030) })).toBeCloseTo(97_020.5, 6);
});

test('a missing feed is not replaced by another', () => {
  const prices = thirtySeconds({ trades: true, relay: false });
  expect(prices.insideMean({ ...asked, decider: 'chainlink', spot: spot(97_030) })).toBe(null);
  const relayed = thirtySeconds({ trades: false, relay: true });
  expect(relayed.insideMean({ ...asked, decider: 'exchange', spot: spot(97_030) })).toBe(null);
});

test('a price is fresh for ten seconds after its receipt, however late it was', () => {
  const prices = new TickerPrices();
  const receivedTimeMs = T0 + 10_000;
  prices.push({ source: 'binance_spot', price: 97_000, eventTimeMs: T0 + 5_100, receivedTimeMs });
  expect(prices.spot('exchange', T0 + 20_000)).toEqual(spot(97_000));
  expect(prices.sources(T0 + 20_000).prices).toEqual([97_000]);
  expect(prices.spot('exchange', T0 + 20_001)).toBeNull();
  expect(prices.sources(T0 + 20_001).prices).toEqual([]);
});

test('of two trades in one millisecond the later one is the current price, an older one never is', () => {
  const prices = new TickerPrices();
  const times = { eventTimeMs: T0 + 1_000, receivedTimeMs: T0 + 1_100 };
  for (const price of [97_000, 97_001]) prices.push({ source: 'binance_spot', price, ...times });
  expect(prices.spot('exchange', T0 + 1_200)?.price).toBe(97_001);
  prices.push({ source: 'binance_spot', price: 96_000, ...times, eventTimeMs: T0 + 999 });
  expect(prices.spot('exchange', T0 + 1_200)?.price).toBe(97_001);
});
