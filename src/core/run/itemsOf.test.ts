import { expect, test } from 'vitest';
import {
  END_MS,
  laterTape,
  ofOneNumber,
  randomTape,
  START_MS,
  TapeWriter,
} from '../../../test/support/tapes.ts';
import type { TapeGap } from '../session/tape.ts';
import { ItemMerge } from './itemMerge.ts';
import { itemsOf, stretchesOf } from './itemsOf.ts';
import type { RunItem } from './runner.ts';
import { payoutTimeMs, type RunTape } from './runTape.ts';

const WINDOW_MS = 300_000;
const SEQS_A_WINDOW = 10_000;

/** Windows one after another; each tape repeats the prices of the window before, as a loader reads them. */
function* windows(count: number, onPull: (window: number) => void = () => {}): Generator<RunTape> {
  const first = randomTape('items', { books: 30, levels: 2 });
  for (let n = 0; n < count; n++) {
    onPull(n);
    const place = { marketId: `0x${n}`, laterMs: n * WINDOW_MS, afterSeq: n * SEQS_A_WINDOW };
    const resolvedTimeMs = END_MS + n * WINDOW_MS + 20_000;
    yield { tape: laterTape(first, place), resolution: { payoutYes: 1, resolvedTimeMs } };
  }
}

const summaryOf = (item: RunItem) =>
  `${item.kind} ${item.seq} ${item.timeMs} ${'marketId' in item ? item.marketId : ''}`;

test('a run over many windows requests a tape when it is an hour away, and no earlier', () => {
  let pulled = 0;
  let furthest = 0;
  for (const item of itemsOf(windows(100, (n) => (pulled = n)))) {
    const nowWindow = Math.floor((item.timeMs - START_MS) / WINDOW_MS);
    furthest = Math.max(furthest, pulled - nowWindow);
  }
  expect(pulled).toBe(99);
  // The hour before a window has twelve others; one tape more is known, and its own records begin before its window.
  expect(furthest).toBeLessThanOrEqual(14);
});

test('each market is listed before its records, then its strike and its outcome come, once each', () => {
  const items = [...itemsOf(windows(3))];
  for (const id of ['0x0', '0x1', '0x2']) {
    const own = items.filter(
      (item) => (item.kind === 'market' ? item.market.marketId : 'marketId' in item && item.marketId) === id,
    );
    expect(own[0]).toMatchObject({ kind: 'market', market: { strikePrice: null, strikeKnownTimeMs: null } });
    const listed = own.filter((item) => item.kind === 'market');
    expect(listed.map(({ market }) => market.strikePrice)).toEqual([null, 97_000]);
    expect(own.at(-1)?.kind).toBe('resolved');
    expect(own.filter(({ kind }) => kind === 'resolved')).toHaveLength(1);
  }
});

test('strikes and outcomes of several markets come in the order in which they became known', () => {
  const news = [...itemsOf(windows(3))].flatMap((item) => {
    if (item.kind === 'resolved') return [`outcome of ${item.marketId}`];
    const isStrike = item.kind === 'market' && item.market.strikePrice !== null;
    return isStrike ? [`strike of ${item.market.marketId}`] : [];
  });
  expect(news).toEqual([
    ...['strike of 0x0', 'strike of 0x1', 'outcome of 0x0'],
    ...['strike of 0x2', 'outcome of 0x1', 'outcome of 0x2'],
  ]);
});

test('arrival numbers are whole, also beside a gap without one', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS + 2_000 });
  for (const at of [0, 3_000]) writer.book({ at, bids: [[0.4, 1 + at]], asks: [[0.5, 1]] });
  writer.gap({ start: -100, known: -50, end: null }).gap({ start: 2_400, known: 2_500, end: null });
  const items = [...itemsOf([{ tape: writer.tape(), resolution: null }])];
  expect(items.filter(({ kind }) => kind === 'market' || kind === 'gap')).toHaveLength(4);
  expect(items.filter(({ seq }) => !Number.isInteger(seq))).toEqual([]);
});

