import { describe, expect, it, test } from 'vitest';
import type { DepthSnapshot, Market, TimeseriesPoint } from '../../web/src/api/schema.ts';
import { candleSeconds, candlesOf } from '../../web/src/charts/candles.ts';
import { cumulative } from '../../web/src/charts/cumulative.ts';
import { heatOpacity, heatStrength } from '../../web/src/charts/heatScale.ts';
import { niceTicks } from '../../web/src/charts/niceTicks.ts';
import { movedTo, zoomAround } from '../../web/src/charts/zoom.ts';
import { advanced } from '../../web/src/pages/market/playback.ts';
import { recordedOf } from '../../web/src/pages/market/recorded.ts';
import { basisOf } from '../../web/src/pages/perpetuals/basis.ts';

const START = '2026-11-23T12:00:00.000+00:00';
const startSeconds = Date.parse(START) / 1000;
const timeOf = (seconds: number) => new Date((startSeconds + seconds) * 1000).toISOString();
const MARKET = {
  ...{ market_id: '0x1', start_time: START, end_time: timeOf(300), market_type: '5m', strike_price: 90_000 },
  ...{ ticker: 'BTC', status: 'open' },
} as unknown as Market;

describe('the recorded prices of a market', () => {
  const point = (seconds: number, mid: number | null, price: number | null): TimeseriesPoint => ({
    ...{ ts: timeOf(seconds), mid_yes: mid, spread_yes: 0.01, underlying_price: price },
  });
  const within = { from: startSeconds - 300, to: startSeconds + 300 };
  const earlier = Array.from({ length: 120 }, (_, index) => ({
    ts: timeOf(index - 420),
    price: 90_000 + 10 * Math.sin(index),
  }));

  it('keep the last state in force until now, and until the end at most', () => {
    const points = [point(10, 0.5, 90_001), point(20, null, 90_002)];
    const during = recordedOf(MARKET, points, { earlier, within, now: startSeconds + 100 });
    expect(during.times).toEqual([10, 20, 100].map((one) => startSeconds + one));
    expect(during.implied).toEqual([0.5, null, null]);
    const later = recordedOf(MARKET, points.slice(0, 1), { earlier, within, now: startSeconds + 900 });
    expect(later.times.at(-1)).toBe(startSeconds + 300);
    expect(later.implied).toEqual([0.5, 0.5]);
    // The price of the underlying is a reading, not a state.
    expect(later.underlying.at(-1)).toBeNull();
  });

  it('have a model probability within the window alone, above one half above the strike', () => {
    const points = [point(-10, 0.5, 90_010), point(30, 0.6, 90_050), point(60, 0.4, 89_950)];
    const { model } = recordedOf(MARKET, points, { earlier, within, now: startSeconds + 60 });
    expect(model[0]).toBeNull();
    expect(model[1]).toBeGreaterThan(0.5);
    expect(model[2]).toBeLessThan(0.5);
    const unknown = { ...MARKET, strike_price: null };
    expect(recordedOf(unknown, points, { earlier, within, now: startSeconds + 60 }).model).toEqual([
      ...[null, null, null],
    ]);
  });

  it('do not connect underlying prices over a hole in the recording', () => {
    const points = [point(-290, 0.5, 90_000), point(-289, 0.5, 90_001), point(200, 0.5, 90_002)];
    const { underlying } = recordedOf(MARKET, points, { earlier: [], within, now: startSeconds + 200 });
    expect(underlying).toEqual([90_000, null, 90_002]);
  });

  it.each([
    ['half a minute without a price where it came twice a second', 0.5, 24.6, true],
    ['ten seconds there', 0.5, 10, false],
    ['half a minute in a market with a price every three seconds', 3, 29, false],
    ['a longer time in that market', 3, 31, true],
  ])('%s', (_, spacing, seconds, isHole) => {
    const times = Array.from({ length: 20 }, (_, index) => index * spacing);
    const points = [...times, times.length * spacing + seconds].map((time) => point(time, 0.5, 90_000));
    points.splice(20, 0, point(20 * spacing, 0.5, 90_010));
    const { underlying } = recordedOf(MARKET, points, { earlier: [], within, now: startSeconds });
    expect(underlying[20]).toBe(isHole ? null : 90_010);
  });
});

