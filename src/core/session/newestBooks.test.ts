import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { NewestBooks } from './newestBooks.ts';

const SHARE = 1_000_000;
const FIRST = {
  ...{ marketId: '0x1', timeMs: 1_000 },
  yesBids: [
    [4_800, 10 * SHARE],
    [4_700, 20 * SHARE],
  ],
  yesAsks: [[5_000, 30 * SHARE]],
} as const;
type Book = Omit<Parameters<typeof bookRecord>[0], 'seq'>;

test.each<[string, Partial<Book>, number | null]>([
  ['the same', {}, null],
  ['the same with another trust', { trusted: false }, 1],
  ['another best size', { yesBids: [[4_800, 11 * SHARE]] }, 1],
  ['another size below a unit', { yesBids: [[4_800, 10 * SHARE + 0.4]] }, null],
  ['another size by more than half a unit', { yesBids: [[4_800, 10 * SHARE + 0.6]] }, 1],
  ['its own book of NO', { no: { bids: [[4_900, SHARE]], asks: [[5_200, 10 * SHARE]] } }, 1],
  [
    'a book of NO that is its mirror',
    { no: { bids: [[5_000, 30 * SHARE]], asks: [[5_200, 10 * SHARE]] } },
    null,
  ],
  ['another level beyond the depth', { yesBids: [[4_800, 10 * SHARE]] }, null],
  ['no asks', { yesAsks: [] }, 1],
  ['the same after the tape begins', { timeMs: 1_960 }, 1],
  ['the same before the tape begins', { timeMs: 1_959 }, null],
])('a book with %s: %j is kept as %j', (_, change, number) => {
  const books = new NewestBooks({ depth: 1, fromMs: 2_000 });
  expect(books.keep(bookRecord({ ...FIRST, seq: 1 }))).toBe(0);
  expect(books.keep(bookRecord({ ...FIRST, ...change, seq: 2 }))).toBe(number);
});

test('a book that becomes the mirror again is kept, though YES has not changed', () => {
  const books = new NewestBooks({ depth: 1, fromMs: 2_000 });
  const no = { bids: [[4_900, SHARE]], asks: [[5_200, 10 * SHARE]] } as const;
  books.keep(bookRecord({ ...FIRST, no, seq: 1 }));
  expect(books.keep(bookRecord({ ...FIRST, seq: 2 }))).toBe(1);
  const best = [0, 1].map((book) => books.side(book, 'no', 'bids').prices[0]);
  expect([best, books.isMirrored(0), books.isMirrored(1)]).toEqual([[4_900, 5_000], false, true]);
});

test('of books received from the tape’s begin on, one that repeats the one before is not kept', () => {
  const books = new NewestBooks({ depth: 1, fromMs: 1_040 });
  const kept = [1, 2].map((seq) => books.keep(bookRecord({ ...FIRST, seq })));
  expect(kept).toEqual([0, null]);
});

test.each([
  ['the same', FIRST.yesAsks],
  ['another', [[5_100, 30 * SHARE]]],
] as const)('%s book received before the tape’s begin but read late is in no tape', (_, yesAsks) => {
  const books = new NewestBooks({ depth: 1, fromMs: 1_040 });
  const kept = [
    bookRecord({ ...FIRST, seq: 1 }),
    bookRecord({ ...FIRST, timeMs: 960, yesAsks, seq: 2 }),
    bookRecord({ ...FIRST, seq: 3 }),
  ].map((record) => books.keep(record));
  expect(kept).toEqual([0, null, null]);
});

test('books of many levels are kept whole, and sizes in whole units', () => {
  const books = new NewestBooks({ depth: 40, fromMs: 2_000 });
  const asks = (count: number, more: number) =>
    Array.from({ length: count }, (_, at) => [5_000 + at, SHARE + at + more] as const);
  books.keep(bookRecord({ ...FIRST, yesAsks: asks(3, 0.4), seq: 1 }));
  books.keep(bookRecord({ ...FIRST, yesAsks: asks(20, 0), seq: 2 }));
  expect([...books.side(1, 'yes', 'asks').prices.slice(15, 20)]).toEqual([5_015, 5_016, 5_017, 5_018, 5_019]);
  books.keep(bookRecord({ ...FIRST, yesAsks: asks(45, 0.6), seq: 3 }));
  const { count, prices, sizes } = books.side(2, 'yes', 'asks');
  expect([count, prices[16], prices[39], sizes[0], sizes[39]]).toEqual([
    ...[40, 5_016, 5_039, SHARE + 1, SHARE + 40],
  ]);
});

test('the newest two books can be read, and none before them', () => {
  const books = new NewestBooks({ depth: 2, fromMs: 2_000 });
  for (const at of [0, 1, 2]) books.keep(bookRecord({ ...FIRST, yesAsks: [[5_000 + at, SHARE]], seq: at }));
  expect([1, 2].map((book) => books.side(book, 'yes', 'asks').prices[0])).toEqual([5_001, 5_002]);
  expect(() => books.side(0, 'yes', 'asks')).toThrow(new RangeError('book 0 is no longer kept'));
});