test('items come in order of arrival, and a price that several tapes have comes once', () => {
  const [one] = windows(1);
  const twin = { ...one!, tape: { ...one!.tape, market: { ...one!.tape.market, marketId: '0xtwin' } } };
  const items = [...itemsOf([one!, twin])];
  const prices = items.filter(({ kind }) => kind === 'price');
  expect(prices).toHaveLength(one!.tape.prices!.seq.length);
  const seqs = items.filter(({ kind }) => kind !== 'market' && kind !== 'resolved').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
});

/** The arrival numbers of four books, one a second, with the reports of a gap among them; its times from the start. */
function withGap(gap: Partial<TapeGap> & { readonly knownMs: number }): (number | string)[] {
  const writer = new TapeWriter();
  for (const second of [0, 1, 2, 3])
    writer.book({ at: second * 1_000, bids: [[0.4, 1 + second]], asks: [[0.5, 1]] });
  const { knownMs, endMs = null } = gap;
  const times = {
    startMs: START_MS,
    knownMs: START_MS + knownMs,
    endMs: endMs === null ? null : START_MS + endMs,
  };
  const placed: TapeGap = { ...gap, ...times };
  const items = [...itemsOf([{ tape: { ...writer.tape(), gaps: [placed] }, resolution: null }])];
  return items.flatMap((item): (number | string)[] => {
    if (item.kind === 'book') return [item.seq];
    if (item.kind === 'gap') return [`gap ${item.seq} at ${item.timeMs - START_MS}`];
    return item.kind === 'gap_end' ? [`end ${item.seq} of ${item.endMs - START_MS}`] : [];
  });
}

test.each([
  [
    'by their arrival numbers, before a book of the same number',
    { knownMs: 1_000, endMs: 1_900, knownSeq: 3, endSeq: 5 },
    [1, 'gap 3 at 1000', 3, 4, 'end 5 of 1900', 5],
  ],
  [
    'together, if only the detection has a number',
    { knownMs: 1_000, endMs: 1_900, knownSeq: 4 },
    [1, 3, 'gap 4 at 1000', 'end 4 of 1900', 4, 5],
  ],
  [
    'without numbers before the first record received at the detection or later',
    { knownMs: 2_000, endMs: 2_500 },
    [1, 3, 'gap 4 at 2000', 'end 4 of 2500', 4, 5],
  ],
  [
    'and with an end before the detection as over at the detection',
    { knownMs: 2_001, endMs: 1_500 },
    [1, 3, 4, 'gap 5 at 2001', 'end 5 of 2001', 5],
  ],
  ['after all records, and without an end', { knownMs: 3_001 }, [1, 3, 4, 5, 'gap 6 at 3001']],
])('reports of a gap come %s', (_, gap, expected) => {
  expect(withGap(gap)).toEqual(expected);
});

test('reports of gaps come in the order of arrival, however the gaps are listed', () => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000, 2_000]) writer.book({ at, bids: [[0.4, 1 + at]], asks: [[0.5, 1]] });
  const gap = (knownMs: number): TapeGap => ({ startMs: knownMs - 100, knownMs, endMs: null });
  const gaps = [gap(START_MS + 1_500), gap(START_MS + 500)];
  const items = [...itemsOf([{ tape: { ...writer.tape(), gaps }, resolution: null }])];
  const order = items.flatMap(({ kind, timeMs }) =>
    kind === 'book' || kind === 'gap' ? [[kind, timeMs - START_MS]] : [],
  );
  expect(order).toEqual([
    ['book', 0],
    ['gap', 500],
    ['book', 1_000],
    ['gap', 1_500],
    ['book', 2_000],
  ]);
});

test('items of the same arrival number are a price, a gap, a book, a quote and a trade, in this order', () => {
  const writer = new TapeWriter().book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]] }).price(0, 97_000);
  const tape = {
    ...ofOneNumber(writer.trade({ at: 0, side: 'BUY_YES', price: 0.5, shares: 2 }).tape(), 1),
    gaps: [{ startMs: START_MS - 50, knownMs: START_MS, endMs: null, knownSeq: 1 }],
  };
  const at = { seq: 1, timeMs: START_MS };
  expect([...itemsOf([{ tape, resolution: null }])]).toMatchObject([
    { kind: 'price', ...at, price: { price: 97_000, eventTimeMs: START_MS - 30, receivedTimeMs: START_MS } },
    { kind: 'market', ...at },
    { kind: 'gap', ...at, startMs: START_MS - 50 },
    { kind: 'book', ...at, book: 0 },
    { kind: 'quote', ...at, yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk: 6_000 },
    { kind: 'trade', ...at, side: 'BUY_YES', price: 5_000, size: 2_000_000, eventTimeMs: START_MS - 40 },
    { kind: 'market', market: { strikePrice: 97_000 } },
  ]);
});

