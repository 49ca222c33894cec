import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type NativeBook, nativeBooks } from '../../test/support/nativeBooks.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { PageRequest } from '../store/queries/keyset.ts';
import { SnapshotBody } from './snapshotBody.ts';

const SEED = 20_261_121;

function printed(row: NativeBook, ticker: string): unknown {
  const [yesBids = [], yesAsks = [], noBids = [], noAsks = []] = row.sides;
  const levels = (side: [number, number][]) => side.map(([price, size]) => ({ price: price / 10_000, size }));
  const mirror = (side: [number, number][]) =>
    side.map(([price, size]) => ({ price: (10_000 - price) / 10_000, size }));
  return {
    ts: new Date(row.timeMs).toISOString().replace('Z', '+00:00'),
    yes_bids: levels(yesBids),
    yes_asks: levels(yesAsks),
    no_bids: row.mirrored ? mirror(yesAsks) : levels(noBids),
    no_asks: row.mirrored ? mirror(yesBids) : levels(noAsks),
    underlying_price: row.underlying,
    underlying_ticker: ticker,
    trusted: row.trusted,
  };
}

const hundredths = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.constantFrom(999_999, 1_000_000, 1_999_999_999, 2_000_000_000, 2_147_483_647, 2_147_483_648),
);
const shares = fc.oneof(
  fc.double({ min: 1e-9, max: 1e15, noNaN: true }),
  hundredths.map((value) => value / 100),
);
const randomRow: fc.Arbitrary<NativeBook> = fc.boolean().chain((wide) => {
  const level = fc.tuple(
    fc.integer({ min: 0, max: 10_000 }),
    wide ? shares : hundredths.map((value) => value / 100),
  );
  return fc.record({
    timeMs: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_005_000 }),
    trusted: fc.boolean(),
    mirrored: fc.boolean(),
    underlying: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true })),
    wide: fc.constant(wide),
    sides: fc.array(fc.oneof(fc.array(level, { maxLength: 5 }), fc.array(level, { maxLength: 200 })), {
      minLength: 4,
      maxLength: 4,
    }),
  });
});

const AROUND = { prefix: '{"snapshots":', suffix: ',"next_cursor":null}' };
const bodyOf = (rows: readonly NativeBook[]) =>
  JSON.stringify({ snapshots: rows.map((row) => printed(row, 'BTC')), next_cursor: null });
const printOf = (pieces: readonly Buffer[], count: number) => {
  const body = new SnapshotBody('BTC');
  body.begin({ count }, AROUND);
  return text(pipeline(Readable.from(pieces), body, () => {}));
};

