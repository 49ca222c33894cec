import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collected } from '../../test/support/collected.ts';
import { type Book, booksOf, type DeltaRow, LiveBooks } from './book.ts';
import { BookGapError } from './errors.ts';

const MARKET = '0xaa';
const row = (more: Partial<DeltaRow>): DeltaRow => ({
  ...{ market_id: MARKET, ts: '2026-11-20T12:00:00.000+00:00', trusted: true, token: 'yes', side: 'bid' },
  ...{ price: 0.5, size: 1, is_snapshot: false, seq: 1 },
  ...more,
});
const all = (rows: readonly DeltaRow[]) => collected(booksOf(rows));

describe('books from changes', () => {
  it('are one for each state, with levels best first', async () => {
    const rows = [
      row({ is_snapshot: true, price: 0.4, size: 2 }),
      row({ is_snapshot: true, price: 0.5, size: 1 }),
      row({ is_snapshot: true, side: 'ask', price: 0.6, size: 3 }),
      row({ seq: 4, price: 0.5, size: 0 }),
      row({ seq: 4, token: 'no', side: 'ask', price: 0.7, size: 5 }),
    ];
    const common = { market_id: MARKET, ts: '2026-11-20T12:00:00.000+00:00', trusted: true };
    expect(await all(rows)).toEqual([
      {
        ...{ ...common, seq: 1, no_bids: [], no_asks: [], yes_asks: [{ price: 0.6, size: 3 }] },
        yes_bids: [
          { price: 0.5, size: 1 },
          { price: 0.4, size: 2 },
        ],
      },
      {
        ...{ ...common, seq: 4, no_bids: [], yes_asks: [{ price: 0.6, size: 3 }] },
        ...{ yes_bids: [{ price: 0.4, size: 2 }], no_asks: [{ price: 0.7, size: 5 }] },
      },
    ]);
  });

  it('equal the books that the changes were derived from', async () => {
    const side = fc.uniqueArray(
      fc.record({ price: fc.integer({ min: 1, max: 9 }), size: fc.integer({ min: 1, max: 3 }) }),
      {
        selector: ({ price }) => price,
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(side, { minLength: 1, maxLength: 8 }), async (states) => {
        let before = new Map<number, number>();
        const kept: (typeof states)[number][] = [];
        const rows = states.flatMap((levels, index) => {
          const now = new Map(levels.map(({ price, size }) => [price, size]));
          const set = levels.filter(({ price, size }) => before.get(price) !== size);
          const gone = [...before.keys()]
            .filter((price) => !now.has(price))
            .map((price) => ({ price, size: 0 }));
          before = now;
          const changes = [...set, ...gone];
          if (changes.length > 0) kept.push(levels);
          return changes.map((change) => row({ ...change, seq: index + 1, is_snapshot: index === 0 }));
        });
        const expected = kept.map((levels) => [...levels].sort((a, b) => b.price - a.price));
        expect((await all(rows)).map(({ yes_bids }: Book) => yes_bids)).toEqual(expected);
      }),
    );
  });

  it.each([
    ['a start without a whole book', [row({})], 'the changes begin at seq 1 without a whole book'],
    [
      'an older state',
      [row({ is_snapshot: true, seq: 5 }), row({ seq: 4 })],
      'seq 4 at 2026-11-20T12:00:00.000+00:00 follows seq 5 at 2026-11-20T12:00:00.000+00:00',
    ],
    [
      'the removal of an unknown level',
      [row({ is_snapshot: true }), row({ seq: 2, price: 0.3, size: 0 })],
      'seq 2 at 2026-11-20T12:00:00.000+00:00 removes a level at 0.3 that does not exist',
    ],
    [
      'another market',
      [row({ is_snapshot: true }), row({ seq: 2, market_id: '0xbb' })],
      'changes of two markets: 0xaa and 0xbb',
    ],
  ])('end with an error at %s', async (_what, rows, message) => {
    await expect(all(rows)).rejects.toThrow(new BookGapError(message));
  });
});

describe('books of a stream', () => {
  const snapshot = (trusted: boolean) => ({
    ...{ type: 'snapshot' as const, market_id: MARKET, event_type: '5m', cursor: 'c', ts: 't', trusted },
    ...{ yes_bids: [], yes_asks: [], no_bids: [], no_asks: [] },
    ...{ underlying_price: null, underlying_ticker: 'BTC' as const },
  });
  const gap = (state: 'open' | 'closed') => ({
    type: 'gap' as const,
    market_id: MARKET,
    gap_id: 'gap_1',
    state,
    cause: 'x',
    at: 't',
  });

  it('are trusted unless a gap is open or the state is unproven', () => {
    const books = new LiveBooks();
    const trust: boolean[] = [books.isTrusted(MARKET)];
    for (const message of [snapshot(true), gap('open'), snapshot(true), gap('closed'), snapshot(false)]) {
      books.apply(message);
      trust.push(books.isTrusted(MARKET));
    }
    expect(trust).toEqual([false, true, false, false, true, false]);
  });

  it('of resolved markets are released, the newest 100 excepted', () => {
    const books = new LiveBooks();
    const ids = Array.from({ length: 102 }, (_, index) => `0x${index}`);
    for (const market_id of ids) {
      books.apply({ ...snapshot(true), market_id });
      books.apply({ ...gap('open'), market_id });
      books.apply({ type: 'market', market_id, status: 'resolved', outcome: 'Up' });
      // The venue may still change it for a moment.
      books.apply({ ...snapshot(true), market_id });
    }
    expect(ids.filter((id) => books.book(id) === null)).toEqual(['0x0', '0x1']);
  });

  it('of markets that ended while there was no connection are released at the next such time', () => {
    const books = new LiveBooks();
    const again = { type: 'ack' as const, subscribed: {}, resumed: false };
    const live = { ...snapshot(true), market_id: '0xbb' };
    for (const message of [snapshot(true), live, again, live]) books.apply(message);
    expect([books.book(MARKET), books.book('0xbb')]).toEqual([snapshot(true), live]);
    books.apply(again);
    expect([books.book(MARKET), books.book('0xbb')]).toEqual([null, live]);
  });

  it('may lack changes after a connection that could not resume', () => {
    const books = new LiveBooks();
    books.apply({ type: 'ack', subscribed: {}, resumed: true });
    expect(books.missedChanges).toBe(false);
    books.apply({ type: 'ack', subscribed: {}, resumed: false });
    expect(books.missedChanges).toBe(true);
  });

  it('after such a connection are trusted from their next book on, whatever gaps were open before', () => {
    const books = new LiveBooks();
    const trust: boolean[] = [];
    const again = { type: 'ack' as const, subscribed: {}, resumed: false };
    // The first gap closes while there is no connection; the second one is open.
    for (const message of [
      snapshot(true),
      gap('open'),
      again,
      snapshot(true),
      again,
      snapshot(true),
      gap('open'),
    ]) {
      books.apply(message);
      trust.push(books.isTrusted(MARKET));
    }
    expect(trust).toEqual([true, false, false, true, false, true, false]);
    expect(books.book(MARKET)).toEqual(snapshot(true));
  });
});