test('candles have the first, highest, lowest and last value of each bucket, and none without a value', () => {
  const times = [0, 1, 2, 9.9, 10, 25];
  expect(candlesOf(times, [5, 9, 1, 4, null, 7], 10)).toEqual([
    { time: 0, open: 5, high: 9, low: 1, close: 4 },
    { time: 20, open: 7, high: 7, low: 7, close: 7 },
  ]);
  expect(candleSeconds({ from: 0, to: 600 })).toBe(10);
  expect(candleSeconds({ from: 0, to: 86_400 })).toBe(1800);
});

test('a zoom keeps the time in place, stays within the whole, and ends with it', () => {
  const whole = { from: 0, to: 100 };
  expect(zoomAround(25, 0.5, whole, whole)).toEqual({ from: 12.5, to: 62.5 });
  expect(zoomAround(100, 0.5, whole, whole)).toEqual({ from: 50, to: 100 });
  expect(zoomAround(60, 4, { from: 50, to: 75 }, whole)).toBeNull();
  expect(zoomAround(60, 2, { from: 50, to: 75 }, whole)).toEqual({ from: 40, to: 90 });
});

test('the displayed part moves to a time outside it, and not to one within', () => {
  const shown = { from: 10, to: 20 };
  expect(movedTo(15, shown, { from: 0, to: 100 })).toBe(shown);
  expect(movedTo(50, shown, { from: 0, to: 100 })).toEqual({ from: 45, to: 55 });
  expect(movedTo(99, shown, { from: 0, to: 100 })).toEqual({ from: 90, to: 100 });
});

test('playback passes as many recorded seconds as its speed says, and ends at the end', () => {
  expect(advanced(100, { elapsedMs: 250, speed: 20, end: 400 })).toBe(105);
  expect(advanced(399, { elapsedMs: 100, speed: 20, end: 400 })).toBeNull();
});

test('the heat of a size is logarithmic: each tenfold size is the same step', () => {
  const strengthOf = (size: number) => heatStrength(size, 99_999);
  expect(strengthOf(0)).toBe(0);
  expect(strengthOf(99_999)).toBe(1);
  expect(strengthOf(999) - strengthOf(99)).toBeCloseTo(0.2, 10);
  expect(strengthOf(9_999) - strengthOf(999)).toBeCloseTo(0.2, 10);
  expect(heatOpacity(strengthOf(1))).toBeLessThan(heatOpacity(strengthOf(10)));
});

test('cumulative depth sums sizes from the best price outwards', () => {
  expect(
    cumulative([
      [0.5, 10],
      [0.49, 5],
      [0.4, 1],
    ]),
  ).toEqual([
    [0.5, 10],
    [0.49, 15],
    [0.4, 16],
  ]);
});

test('ticks are round values within the range', () => {
  expect(niceTicks({ low: 0, high: 1 }, 4)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(niceTicks({ low: 89_201.3, high: 89_219 }, 4)).toEqual([89_205, 89_210, 89_215]);
  expect(niceTicks({ low: 1, high: 1 }, 4)).toEqual([]);
});

test('the basis joins each book with the newest spot price, unless it is too old', () => {
  const book = (seconds: number, bid: number | null, ask: number | null) =>
    ({ timestamp: timeOf(seconds), best_bid: bid, best_ask: ask }) as DepthSnapshot;
  const spot = [
    { ts: timeOf(0), price: 100 },
    { ts: timeOf(9), price: 200 },
  ];
  const books = [book(1, 100, 102), book(10, 199, 201), book(11, null, 201), book(60, 199, 201)];
  expect(basisOf(books, spot)).toEqual({
    times: [1, 10, 11, 60].map((one) => startSeconds + one),
    mid: [101, 200, null, 200],
    spot: [100, 200, 200, null],
    basisBps: [100, 0, null, null],
    spread: [2, 2, null, 2],
  });
});
