import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { CandleCache } from './candleCache.ts';
import { StrikeFinder } from './strikeFinder.ts';

/** A day from noon to noon in New York, decided by the close of the minute that begins at its end. */
const DAY_MS = Date.UTC(2026, 10, 20, 17);
const DAILY: Market = {
  ...MARKET,
  ...{ eventType: 'daily_up_down', startTimeMs: DAY_MS, endTimeMs: DAY_MS + 86_400_000 },
};
const DECIDED_MS = DAY_MS + 60_000;

test('missing strikes and closes are exported before the first, so that an alert sees it', async () => {
  const metrics = new Metrics();
  new StrikeFinder({ candles: null, log: silentLogger, metrics });
  const { values } =
    (await metrics.registry.getSingleMetric('underround_strikes_missing_total')?.get()) ?? {};
  expect(values).toMatchObject([
    { labels: { edge: 'strike' }, value: 0 },
    { labels: { edge: 'close' }, value: 0 },
  ]);
});

/** The strike of the day from the trades alone, as first found at a time. */
function strikeAt(nowMs: number): number | null {
  const strikes = new StrikeFinder({ candles: null, log: silentLogger, metrics: new Metrics() });
  for (const [eventTimeMs, price] of [
    [DAY_MS, 96_000],
    [DECIDED_MS, 97_000],
    [DECIDED_MS + 1_000, 98_000],
  ] as const) {
    const times = { eventTimeMs, receivedTimeMs: eventTimeMs };
    strikes.price({ kind: 'underlying', ticker: 'BTC', source: 'binance_spot', price, ...times });
  }
  return strikes.review(DAILY, nowMs).strikePrice;
}

describe('the strike of a day decided by one minute', () => {
  test.each([
    ['is not estimated before 3 s after the minute', 2_999, null],
    ['is estimated 3 s after it', 3_000, 97_000],
    ['is estimated until 480 s after it', 480_000, 97_000],
    ['is not searched later', 480_001, null],
  ])('%s', (_, afterMs, expected) => {
    expect(strikeAt(DECIDED_MS + afterMs)).toBe(expected);
  });
});

test('logs a market once whose listing names no page of its candles', () => {
  const lines: object[] = [];
  const log = { ...silentLogger, warn: (...line: object[]) => lines.push(line) } as never;
  const candles = {
    candle: () => Promise.reject(new Error('no candle may be requested')),
  };
  const clock = new FakeClock(DAY_MS);
  const cache = new CandleCache({ candles, clock, random: () => 0, log });
  const strikes = new StrikeFinder({ candles: cache, log, metrics: new Metrics() });
  const market = { ...DAILY, ticker: 'XRP' as const, decidingFeed: null };
  for (let second = 60; second < 70; second++) strikes.review(market, DAY_MS + second * 1000);
  expect(lines).toEqual([[{ slug: market.slug, decidingFeed: null }, 'market.candle_source_unknown']]);
});
