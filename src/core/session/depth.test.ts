import { expect, test } from 'vitest';
import { type Level, TapeWriter } from '../../../test/support/tapes.ts';
import { tapeAtDepth } from './depth.ts';

const ONE_BID: readonly Level[] = [[0.4, 10]];
const ASKS: readonly Level[] = [
  [0.5, 10],
  [0.51, 10],
];

/** The indices of the books of a tape that stay at a depth of one level. */
function keptAtOne(writer: TapeWriter): number[] {
  const { books } = writer.tape();
  const seqs = [...(books?.seq ?? [])];
  return [...(tapeAtDepth(writer.tape(), 1).books?.seq ?? [])].map((seq) => seqs.indexOf(seq));
}

test('a tape that is nowhere deeper stays itself', () => {
  const tape = new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS }).tape();
  expect(tapeAtDepth(tape, 2)).toBe(tape);
  expect(tapeAtDepth(tape, 1)).not.toBe(tape);
});

test('a book that changes only below the depth is left out', () => {
  const deeper: readonly Level[] = [
    [0.5, 10],
    [0.52, 99],
  ];
  const tape = new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS });
  expect(keptAtOne(tape.book({ at: 1, bids: ONE_BID, asks: deeper }))).toEqual([0]);
});

test('the levels below the depth are left out', () => {
  const cut = tapeAtDepth(new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS }).tape(), 1);
  const written = new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS.slice(0, 1) }).tape();
  expect(cut.books).toEqual(written.books);
});

test.each<[string, Parameters<TapeWriter['book']>[0]]>([
  ['price', { at: 1, bids: ONE_BID, asks: [[0.49, 10]] }],
  ['size', { at: 1, bids: ONE_BID, asks: [[0.5, 11]] }],
  ['number of levels', { at: 1, bids: [], asks: ASKS }],
  ['trust', { at: 1, bids: ONE_BID, asks: ASKS, trusted: false }],
])('a book with another %s stays', (_, book) => {
  expect(keptAtOne(new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS }).book(book))).toEqual([0, 1]);
});

test('a book is compared with the one before it, not with the first', () => {
  const writer = new TapeWriter().book({ at: 0, bids: ONE_BID, asks: ASKS });
  writer.book({ at: 1, bids: ONE_BID, asks: [[0.49, 10]] }).book({ at: 2, bids: ONE_BID, asks: ASKS });
  expect(keptAtOne(writer)).toEqual([0, 1, 2]);
});

test('the recorded books of NO are cut and compared as well', () => {
  const writer = new TapeWriter();
  for (let at = 0; at < 3; at++) writer.book({ at, bids: ONE_BID, asks: ASKS });
  const { books, ...tape } = writer.tape();
  /** Two levels in every book; the second book has another best size, the third another size below it. */
  const side = (price: number) => ({
    offsets: Uint32Array.of(0, 2, 4, 6),
    prices: Uint16Array.of(price, price + 1, price, price + 1, price, price + 1),
    sizes: Float64Array.of(1, 2, 3, 2, 3, 4),
  });
  const noBooks = books && { ...books, noBids: side(5_000), noAsks: side(6_000) };
  const cut = tapeAtDepth({ ...tape, books: noBooks }, 1).books;
  const [one, two] = [Uint32Array.of(0, 1, 2), Float64Array.of(1, 3)];
  expect(cut?.noBids).toEqual({ offsets: one, prices: Uint16Array.of(5_000, 5_000), sizes: two });
  expect(cut?.noAsks).toEqual({ offsets: one, prices: Uint16Array.of(6_000, 6_000), sizes: two });
  expect(cut?.yesAsks.offsets).toEqual(one);
});
