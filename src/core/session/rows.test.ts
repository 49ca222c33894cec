import { expect, test } from 'vitest';
import { END_MS, type Level, ladder, START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { firstGapKnown, firstMessageAfter, needsOfAll, RowBuilder } from './rows.ts';
import { UnderlyingState } from './underlyingState.ts';

/** The imbalance of a book with these levels. */
function imbalanceOf(bids: readonly Level[], asks: readonly Level[]): number {
  const builder = new RowBuilder(TAPE_MARKET, { underlying: null, capacity: 1 });
  const sides = { yesBids: ladder('bids', bids), yesAsks: ladder('asks', asks) };
  builder.book({ receivedMs: START_MS, trusted: true, book: 0, ...sides });
  return builder.rows.imbalance[0] as number;
}

const BIDS: readonly Level[] = [0.49, 0.48, 0.47, 0.46, 0.45].map((price) => [price, 10]);

test.each<[string, readonly Level[], readonly Level[], number]>([
  ['the five best levels of each side', [...BIDS, [0.44, 1_000]], [[0.5, 150]], -0.5],
  ['the levels that there are', [[0.49, 30]], [[0.5, 10]], 0.5],
  ['one side alone', BIDS, [], 1],
  ['nothing', [], [], Number.NaN],
])('the imbalance is that of %s', (_, bids, asks, imbalance) => {
  expect(imbalanceOf(bids, asks)).toBe(imbalance);
});

test('a strike that was received before its window is known from the start of the window', () => {
  const underlying = new UnderlyingState();
  const market = { ...TAPE_MARKET, strikePrice: 100_000, strikeKnownTimeMs: START_MS - 5_000 };
  const builder = new RowBuilder(market, { underlying, capacity: 1 });
  const distanceAt = (receivedMs: number) => {
    underlying.push({ receivedMs, eventMs: receivedMs, price: 101_000 });
    expect(builder.price(receivedMs)).toBe(true);
    return builder.rows.distance[0];
  };
  expect([distanceAt(START_MS - 1), distanceAt(START_MS)]).toEqual([Number.NaN, 0.01]);
});

test('a search ends at the first message after its time, at a gap that becomes known, or after the last row', () => {
  const underlying = new UnderlyingState();
  const builder = new RowBuilder(TAPE_MARKET, { underlying, capacity: 8 });
  const quote = (at: number) => {
    const best = { yesBid: 4_000 + at, yesAsk: 4_100, noBid: 5_900, noAsk: 6_000 };
    builder.quote({ receivedMs: START_MS + at, trusted: true, ...best });
  };
  quote(1);
  quote(2);
  underlying.push({ receivedMs: START_MS + 3, eventMs: START_MS + 3, price: 101_000 });
  builder.price(START_MS + 3);
  quote(4);
  builder.gapDetected({ startMs: START_MS + 4, knownMs: START_MS + 5 });
  quote(6);
  const { rows } = builder;
  const firstAfter = (at: number, from = 0) => firstMessageAfter(rows, from, START_MS + at);
  // The price of the underlying (row 2) is no message of the market.
  expect([firstAfter(0), firstAfter(1), firstAfter(2), firstAfter(3)]).toEqual([0, 1, 3, 3]);
  expect([firstAfter(4), firstAfter(4, 5), firstAfter(6, 5)]).toEqual([4, 5, 6]);
  expect([firstGapKnown(rows, 0), firstGapKnown(rows, 4), firstGapKnown(rows, 5)]).toEqual([4, 4, 6]);
  expect(firstGapKnown({ ...rows, count: 4 }, 0)).toBe(4);
  expect(firstGapKnown({ ...rows, count: 3 }, 0)).toBe(3);
});

/** Rows of which the newest is kept, without a model. */
function newest() {
  const builder = new RowBuilder(TAPE_MARKET, { underlying: null, capacity: 1 });
  const { rows } = builder;
  const sides = { yesBids: ladder('bids', [[0.4, 10]]), yesAsks: ladder('asks', [[0.5, 10]]) };
  const book = (at: number, trusted = true) => {
    builder.book({ receivedMs: START_MS + at, trusted, book: 0, ...sides });
    return rows.trusted[0] === 1;
  };
  const detect = (at: number) => builder.gapDetected({ startMs: START_MS, knownMs: START_MS + at });
  const end = (at: number) => {
    builder.gapEnded(START_MS + at);
    return rows.trusted[0] === 1;
  };
  return { builder, rows, book, detect, end };
}

test('a book is trusted if it was received at the end of the gap or later', () => {
  const { book, detect, end } = newest();
  expect(book(1_000)).toBe(true);
  detect(1_500);
  expect([book(2_000), end(2_001)]).toEqual([false, false]);
  expect(book(2_001)).toBe(true);
  detect(3_000);
  expect([book(3_500), end(3_500)]).toEqual([false, true]);
});

test('records inside a gap, which the store may lose, do not move the clock of the rows after it', () => {
  const { rows, book, detect, end } = newest();
  const timeAfter = (_record: unknown) => (rows.timeMs[0] as number) - START_MS;
  const inside = [timeAfter(book(1_000)), timeAfter(detect(1_500)), timeAfter(book(3_000))];
  expect(inside).toEqual([1_000, 1_500, 3_000]);
  // The collector's clock was set back by two seconds before the gap ended.
  const after = [timeAfter(end(1_200)), timeAfter(book(1_300)), timeAfter(book(1_600))];
  expect(after).toEqual([1_500, 1_500, 1_600]);
});

test('a row inside a gap has no distance from a price that is older than ten seconds', () => {
  const underlying = new UnderlyingState();
  const market = { ...TAPE_MARKET, strikePrice: 100_000, strikeKnownTimeMs: START_MS };
  const builder = new RowBuilder(market, { underlying, capacity: 1 });
  underlying.push({ receivedMs: START_MS, eventMs: START_MS, price: 101_000 });
  builder.gapDetected({ startMs: START_MS, knownMs: START_MS + 1_000 });
  const distanceAt = (receivedMs: number) => {
    builder.price(receivedMs);
    return builder.rows.distance[0];
  };
  expect([distanceAt(START_MS + 10_000), distanceAt(START_MS + 10_001)]).toEqual([0.01, Number.NaN]);
});

test('of several gaps the last to end counts, in whatever order they become known', () => {
  const { book, detect, end } = newest();
  detect(1_000);
  detect(1_100);
  expect([end(5_000), book(5_500)]).toEqual([false, false]);
  expect(end(2_000)).toBe(true);
  detect(6_000);
  detect(6_100);
  end(9_000);
  end(7_000);
  expect([book(8_000), book(9_000)]).toEqual([false, true]);
});

test('the end of a gap that was never detected does not end the next one', () => {
  const { book, detect, end } = newest();
  end(500);
  expect(book(1_000)).toBe(true);
  detect(1_500);
  expect(book(2_000)).toBe(false);
});

test('a quote makes a row only if it differs from the newest row', () => {
  const { builder, rows, book } = newest();
  book(1_000);
  const quote = { receivedMs: START_MS + 2_000, trusted: true, yesBid: 4_000, yesAsk: 5_000 };
  const no = { noBid: 5_000, noAsk: 6_000 };
  expect(builder.quote({ ...quote, ...no })).toBe(false);
  expect(rows.timeMs[0]).toBe(START_MS + 1_000);
  expect(builder.quote({ ...quote, ...no, noAsk: 6_100 })).toBe(true);
  expect(builder.quote({ ...quote, ...no, trusted: false, noAsk: 6_100 })).toBe(true);
  const empty = { yesBid: Number.NaN, yesAsk: Number.NaN, noBid: Number.NaN, noAsk: Number.NaN };
  expect([builder.quote({ ...quote, ...empty }), builder.quote({ ...quote, ...empty })]).toEqual([
    true,
    false,
  ]);
});

test('a quote after a gap proves the same best prices again', () => {
  const { builder, rows, book, detect, end } = newest();
  book(1_000);
  detect(1_500);
  end(2_000);
  const best = { yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk: 6_000 };
  expect(builder.quote({ receivedMs: START_MS + 2_500, trusted: true, ...best })).toBe(true);
  expect(rows.trusted[0]).toBe(1);
});

test('a quote proves the best prices after a gap, also if an earlier quote had the later receive time', () => {
  const { builder, rows, detect, end } = newest();
  const quote = (at: number, noAsk: number) =>
    builder.quote({
      ...{ receivedMs: START_MS + at, trusted: true },
      ...{ yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk },
    });
  detect(1_500);
  end(2_000);
  quote(2_500, 6_000);
  quote(1_900, 6_100);
  expect([rows.trusted[0], rows.noAsk[0]]).toEqual([1, 6_100]);
});

test('a book is proven after a gap, also if an earlier book had the later receive time', () => {
  const { book, detect, end } = newest();
  detect(1_500);
  end(2_000);
  expect([book(2_500), book(1_900)]).toEqual([true, true]);
});

test.each(['yesBid', 'yesAsk', 'noBid', 'noAsk'])('a change of %s alone makes a row', (changed) => {
  const { builder, book } = newest();
  book(1_000);
  const best = { yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk: 6_000 };
  const quote = { receivedMs: START_MS + 2_000, trusted: true, ...best };
  expect([builder.quote(quote), builder.quote({ ...quote, [changed]: 5_500 })]).toEqual([false, true]);
});

test('the end of one gap moves the clock, though another is still open', () => {
  const { rows, detect, end } = newest();
  detect(1_000);
  detect(1_100);
  end(3_000);
  end(2_500);
  expect(rows.timeMs[0]).toBe(START_MS + 3_000);
});

test('a market that the futures decide has no model, because their prices are not recorded', () => {
  const underlying = new UnderlyingState();
  const market = { ...TAPE_MARKET, ticker: 'HYPE', eventType: '1h' } as const;
  const isPriced = (decidingFeed: 'binance_spot' | null) =>
    new RowBuilder({ ...market, decidingFeed }, { underlying, capacity: 1 }).price(START_MS);
  expect([isPriced(null), isPriced('binance_spot')]).toEqual([false, true]);
});

test('within the deciding average the model has a value from its first whole second on', () => {
  const underlying = new UnderlyingState({ openMs: START_MS });
  const builder = new RowBuilder(TAPE_MARKET, { underlying, capacity: 1 });
  const probabilityAt = (receivedMs: number, price: number) => {
    underlying.push({ receivedMs, eventMs: receivedMs, price });
    builder.price(receivedMs);
    return builder.rows.yesProb[0];
  };
  const averageFromMs = END_MS - 60_000;
  for (let ms = START_MS; ms <= averageFromMs; ms += 1_000) probabilityAt(ms, 97_000 + ((ms / 1_000) % 7));
  expect(probabilityAt(averageFromMs + 999, 97_100)).toBeNaN();
  expect(probabilityAt(averageFromMs + 1_000, 97_100)).toBeCloseTo(1, 6);
});

test('times of rows outside gaps never go back', () => {
  const { rows, book } = newest();
  book(2_000);
  book(1_000);
  expect(rows.timeMs[0]).toBe(START_MS + 2_000);
});

test('the best prices of NO are those of its book, or mirror those of YES', () => {
  const { builder, rows, book } = newest();
  book(1_000);
  expect([rows.noBid[0], rows.noAsk[0]]).toEqual([5_000, 6_000]);
  const sides = { yesBids: ladder('bids', [[0.4, 10]]), yesAsks: ladder('asks', []) };
  const at = { receivedMs: START_MS + 2_000, trusted: true, book: 1, ...sides };
  builder.book({ ...at, no: { bid: 4_900, ask: 6_100 } });
  expect([rows.yesAsk[0], rows.noBid[0], rows.noAsk[0]]).toEqual([Number.NaN, 4_900, 6_100]);
  builder.book(at);
  expect([rows.noBid[0], rows.noAsk[0]]).toEqual([Number.NaN, 6_000]);
});

test('a strike is known from the millisecond of its receipt on', () => {
  const underlying = new UnderlyingState();
  const market = { ...TAPE_MARKET, strikePrice: 100_000, strikeKnownTimeMs: START_MS + 2_000 };
  const builder = new RowBuilder(market, { underlying, capacity: 1 });
  const distances = [1_999, 2_000].map((at) => {
    underlying.push({ receivedMs: START_MS + at, eventMs: START_MS + at, price: 99_000 });
    builder.price(START_MS + at);
    return builder.rows.distance[0];
  });
  expect(distances).toEqual([Number.NaN, -0.01]);
});

test.each([
  ['all rows', 2_000],
  ['the newest row', 1],
])('of %s every measure has a column of its own, and each window of a volatility too', (_, capacity) => {
  const volatility = (windowSeconds: number) => ({ of: 'volatility', windowSeconds }) as const;
  const measures = [
    ...[volatility(60), volatility(600)],
    ...(['move_usd', 'move_pct'] as const).map((of) => ({ of, windowSeconds: null })),
  ];
  const underlying = new UnderlyingState({ openMs: START_MS });
  const builder = new RowBuilder(TAPE_MARKET, {
    underlying,
    capacity,
    measures: capacity > 1 ? measures : [],
  });
  // The newest row has a measure from the next row on.
  const columns = measures.map((measure) => builder.rows.measured(measure));
  for (let second = -400; second <= 200; second++) {
    const receivedMs = START_MS + second * 1_000;
    const price = 97_000 + second / 100 + (second % 2) * (second < 100 ? 1 : 9);
    underlying.push({ receivedMs, eventMs: receivedMs, price });
    builder.price(receivedMs);
  }
  const newest = columns.map((column) => column[builder.rows.count - 1]);
  const nowMs = START_MS + 200_000;
  expect(newest).toEqual(measures.map((measure) => underlying.measure(measure, nowMs)));
  expect(new Set(newest).size).toBe(4);
  const other = () => builder.rows.measured(volatility(61));
  if (capacity > 1) expect(other).toThrow(new RangeError('the rows were made without volatility 61'));
  else expect(other()[0]).toBeNaN();
});

test('strategies that share rows need each of their measures once', () => {
  const measure = (windowSeconds: number) => ({ of: 'volatility', windowSeconds }) as const;
  const move = { of: 'move_usd', windowSeconds: null } as const;
  const needs = needsOfAll([
    { model: false },
    { model: false, measures: [measure(60), move] },
    { model: true, measures: [measure(60), measure(120)] },
  ]);
  expect(needs).toEqual({ model: true, measures: [measure(60), move, measure(120)] });
  expect(needsOfAll([{ model: false }])).toEqual({ model: false, measures: [] });
});
