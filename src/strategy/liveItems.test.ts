import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RUN_TERMS, strategyOf } from '../../test/support/runs.ts';
import { END_MS, randomTape, START_MS, TAPE_MARKET, TapeWriter } from '../../test/support/tapes.ts';
import { itemsOf } from '../core/run/itemsOf.ts';
import type { RunItem } from '../core/run/runner.ts';
import { startRun } from '../core/run/startRun.ts';
import type { MarketTape, TapeGap, TapeSide } from '../core/session/tape.ts';
import { LiveItems } from './liveItems.ts';

/** The rows of a tape with arrival numbers of a range, as a store reads them. */
function stretchOf(tape: MarketTape, afterSeq: number, toSeq: number): MarketTape {
  const rows = <T extends { readonly seq: Float64Array }>(columns: T): T => {
    const kept = [...columns.seq.keys()].filter((at) => {
      const seq = columns.seq[at] as number;
      return seq > afterSeq && seq <= toSeq;
    });
    const [from, to] = [kept[0] ?? 0, (kept.at(-1) ?? -1) + 1];
    const cut = Object.entries(columns).map(([name, column]) => [name, cutColumn(column, from, to)]);
    return Object.fromEntries(cut);
  };
  const { books, prices } = tape;
  return {
    ...tape,
    quotes: rows(tape.quotes),
    books: books === null ? null : rows(books),
    prices: prices === null ? null : rows(prices),
    gaps: tape.gaps.filter(({ knownSeq = 0 }) => knownSeq <= toSeq),
  };
}

function cutColumn(column: unknown, from: number, to: number): unknown {
  if (column === null) return null;
  if (ArrayBuffer.isView(column)) return (column as Float64Array).slice(from, to);
  const { offsets, prices, sizes } = column as TapeSide;
  const first = offsets[from] ?? 0;
  const last = offsets[Math.max(from, to)] ?? first;
  return {
    offsets: offsets.slice(from, Math.max(from, to) + 1).map((offset) => offset - first),
    prices: prices.slice(first, last),
    sizes: sizes.slice(first, last),
  };
}

/** Items with their books written out, because the ladders of stretches are other objects. */
function written(item: RunItem): unknown {
  if (item.kind !== 'book') return item;
  const { ladders, ...rest } = item;
  const sides = (['bids', 'asks'] as const).map((side) => {
    const { count, prices, sizes } = ladders.side(item.book, 'yes', side);
    return [[...prices.subarray(0, count)], [...sizes.subarray(0, count)]];
  });
  return { ...rest, sides };
}

function itemsOver(tape: MarketTape, ends: readonly number[]): unknown[] {
  const items = new LiveItems();
  const found: unknown[] = [];
  const resolution = { payoutYes: 1, resolvedTimeMs: tape.market.endTimeMs + 30_000 };
  let afterSeq = 0;
  for (const toSeq of [...ends, Number.MAX_SAFE_INTEGER]) {
    items.addMarket({ tape: stretchOf(tape, afterSeq, toSeq), resolution });
    const next = [tape.quotes, tape.books, tape.prices]
      .flatMap((rows) =>
        rows === null ? [] : [...rows.seq.keys()].map((at) => [rows.seq[at], rows.receivedMs[at]]),
      )
      .filter(([seq]) => (seq as number) > toSeq)
      .map(([, timeMs]) => timeMs as number);
    for (const item of items.before(Math.min(Number.MAX_SAFE_INTEGER, ...next))) found.push(written(item));
    afterSeq = toSeq;
  }
  return found;
}

test('the items of a market do not depend on where its stretches end', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 6 }), (seed, ends) => {
      const tape = randomTape(`stretches ${seed}`, { books: 120, levels: 3, gaps: false });
      const stretches = [...new Set(ends)].sort((a, b) => a - b);
      expect(itemsOver(tape, stretches)).toEqual(itemsOver(tape, []));
    }),
    { numRuns: 60 },
  );
});

/** One book a second; the arrival numbers of its rows are the milliseconds since the window's start, and 1 or 2. */
function secondsTape({ from, to }: { from: number; to: number }, gaps: readonly TapeGap[]): MarketTape {
  const writer = new TapeWriter();
  for (let second = from; second <= to; second++)
    writer.book({ at: second * 1_000, bids: [[0.38, 100 + second]], asks: [[0.4, 200 + second]] });
  const { books, quotes, ...tape } = writer.tape();
  const seqs = (receivedMs: Float64Array, add: number) => receivedMs.map((ms) => ms - START_MS + add);
  return {
    ...tape,
    ...{ prices: null, gaps },
    books: books && { ...books, seq: seqs(books.receivedMs, 1) },
    quotes: { ...quotes, seq: seqs(quotes.receivedMs, 2) },
  };
}

/** Whether the market is trusted after these items. */
function isTrustedAfter(items: Iterable<RunItem>): boolean | null {
  let isTrusted: boolean | null = null;
  const definition = strategyOf((_, context) => {
    isTrusted = context.market(TAPE_MARKET.marketId).trusted;
  });
  const runner = startRun({ definition, params: {}, terms: RUN_TERMS });
  for (const item of items) runner.push(item);
  return isTrusted;
}

