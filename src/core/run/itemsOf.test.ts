import { expect, test } from 'vitest';
import { END_MS, laterTape, randomTape, START_MS } from '../../../test/support/tapes.ts';
import { ItemMerge } from './itemMerge.ts';
import { itemsOf, stretchesOf } from './itemsOf.ts';
import type { RunItem } from './runner.ts';
import type { RunTape } from './runTape.ts';

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

test('items come in order of arrival, and a price that several tapes have comes once', () => {
  const [one] = windows(1);
  const twin = { ...one!, tape: { ...one!.tape, market: { ...one!.tape.market, marketId: '0xtwin' } } };
  const items = [...itemsOf([one!, twin])];
  const prices = items.filter(({ kind }) => kind === 'price');
  expect(prices).toHaveLength(one!.tape.prices!.seq.length);
  const seqs = items.filter(({ kind }) => kind !== 'market' && kind !== 'resolved').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
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
  expect(items.filter(({ kind }) => kind === 'perp_depth').map(({ seq }) => seq)).toEqual([20, 40]);
});

test('awaited recordings give the same items', async () => {
  async function* awaited<T>(all: Iterable<T>): AsyncGenerator<T> {
    yield* all;
  }
  const items: RunItem[] = [];
  for await (const stretch of stretchesOf(awaited(windows(5)), awaited([]))) items.push(...stretch);
  expect(items.map(summaryOf)).toEqual([...itemsOf(windows(5))].map(summaryOf));
});
