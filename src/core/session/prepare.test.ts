import { expect, test } from 'vitest';
import { END_MS, ofOneNumber, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { prepareMarket } from './prepare.ts';

test('prices make rows from the start of the window on; those before it feed the model alone', () => {
  const tape = new TapeWriter()
    .book({ at: -10, bids: [[0.49, 100]], asks: [[0.51, 100]] })
    .price(-1, 97_000)
    .price(0, 97_001)
    .price(1, 97_002)
    .tape();
  const { rows } = prepareMarket(tape, { model: true });
  const times = [...rows.timeMs.subarray(0, rows.count)];
  expect(times.map((timeMs) => timeMs - START_MS)).toEqual([-10, 0, 1]);
});

test('a trade of the same arrival number as a book comes after the book', () => {
  const writer = new TapeWriter()
    .book({ at: 0, bids: [[0.4, 1]] })
    .trade({ at: 0, side: 'BUY_YES', price: 0.5, shares: 2 });
  const nextRowOf = (tape: ReturnType<TapeWriter['tape']>) => [
    ...(prepareMarket(tape, { model: false }).trades?.nextRow ?? []),
  ];
  expect([nextRowOf(ofOneNumber(writer.tape(), 1)), nextRowOf(writer.tape())]).toEqual([[1], [1]]);
  const before = new TapeWriter().trade({ at: 0, side: 'BUY_YES', price: 0.5, shares: 2 });
  expect(nextRowOf(before.book({ at: 0, bids: [[0.4, 1]] }).tape())).toEqual([0]);
});

test('the window counts rows from its start until before its end, and is covered from the first proven one on', () => {
  const length = END_MS - START_MS;
  const writer = new TapeWriter();
  const books = [
    ...([
      [-2_000, true],
      [-1, false],
      [0, false],
      [1_000, true],
      [9_000, false],
    ] as const),
    ...([
      [length - 500, true],
      [length, true],
      [length + 1, false],
    ] as const),
  ];
  for (const [n, [at, trusted]] of books.entries()) writer.book({ at, bids: [[0.4, 1 + n]], trusted });
  const { inside } = prepareMarket(writer.tape(), { model: false });
  expect(inside).toEqual({ rows: 4, trusted: 2, coveredMs: 8_000 + 500 });
});

test('a gap takes coverage back to its start, also if one that was detected before began later', () => {
  const writer = new TapeWriter();
  for (let at = 0; at < 60_000; at += 1_000) writer.book({ at, bids: [[0.4, 1 + at / 1_000]] });
  writer.gap({ start: 8_000, known: 10_500, end: 12_000 });
  writer.gap({ start: 2_000, known: 20_500, end: 25_000 });
  const coveredOf = (tape: ReturnType<TapeWriter['tape']>) =>
    prepareMarket(tape, { model: false }).inside.coveredMs;
  expect(coveredOf(writer.tape())).toBe(2_000 + (END_MS - START_MS - 25_000));
});

test('the end of a gap is a row of its own before the next gap, even if nothing arrives between them', () => {
  const writer = new TapeWriter();
  for (const at of [0, 20_000, 21_000]) writer.book({ at, bids: [[0.4, 1 + at / 1_000]] });
  writer.gap({ start: 100, known: 1_000, end: 5_000 }).gap({ start: 9_000, known: 10_000, end: 20_500 });
  const { rows } = prepareMarket(writer.tape(), { model: false });
  const seen = Array.from({ length: rows.count }, (_, row) => [
    (rows.timeMs[row] as number) - START_MS,
    rows.trusted[row],
    (rows.gapStartMs[row] as number) - START_MS,
  ]);
  expect(seen).toEqual([
    [0, 1, Number.NaN],
    [1_000, 0, 100],
    [5_000, 0, Number.NaN],
    [10_000, 0, 9_000],
    [20_000, 0, Number.NaN],
    [20_500, 0, Number.NaN],
    [21_000, 1, Number.NaN],
  ]);
});

test.each([
  [-10_000, true],
  [-10_001, false],
])('a row at the open has a model value if the newest price was received at %i ms: %s', (newest, isKnown) => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS });
  for (let second = -60; second < 0; second++) writer.price(newest + second * 1_000, 97_000 + (second % 3));
  writer.price(newest, 97_000).book({ at: 0, bids: [[0.4, 1]] });
  const { rows } = prepareMarket(writer.tape(), { model: true });
  expect([rows.count, rows.timeMs[0], Number.isFinite(rows.yesProb[0])]).toEqual([1, START_MS, isKnown]);
});

const withoutRows = <T extends { readonly seq: Float64Array }>(rows: T): T => ({
  ...rows,
  seq: new Float64Array(0),
});

