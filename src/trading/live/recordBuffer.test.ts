import { describe, expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import type { BookRecord } from '../../schema/records.ts';
import type { PaperMarket } from './paperMarket.ts';
import { RecordBuffer } from './recordBuffer.ts';

test('a buffer overflows with the first record beyond its limit, and knows the first number', () => {
  const buffer = new RecordBuffer(2);
  const push = (seq: number) => buffer.price({ seq, receivedMs: seq, eventMs: seq, price: 97_000 });
  push(8);
  push(9);
  expect(buffer.overflowed).toBe(false);
  push(10);
  expect([buffer.overflowed, buffer.firstSeq]).toEqual([true, 8]);
});

test('a buffered book does not change with the live book', () => {
  const buffer = new RecordBuffer();
  const record = bookRecord({
    ...{ seq: 7, marketId: '0x1', timeMs: 1 },
    ...{ yesBids: [[4_000, 5]], yesAsks: [[5_000, 6]] },
  });
  buffer.book(record);
  buffer.book({ ...record, seq: 8 });
  expect(buffer.firstSeq).toBe(7);
  record.yes.asks.prices[0] = 1;
  record.no.bids.sizes[0] = 2;
  const given: BookRecord[] = [];
  buffer.drain({ book: (book: BookRecord) => given.push(book) } as unknown as PaperMarket);
  expect([given[0]?.yes.asks.prices[0], given[0]?.no.bids.sizes[0]]).toEqual([5_000, 6]);
});

test('a trade may be the first record of a buffer', () => {
  const buffer = new RecordBuffer();
  const trade = { marketId: '0x1', tradeId: '1', side: 'SELL_YES', price: 5_000, size: 1 } as const;
  buffer.trade({ ...trade, seq: 9, eventTimeMs: 1, receivedTimeMs: 2 });
  expect(buffer.firstSeq).toBe(9);
});

test('a buffer hands its records to the market in their order of arrival', () => {
  const buffer = new RecordBuffer();
  const ids = { marketId: '0x1', eventTimeMs: 1, receivedTimeMs: 2 };
  const best = { yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk: 6_000 };
  buffer.quote({ ...ids, ...best, seq: 9, trusted: true, yesChanged: true, underlyingPrice: null });
  buffer.trade({ ...ids, tradeId: '1', side: 'SELL_YES', price: 5_000, size: 1, seq: 10 });
  buffer.gap({ id: 11, startMs: 1, knownMs: 2, endMs: 3 });
  buffer.price({ seq: 12, receivedMs: 2, eventMs: 1, price: 97_000 });
  buffer.gap({ id: 13, startMs: 4, knownMs: 5, endMs: null });
  const given: (number | string)[] = [];
  const row = ({ seq }: { seq: number }) => given.push(seq);
  buffer.drain({
    ...{ quote: row, trade: row, price: row },
    gapDetected: ({ id }: { id: number }) => given.push(`detected ${id}`),
    gapEnded: ({ id }: { id: number }) => given.push(`ended ${id}`),
  } as unknown as PaperMarket);
  expect(given).toEqual([9, 10, 'detected 11', 'ended 11', 12, 'detected 13']);
  expect(buffer.firstSeq).toBe(9);
});

describe('a buffer that keeps nothing', () => {
  const ids = { marketId: '0x1', eventTimeMs: 1, receivedTimeMs: 2 };
  const best = { yesBid: 4_000, yesAsk: 5_000, noBid: 5_000, noAsk: 6_000 };
  const quote = { ...ids, ...best, trusted: true, yesChanged: true, underlyingPrice: null };
  const trade = { ...ids, tradeId: '1', side: 'SELL_YES', price: 5_000, size: 1 } as const;
  const book = bookRecord({
    seq: 7,
    marketId: '0x1',
    timeMs: 1,
    yesBids: [[4_000, 5]],
    yesAsks: [[5_000, 6]],
  });

  test.each<[string, (buffer: RecordBuffer) => void]>([
    ['a book', (buffer) => buffer.book(book)],
    ['a quote', (buffer) => buffer.quote({ ...quote, seq: 7 })],
    ['a trade', (buffer) => buffer.trade({ ...trade, seq: 7 })],
    ['a price', (buffer) => buffer.price({ seq: 7, receivedMs: 2, eventMs: 1, price: 97_000 })],
  ])('overflows with %s, and knows its number', (_, push) => {
    const buffer = new RecordBuffer(0);
    push(buffer);
    expect([buffer.overflowed, buffer.firstSeq]).toEqual([true, 7]);
  });

  test('overflows with a gap, which has no number', () => {
    const buffer = new RecordBuffer(0);
    buffer.gap({ id: 7, startMs: 1, knownMs: 2, endMs: null });
    expect([buffer.overflowed, buffer.firstSeq]).toEqual([true, null]);
    // Nothing of it reaches the market.
    buffer.drain({} as PaperMarket);
  });
});

test('a drained buffer has nothing left', () => {
  const buffer = new RecordBuffer();
  buffer.price({ seq: 1, receivedMs: 1, eventMs: 1, price: 97_000 });
  const given: number[] = [];
  const market = { price: ({ seq }: { seq: number }) => given.push(seq) } as unknown as PaperMarket;
  buffer.drain(market);
  buffer.drain(market);
  expect(given).toEqual([1]);
});