function* liveItemsOf(stretches: readonly { tape: MarketTape; toMs: number }[]): Generator<RunItem> {
  const items = new LiveItems();
  for (const { tape, toMs } of stretches) {
    items.addMarket({ tape, resolution: null });
    yield* items.before(toMs);
  }
}

const gapOf = (startMs: number, knownMs: number, end?: { ms: number; seq: number }): TapeGap => ({
  ...{ startMs: START_MS + startMs, knownMs: START_MS + knownMs, knownSeq: knownMs },
  ...(end === undefined ? { endMs: null } : { endMs: START_MS + end.ms, endSeq: end.seq }),
});

test('two gaps that end with the same row both end in a live run', () => {
  const gaps = [
    gapOf(2_000, 4_000, { ms: 6_000, seq: 6_005 }),
    gapOf(3_000, 5_000, { ms: 6_000, seq: 6_006 }),
  ];
  const tape = secondsTape({ from: 0, to: 12 }, gaps);
  expect(isTrustedAfter(itemsOf([{ tape, resolution: null }]))).toBe(true);
  expect(isTrustedAfter(liveItemsOf([{ tape, toMs: END_MS }]))).toBe(true);
});

test('a gap whose start moved between two stretches of a live run is given once, and ends', () => {
  // A restarted recorder may find an earlier last proven row; the detection is the same.
  const [open, ended] = [gapOf(3_000, 4_000), gapOf(2_000, 4_000, { ms: 8_000, seq: 8_005 })];
  const stretches = [
    { tape: secondsTape({ from: 0, to: 6 }, [open]), toMs: START_MS + 6_500 },
    { tape: secondsTape({ from: 7, to: 12 }, [ended]), toMs: END_MS },
  ];
  const items = [...liveItemsOf(stretches)];
  expect(items.filter(({ kind }) => kind === 'gap')).toHaveLength(1);
  expect(isTrustedAfter(items)).toBe(true);
});

test('a market that was paid out keeps no books', () => {
  const tape = secondsTape({ from: 0, to: 12 }, []);
  const items = new LiveItems();
  items.addMarket({ tape, resolution: { payoutYes: 1, resolvedTimeMs: START_MS + 7_000 } });
  const kinds = [...items.before(END_MS)].map(({ kind }) => kind);
  const paidAt = kinds.indexOf('resolved');
  const books = (given: readonly string[]) => given.filter((kind) => kind === 'book').length;
  expect([books(kinds.slice(0, paidAt)), books(kinds.slice(paidAt))]).toEqual([8, 0]);
});

/** The kinds of the items that several parts of a market give, its strikes with their prices. */
function kindsOver(parts: readonly { readonly tape: MarketTape; readonly toMs: number }[]): unknown[] {
  const items = new LiveItems();
  return parts.flatMap(({ tape, toMs }) => {
    items.addMarket({ tape, resolution: null });
    return [...items.before(START_MS + toMs)].map((item) =>
      item.kind === 'market' ? [item.kind, item.seq, item.market.strikePrice] : item.kind,
    );
  });
}

const withStrike = (tape: MarketTape, strikePrice: number, knownAt: number): MarketTape => ({
  ...tape,
  market: { ...tape.market, strikePrice, strikeKnownTimeMs: START_MS + knownAt },
});
const NO_SECONDS = { from: 1, to: 0 };

test('a strike that was known before the first record of a market follows its listing', () => {
  const tape = withStrike(secondsTape({ from: 10, to: 10 }, []), 100, 2_000);
  const kinds = kindsOver([{ tape, toMs: 20_000 }]);
  expect(kinds.slice(0, 2)).toEqual([
    ['market', expect.anything(), null],
    ['market', expect.anything(), 100],
  ]);
});

test('a market is listed with its first record, with its newest strike', () => {
  const whole = { tape: withStrike(secondsTape({ from: 10, to: 11 }, []), 101, 4_000), toMs: 20_000 };
  const empty = { tape: withStrike(secondsTape(NO_SECONDS, []), 100, 2_000), toMs: 5_000 };
  expect(kindsOver([empty])).toEqual([]);
  expect(kindsOver([empty, whole])).toEqual(kindsOver([whole]));
});

test('a market without a record is listed at its end', () => {
  const tape = withStrike(secondsTape(NO_SECONDS, []), 100, 2_000);
  const endMs = END_MS - START_MS;
  expect(kindsOver([{ tape, toMs: endMs - 1 }])).toEqual([]);
  const listed = [
    ['market', 0, null],
    ['market', 0, 100],
  ];
  expect(kindsOver([{ tape, toMs: endMs }])).toEqual(listed);
  expect(kindsOver([2_000, endMs, endMs + 9_000].map((toMs) => ({ tape, toMs })))).toEqual(listed);
});
