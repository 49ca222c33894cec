import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookRecord } from '../../test/support/api.ts';
import { BookText } from './bookText.ts';
import { PackedBook } from './packedBook.ts';

const levels = fc.uniqueArray(
  fc.tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 1e13 })),
  {
    selector: ([price]) => price,
    maxLength: 12,
  },
);

test('a packed book is printed like the book itself', () => {
  const text = new BookText();
  const side = fc.record({ bids: levels, asks: levels });
  fc.assert(
    fc.property(side, fc.option(side), fc.boolean(), (yes, no, trusted) => {
      const book = bookRecord({
        seq: 1,
        marketId: `0x${'a'.repeat(64)}`,
        timeMs: 1_795_176_000_000,
        yesBids: yes.bids,
        yesAsks: yes.asks,
        trusted,
        ...(no === null ? {} : { no }),
      });
      const packed = new PackedBook(book);
      const expected = String(text.print(book, 'BTC'));
      // The recorder reuses the memory of its books.
      for (const { bids, asks } of [book.yes, book.no]) for (const { sizes } of [bids, asks]) sizes.fill(0);
      expect(String(text.print(packed.unpack(), 'BTC'))).toBe(expected);
    }),
  );
});

test('a mirrored book of 99 levels takes less than a quarter of its text', () => {
  const side = (from: number) => Array.from({ length: 50 }, (_, i) => [from + i, 12_345_670_000] as const);
  const book = bookRecord({
    ...{ seq: 1, marketId: `0x${'a'.repeat(64)}`, timeMs: 1_795_176_000_000 },
    ...{ yesBids: side(100), yesAsks: side(5000) },
  });
  const text = new BookText().print(book, 'BTC');
  expect(new PackedBook(book).bytes).toBe(1_300);
  expect(text.length).toBeGreaterThan(4 * 1_300);
});
