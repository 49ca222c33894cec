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

it('is not proven by a change without a hash', () => {
  const book = new TokenBook('1');
  const change = { tokenId: '1', side: 'BUY', price: 5_000, size: 1, hash: null } as const;
  book.applyChange({ ...change, announcesBest: false, bestBid: null, bestAsk: null }, 1);
  const context = { marketId: 'm', tickSize: '0.01', lastTradePrice: '', minOrderSize: '5', negRisk: false };
  expect([book.verify({ ...context, version: null }, ''), book.verified]).toEqual([false, false]);
});

it('after a doubt is proven by nothing that was announced before', () => {
  const book = new TokenBook('1');
  const change = { tokenId: '1', side: 'BUY', price: 5_000, size: 1, hash: 'a' } as const;
  book.applyChange({ ...change, announcesBest: true, bestBid: 5_000, bestAsk: null }, 1);
  expect([book.announcedHash, book.agreesOnBest]).toEqual(['a', true]);
  book.verified = true;
  book.distrust();
  expect([book.announcedHash, book.agreesOnBest, book.verified]).toEqual([null, false, false]);
  book.applyChange({ ...change, announcesBest: true, bestBid: 5_000, bestAsk: null }, 2);
  expect([book.announcedHash, book.agreesOnBest]).toEqual(['a', true]);
});