test(`any rows, in chunks of any size, print as JSON.stringify prints them (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      // Blocks of rows; the engine may send an empty one.
      fc.array(fc.array(randomRow, { maxLength: 8 }), { maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (blocks, cuts) => {
        const rows = blocks.flat();
        const bytes = Buffer.concat(blocks.map((block) => nativeBooks(block)));
        const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const pieces = ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
        const printedText = await printOf(
          pieces.filter((piece) => piece.length > 0),
          rows.length,
        );
        // Compared as text, not as values: sizes must look as JSON prints them, without spaces or trailing zeros.
        expect(printedText).toBe(bodyOf(rows));
      },
    ),
    { seed: SEED, numRuns: 150 },
  );
});

const REQUEST: PageRequest = {
  ...{ startMs: null, endMs: null, offset: 0, after: null, intervalMs: null },
  ...{ limit: 2, descending: false },
};
const BOOK: NativeBook = {
  ...{ timeMs: 1_700_000_000_000, trusted: true, mirrored: true, underlying: null, wide: false },
  sides: [[[5000, 1]], [[5100, 2.5]], [], []],
};

describe('the page', () => {
  const [first, last] = [
    { timeMs: -5, seq: '18446744073709551615' },
    { timeMs: 1_700_000_000_000, seq: '7' },
  ];
  /** Sent by the engine with the first row: number of keys found, first and last key of the page, and the revision. */
  const sent = (count: number) => [count, first.timeMs, -1, last.timeMs, 7, 12];

  it.each([
    ['the last one', 2, { descending: false }, { low: first, high: last, next: null }],
    ['with a next one', 3, { descending: false }, { low: first, high: last, next: last }],
    ['newest first', 3, { descending: true }, { low: last, high: first, next: last }],
  ])('is known with the first row, before anything is printed: %s', async (_, count, order, page) => {
    const body = new SnapshotBody('BTC');
    const block = nativeBooks([BOOK, BOOK], sent(count));
    body.write(nativeBooks([]));
    body.write(block.subarray(0, 50));
    body.end(block.subarray(50));
    const found = await body.page({ ...REQUEST, ...order });
    expect(found).toEqual({ count: 2, ...page, revision: '12' });
    expect(body.readableLength).toBe(0);
    body.begin({ count: 2 }, AROUND);
    expect(await text(body)).toBe(bodyOf([BOOK, BOOK]));
  });

  it('is printed without the rows behind it', async () => {
    const body = new SnapshotBody('BTC');
    body.begin({ count: 1 }, AROUND, 2);
    body.end(nativeBooks([BOOK, { ...BOOK, timeMs: BOOK.timeMs + 1 }, { ...BOOK, timeMs: BOOK.timeMs + 2 }]));
    expect(await text(body)).toBe(bodyOf([BOOK]));
  });

  it('is null if there are no rows', async () => {
    const body = new SnapshotBody('BTC');
    body.end();
    expect(await body.page(REQUEST)).toBeNull();
    // Nobody reads it: the response of the engine is given up.
    expect(body.destroyed).toBe(true);
  });

  it.each([
    [
      'is truncated before the first row',
      nativeBooks([BOOK]).subarray(0, 50),
      new StoreUnavailableError('the engine ended its answer early'),
    ],
    [
      'has an unexpected format',
      Buffer.from('\u0001\u0001\u0001a\u0006String'),
      new TypeError('a column of type String is not read here'),
    ],
  ])('is not found in a response that %s', async (_, bytes, error) => {
    const body = new SnapshotBody('BTC');
    body.end(bytes);
    await expect(body.page(REQUEST)).rejects.toThrow(error);
  });

  it('rejects with the error of a failing response', async () => {
    const body = new SnapshotBody('BTC');
    body.destroy(new StoreUnavailableError('gone'));
    await expect(body.page(REQUEST)).rejects.toThrow(new StoreUnavailableError('gone'));
  });
});

describe('a truncated response', () => {
  const [one, two] = [nativeBooks([BOOK]), nativeBooks([BOOK, BOOK])];

  it.each([
    ['between two blocks', [one, two], 4],
    ['inside a block', [one, two.subarray(0, -1)], 3],
    ['inside a block, after all expected books', [one, two.subarray(0, -1)], 1],
    ['before the first block', [], 1],
  ])('fails %s', async (_, pieces, count) => {
    await expect(printOf(pieces, count)).rejects.toThrow(
      new StoreUnavailableError('the engine ended its answer early'),
    );
  });
});

const side = (price: (level: number) => number) =>
  Array.from({ length: 40 }, (_, level): [number, number] => [price(level), level + 0.25]);

test('prints no faster than it is read, and lets others have their turn in between', async () => {
  const book: NativeBook = {
    ...{ timeMs: 1_700_000_000_000, trusted: true, mirrored: true, underlying: 91_234.5, wide: false },
    sides: [side((level) => 4_000 - level), side((level) => 4_100 + level), [], []],
  };
  const books = Array<NativeBook>(2_000).fill(book);
  const expected = bodyOf(books);
  const array = new SnapshotBody('BTC');
  array.begin({ count: books.length }, AROUND);
  array.end(nativeBooks(books));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(array.readableLength).toBe(0);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  array.read(0);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(array.readableLength).toBeGreaterThan(0);
  expect(array.readableLength).toBeLessThan(expected.length / 4);
  count();
  expect(await text(array)).toBe(expected);
  isOver = true;
  expect(turns).toBeGreaterThan(4);
});
