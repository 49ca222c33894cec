import { expect, it } from 'vitest';
import { TokenBook } from './tokenBook.ts';

it('has frames since a reset only from the first frame after it on', () => {
  const book = new TokenBook('1');
  expect(book.hasFramesSinceReset).toBe(false);
  book.frames++;
  expect(book.hasFramesSinceReset).toBe(true);
  book.reset();
  expect(book.hasFramesSinceReset).toBe(false);
});

it('forgets the time of its levels with a reset', () => {
  const book = new TokenBook('1');
  book.timeMs = 1_000;
  book.reset();
  expect(book.timeMs).toBe(0);
});

it('needs a new proof once a late frame has set a level', () => {
  const book = new TokenBook('1');
  book.verified = true;
  book.setLate('BUY', 5_000, 1);
  expect(book.verified).toBe(false);
});