test('the best prices of NO are those of its own recorded books', () => {
  const tape = new TapeWriter()
    .book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]] })
    .book({ at: 1_000, bids: [[0.4, 2]], asks: [[0.5, 1]] })
    .tape();
  const sideOf = (...levels: number[]) => ({
    offsets: Uint32Array.of(0, 1, levels.length),
    prices: Uint16Array.from(levels),
    sizes: new Float64Array(levels.length).fill(1_000_000),
  });
  const books = tape.books && { ...tape.books, noBids: sideOf(4_900), noAsks: sideOf(6_100, 6_200) };
  const { rows } = prepareMarket({ ...tape, books, quotes: withoutRows(tape.quotes) }, { model: false });
  expect([...rows.noBid.subarray(0, rows.count)]).toEqual([4_900, Number.NaN]);
  expect([...rows.noAsk.subarray(0, rows.count)]).toEqual([6_100, 6_200]);
});

test('a late price of the underlying makes a row, but is not its current price', () => {
  const tape = new TapeWriter({ strikePrice: 100_000, strikeKnownTimeMs: START_MS })
    .price(1_000, 101_000)
    .price(6_001, 102_000)
    .tape();
  const prices = tape.prices && {
    ...tape.prices,
    eventMs: Float64Array.of(START_MS + 1_000, START_MS + 1_000),
  };
  const { rows } = prepareMarket({ ...tape, prices }, { model: true });
  expect([...rows.distance.subarray(0, rows.count)]).toEqual([0.01, 0.01]);
});

test('prices beside quotes are those of the underlying until the first of the deciding feed', () => {
  const tape = new TapeWriter({ strikePrice: 100_000, strikeKnownTimeMs: START_MS })
    .quote({ at: 1_000, bid: 4_000, ask: 5_000, trusted: true })
    .price(2_000, 102_000)
    .quote({ at: 3_000, bid: 4_100, ask: 5_000, trusted: true })
    .tape();
  const quotes = { ...tape.quotes, underlying: Float64Array.of(101_000, 103_000) };
  const { rows } = prepareMarket({ ...tape, quotes }, { model: true });
  expect([...rows.distance.subarray(0, rows.count)]).toEqual([0.01, 0.02, 0.02]);
});

test('a gap between two records comes before the trades that arrived after its detection', () => {
  const writer = new TapeWriter().book({ at: 0, bids: [[0.4, 1]] });
  writer.trade({ at: 500, side: 'BUY_YES', price: 0.5, shares: 2 });
  writer.trade({ at: 700, side: 'BUY_YES', price: 0.5, shares: 2 });
  const tape = writer.tape();
  const [first, second] = [...(tape.trades?.seq ?? [])] as [number, number];
  const gap = { startMs: START_MS + 100, knownMs: START_MS + 600, endMs: null, knownSeq: first + 0.5 };
  const { trades, rows, lastGapRow } = prepareMarket({ ...tape, gaps: [gap] }, { model: false });
  expect([rows.count, lastGapRow, ...(trades?.nextRow ?? [])]).toEqual([2, 1, 1, 2]);
  const late = { ...gap, knownSeq: second + 1 };
  expect(prepareMarket({ ...tape, gaps: [late] }, { model: false }).lastGapRow).toBe(1);
});

test('the last gap row is that of the gap detected last', () => {
  const writer = new TapeWriter();
  for (const at of [0, 20_000]) writer.book({ at, bids: [[0.4, 1 + at / 1_000]] });
  writer.gap({ start: 100, known: 1_000, end: 5_000 }).gap({ start: 9_000, known: 10_000, end: 12_000 });
  const { lastGapRow, rows } = prepareMarket(writer.tape(), { model: false });
  expect((rows.timeMs[lastGapRow] as number) - START_MS).toBe(10_000);
});

test('a gap that a record itself revealed comes after that record', () => {
  const tape = new TapeWriter().book({ at: 0, bids: [[0.4, 1]] }).tape();
  const knownSeq = tape.books?.seq[0] as number;
  const gap = { startMs: START_MS - 500, knownMs: START_MS, endMs: null, knownSeq };
  const onlyBook = { ...tape, quotes: withoutRows(tape.quotes), gaps: [gap] };
  const { lastGapRow, rows } = prepareMarket(onlyBook, { model: false });
  expect([rows.count, lastGapRow]).toEqual([2, 1]);
});

test('inside the deciding average a row has a model value if the mean so far is known', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS });
  const length = (END_MS - START_MS) / 1_000;
  for (let second = 0; second <= length - 20; second++)
    writer.price(second * 1_000, 97_000 + ((second * second) % 7));
  const { rows } = prepareMarket(writer.tape(), { model: true });
  const last = rows.count - 1;
  expect(rows.timeMs[last]).toBe(END_MS - 20_000);
  expect(rows.yesProb[last]).toBeGreaterThan(0.5);
});

test('of one arrival number a price makes its row before a book', () => {
  const tape = new TapeWriter()
    .book({ at: 0, bids: [[0.4, 1]] })
    .price(0, 97_000)
    .tape();
  const { rows } = prepareMarket(ofOneNumber(tape, 1), { model: true });
  expect([...rows.yesBid.subarray(0, rows.count)]).toEqual([Number.NaN, 4_000]);
});