test('a strike known by the first record is in the listing', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS }).book({ at: 0, bids: [[0.4, 1]] });
  const listed = [...itemsOf([{ tape: writer.tape(), resolution: null }])].filter(
    ({ kind }) => kind === 'market',
  );
  expect(listed).toMatchObject([{ market: { strikePrice: 97_000, strikeKnownTimeMs: START_MS } }]);
});

test('outcomes known at the same time come in the order of the listings', () => {
  const [one] = windows(1);
  const twins = ['0xb', '0xa', '0xc'].map((marketId) => {
    return { ...one!, tape: { ...one!.tape, market: { ...one!.tape.market, marketId } } };
  });
  const outcomes = [...itemsOf(twins)].flatMap((item) => (item.kind === 'resolved' ? [item.marketId] : []));
  const listed = [...itemsOf(twins)].flatMap((item) =>
    item.kind === 'market' ? [item.market.marketId] : [],
  );
  expect(outcomes).toEqual([...new Set(listed)]);
});

test('an outcome comes after the records received in its millisecond, and before the next one', () => {
  const writer = new TapeWriter({ strikePrice: null });
  for (const at of [0, 300_999, 301_000, 301_000, 301_001]) writer.book({ at, asks: [[0.5, 1 + (at % 7)]] });
  const resolution = { payoutYes: 1, resolvedTimeMs: START_MS + 301_000 };
  const items = [...itemsOf([{ tape: writer.tape(), resolution }])];
  const order = items.filter(({ kind }) => kind === 'book' || kind === 'resolved');
  expect(order.map(({ kind, timeMs }) => `${kind} ${timeMs - START_MS}`)).toEqual([
    ...['book 0', 'book 300999', 'book 301000', 'book 301000', 'resolved 301000', 'book 301001'],
  ]);
});

test('an outcome after the last record has the arrival number of that record', () => {
  const writer = new TapeWriter({ strikePrice: null });
  for (const at of [0, 1_000]) writer.book({ at, asks: [[0.5, 1 + at]] });
  const resolution = { payoutYes: 1, resolvedTimeMs: END_MS };
  const items = [...itemsOf([{ tape: writer.tape(), resolution }])];
  expect(items.at(-1)).toMatchObject({ kind: 'resolved', seq: items.at(-2)?.seq, timeMs: END_MS });
  expect(items.at(-2)).toMatchObject({ kind: 'book', timeMs: START_MS + 1_000 });
});

test('a gap without an arrival number comes before the first record or price of the window from its detection on', () => {
  const order = (known: number) => {
    const writer = new TapeWriter({ strikePrice: null })
      .price(-5_000, 97_000)
      .book({ at: -4_000, asks: [[0.5, 1]] });
    writer
      .price(-3_000, 97_001)
      .price(2_000, 97_002)
      .book({ at: 3_000, asks: [[0.5, 2]] });
    const tape = writer.gap({ start: known - 100, known, end: null }).tape();
    return [...itemsOf([{ tape, resolution: null }])]
      .filter(({ kind }) => kind === 'price' || kind === 'book' || kind === 'gap')
      .map(({ kind, timeMs }) => (kind === 'gap' ? 'gap' : timeMs - START_MS));
  };
  expect(order(2_000)).toEqual([-5_000, -4_000, -3_000, 'gap', 2_000, 3_000]);
  expect(order(2_001)).toEqual([-5_000, -4_000, -3_000, 2_000, 'gap', 3_000]);
  // A price of before the window makes no row of a market.
  expect(order(-3_500)).toEqual([-5_000, -4_000, -3_000, 'gap', 2_000, 3_000]);
  expect(order(-6_000)).toEqual([-5_000, 'gap', -4_000, -3_000, 2_000, 3_000]);
});

