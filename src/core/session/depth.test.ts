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
