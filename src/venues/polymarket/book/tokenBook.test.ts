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

it('is changed by a snapshot with another level on either side, and by no other', () => {
  const book = new TokenBook('1');
  const apply = (bid: number, ask: number) => {
    const side = (price: number) => ({ prices: [price], sizes: [1] });
    const times = { eventTimeMs: 1, receivedTimeMs: 1 };
    const inputs = { hash: 'a', tickSize: null, lastTradePrice: null, version: null };
    const event = { kind: 'book_snapshot', marketId: 'm', tokenId: '1', ...times, ...inputs } as const;
    return book.applySnapshot({ ...event, bids: side(bid), asks: side(ask) });
  };
  expect([apply(1, 2), apply(1, 3), apply(2, 3), apply(2, 3)]).toEqual([true, true, true, false]);
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