test('only a gap that began before the resolution delays the payout', () => {
  const { tape } = [...windows(1)][0]!;
  const resolution = { payoutYes: 1, resolvedTimeMs: END_MS };
  const payoutAt = (startMs: number) =>
    payoutTimeMs({ ...tape, gaps: [{ startMs, knownMs: END_MS + 500, endMs: null }] }, resolution);
  expect([END_MS - 1, END_MS].map(payoutAt)).toEqual([END_MS + 500, END_MS]);
});

test('a stretch ends before an item of its end: a tape that begins then may have an earlier one', () => {
  const [one] = windows(1);
  const merge = new ItemMerge();
  merge.addMarket(one!);
  const endMs = [...itemsOf(windows(1))].find(({ kind }) => kind === 'book')!.timeMs;
  const before = [...merge.before(endMs)];
  expect(before.filter(({ kind }) => kind !== 'market').every(({ timeMs }) => timeMs < endMs)).toBe(true);
  expect([...before, ...merge.before(Number.POSITIVE_INFINITY)].map(summaryOf)).toEqual(
    [...itemsOf(windows(1))].map(summaryOf),
  );
});

test('feeds of a ticker are merged with the markets', () => {
  const [one] = windows(1);
  const depth = (seq: number) =>
    ({
      seq,
      kind: 'perp_depth',
      venue: 'bybit',
      ticker: 'BTC',
      updateId: seq,
      eventTimeMs: START_MS,
      engineTimeMs: null,
      receivedTimeMs: START_MS + seq,
      roundTripMs: null,
      bids: [],
      asks: [],
    }) as const;
  const rows = { ...one!.tape.prices!, seq: one!.tape.prices!.seq.map((seq) => seq + 0.5) };
  const feed = {
    ticker: 'BTC',
    fromMs: START_MS - 200_000,
    prices: [{ source: 'coinbase_spot', rows }],
    perpDepth: [depth(20), depth(40)],
  } as const;
  const items = [...itemsOf([one!], [feed])];
  expect(items.filter(({ kind }) => kind === 'price')).toHaveLength(2 * rows.seq.length);
  expect(items.filter(({ kind }) => kind === 'perp_depth')).toEqual(
    [20, 40].map((seq) => ({ kind: 'perp_depth', seq, timeMs: START_MS + seq, depth: depth(seq) })),
  );
});

test('prices of two feeds of a ticker that arrived with the same number both come', () => {
  const rows = new TapeWriter().price(0, 97_000).price(1_000, 97_001).tape().prices!;
  const prices = (['coinbase_spot', 'binance_spot'] as const).map((source) => ({ source, rows }));
  const items = [...itemsOf([], [{ ticker: 'BTC', fromMs: START_MS, prices, perpDepth: [] }])];
  const seen = items.map((item) => (item.kind === 'price' ? [item.seq, item.price.source] : []));
  expect(seen.toSorted()).toEqual([
    [1, 'binance_spot'],
    [1, 'coinbase_spot'],
    [2, 'binance_spot'],
    [2, 'coinbase_spot'],
  ]);
});

test('a market without a record is listed at its start, unless the caller lists it itself', () => {
  const listed = (isListedEmpty?: boolean) => {
    const merge = new ItemMerge();
    const tape = new TapeWriter({ strikePrice: null }).tape();
    expect(merge.addMarket({ tape, resolution: null }, isListedEmpty)).toBe(Number.POSITIVE_INFINITY);
    return [...merge.before(Number.POSITIVE_INFINITY)].map(({ kind, timeMs }) => [kind, timeMs]);
  };
  expect(listed()).toEqual([['market', START_MS]]);
  expect(listed(false)).toEqual([]);
});

test('awaited recordings give the same items', async () => {
  async function* awaited<T>(all: Iterable<T>): AsyncGenerator<T> {
    yield* all;
  }
  const items: RunItem[] = [];
  for await (const stretch of stretchesOf(awaited(windows(5)), awaited([]))) items.push(...stretch);
  expect(items.map(summaryOf)).toEqual([...itemsOf(windows(5))].map(summaryOf));
});
