import { expect, test } from 'vitest';
import type { BookSide } from '../../schema/records.ts';
import type { Token } from '../signals/signal.ts';
import { TAPE_TRADE_SIDES, type TapeBooks, TapeLadders, type TapeSide } from './tape.ts';

/** A level a book, at a price that names the side and the book. */
function sideOf(books: number, priceOf: (book: number) => number): TapeSide {
  const each = Array.from({ length: books }, (_, book) => book);
  return {
    offsets: Uint32Array.from([...each, books]),
    prices: Uint16Array.from(each, priceOf),
    sizes: Float64Array.from(each, (book) => 1 + book),
  };
}

function booksOf(count: number, no: 'mirrored' | 'apart'): TapeBooks {
  const each = Float64Array.from({ length: count }, (_, book) => book);
  const isApart = no === 'apart';
  return {
    ...{ seq: each, receivedMs: each, trusted: new Uint8Array(count).fill(1) },
    yesBids: sideOf(count, (book) => 1_000 + (book % 500)),
    yesAsks: sideOf(count, (book) => 2_000 + (book % 500)),
    noBids: isApart ? sideOf(count, (book) => 3_000 + (book % 500)) : null,
    noAsks: isApart ? sideOf(count, (book) => 4_000 + (book % 500)) : null,
  };
}

const SIDES: readonly (readonly [Token, BookSide])[] = [
  ['yes', 'bids'],
  ['yes', 'asks'],
  ['no', 'bids'],
  ['no', 'asks'],
];

test.each([
  ['mirrored', [1_000, 2_000, 8_000, 9_000], [1, 1, -1, -1]],
  ['apart', [1_000, 2_000, 3_000, 4_000], [1, 1, 1, 1]],
] as const)(
  'every side of every book is its own, in whatever order they are read: NO %s',
  (no, first, steps) => {
    // More than are kept.
    const count = 2_500;
    const ladders = new TapeLadders(booksOf(count, no));
    expect(ladders.isMirrored()).toBe(no === 'mirrored');
    const orders = [
      [0, 0, 1, 0, 2_048, 1, 2_049, 0],
      [count - 1, 452, count - 1, 2_047, 451],
    ];
    for (const book of orders.flat()) {
      const read = SIDES.map(([token, side]) => ladders.side(book, token, side));
      // Mirrored: 1 less the price on the other side.
      const prices = first.map((price, at) => price + (steps[at] as number) * (book % 500));
      expect(read.map((side) => side.prices[0])).toEqual(prices);
      for (const side of read) expect([side.count, side.sizes[0]]).toEqual([1, 1 + book]);
    }
  },
);

test('a tape numbers the sides of trades 0 to 3 in this order', () => {
  expect(TAPE_TRADE_SIDES).toEqual(['BUY_YES', 'SELL_YES', 'BUY_NO', 'SELL_NO']);
});
