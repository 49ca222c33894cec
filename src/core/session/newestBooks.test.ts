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
  ['another level beyond the depth', { yesBids: [[4_800, 10 * SHARE]] }, null],
  ['no asks', { yesAsks: [] }, 1],
  ['the same after the tape begins', { timeMs: 1_960 }, 1],
  ['the same before the tape begins', { timeMs: 1_959 }, null],
])('a book with %s: %j is kept as %j', (_, change, number) => {
  const books = new NewestBooks({ depth: 1, fromMs: 2_000 });
  expect(books.keep(bookRecord({ ...FIRST, seq: 1 }))).toBe(0);
  expect(books.keep(bookRecord({ ...FIRST, ...change, seq: 2 }))).toBe(number);
});
