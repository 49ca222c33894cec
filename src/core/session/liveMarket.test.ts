import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { LiveMarket } from './liveMarket.ts';
import { bestPricesAt } from './rows.ts';
import { UnderlyingState } from './underlyingState.ts';

const SHARE = 1_000_000;
const LIVE = { underlying: null, depth: 2, fromMs: START_MS - 3_600_000 } as const;
const BOOK = {
  ...{ seq: 1, marketId: TAPE_MARKET.marketId, timeMs: START_MS + 1_000 },
  yesBids: [
    [4_000, 30 * SHARE],
    [3_900, 10 * SHARE],
    [3_800, 500 * SHARE],
  ],
  yesAsks: [[4_200, 10 * SHARE]],
} as const;
const QUOTE = {
  ...{ seq: 2, marketId: TAPE_MARKET.marketId, eventTimeMs: START_MS, underlyingPrice: null },
  ...{ receivedTimeMs: START_MS + 2_000, trusted: true, yesChanged: true },
};

test('a live book is the newest row: NO’s prices mirror those of YES, or are those of its own book', () => {
  const live = new LiveMarket(TAPE_MARKET, LIVE);
  expect(live.book(bookRecord(BOOK))).toBe(true);
  expect(bestPricesAt(live.rows, 0)).toEqual({ yesBid: 4_000, yesAsk: 4_200, noBid: 5_800, noAsk: 6_000 });
  const no = { bids: [[5_700, 5 * SHARE]], asks: [[6_100, 5 * SHARE]] } as const;
  expect(live.book(bookRecord({ ...BOOK, no }))).toBe(true);
  expect(bestPricesAt(live.rows, 0)).toEqual({ yesBid: 4_000, yesAsk: 4_200, noBid: 5_700, noAsk: 6_100 });
  live.book(bookRecord({ ...BOOK, no: { ...no, bids: [] } }));
  expect(bestPricesAt(live.rows, 0)).toMatchObject({ noBid: Number.NaN, noAsk: 6_100 });
  const record = bookRecord({ ...BOOK, no });
  // A side that was emptied keeps its old levels in memory.
  live.book({ ...record, no: { ...record.no, asks: { ...record.no.asks, count: 0 } } });
  expect(bestPricesAt(live.rows, 0)).toMatchObject({ noBid: 5_700, noAsk: Number.NaN });
  const { rows } = live;
  expect([rows.count, rows.book[0], rows.timeMs[0], rows.trusted[0]]).toEqual([1, 3, START_MS + 1_040, 1]);
});

test('a live book has the levels that a tape would have, and makes no row if it repeats them', () => {
  const live = new LiveMarket(TAPE_MARKET, LIVE);
  live.book(bookRecord(BOOK));
  // Two levels of bids with 40 shares against 10.
  expect(live.rows.imbalance[0]).toBe(0.6);
  expect(live.ladders.side(0, 'yes', 'bids').count).toBe(2);
  const deeper = [...BOOK.yesBids.slice(0, 2), [3_700, SHARE]] as const;
  expect(live.book(bookRecord({ ...BOOK, yesBids: deeper, timeMs: START_MS + 5_000 }))).toBe(false);
  expect(live.rows.timeMs[0]).toBe(START_MS + 1_040);
});

test('a live quote has no price where a side is empty, and makes no row if the book has shown it', () => {
  const live = new LiveMarket(TAPE_MARKET, LIVE);
  live.book(bookRecord(BOOK));
  const shown = { yesBid: 4_000, yesAsk: 4_200, noBid: 5_800, noAsk: 6_000 };
  expect(live.quote({ ...QUOTE, ...shown })).toBe(false);
  expect(live.quote({ ...QUOTE, ...shown, yesAsk: null, noBid: null })).toBe(true);
  const half = { ...shown, yesAsk: Number.NaN, noBid: Number.NaN };
  expect(bestPricesAt(live.rows, 0)).toEqual(half);
  expect(live.quote({ ...QUOTE, ...shown, yesBid: null, noAsk: null })).toBe(true);
  expect(bestPricesAt(live.rows, 0)).toEqual({ ...shown, yesBid: Number.NaN, noAsk: Number.NaN });
  expect(live.quote({ ...QUOTE, ...shown, trusted: false })).toBe(true);
  expect(live.rows.trusted[0]).toBe(0);
});

test('a strike applies from the next row on, and a price makes a row only for a market with a model', () => {
  const underlying = new UnderlyingState();
  const live = new LiveMarket({ ...TAPE_MARKET, strikePrice: null }, { ...LIVE, underlying });
  const priceAt = (at: number) => {
    underlying.push({ receivedMs: START_MS + at, eventMs: START_MS + at, price: 101_000 });
    return live.price(START_MS + at);
  };
  expect([priceAt(3_000), live.rows.distance[0]]).toEqual([true, Number.NaN]);
  live.strike({ strikePrice: 100_000, strikeKnownTimeMs: START_MS + 3_000 });
  expect(live.rows.distance[0]).toBeNaN();
  expect([priceAt(4_000), live.rows.distance[0]]).toEqual([true, 0.01]);
  expect(new LiveMarket(TAPE_MARKET, LIVE).price(START_MS)).toBe(false);
});

test('a live gap is a row of its own at its detection and at its end', () => {
  const live = new LiveMarket(TAPE_MARKET, LIVE);
  live.book(bookRecord(BOOK));
  live.gapDetected({ startMs: START_MS + 1_500, knownMs: START_MS + 4_000 });
  const state = () => [live.rows.timeMs[0], live.rows.trusted[0]];
  expect([...state(), live.rows.gapStartMs[0]]).toEqual([START_MS + 4_000, 0, START_MS + 1_500]);
  live.gapEnded(START_MS + 6_000);
  expect(state()).toEqual([START_MS + 6_000, 0]);
  live.book(bookRecord({ ...BOOK, timeMs: START_MS + 6_000, yesAsks: [[4_300, SHARE]] }));
  expect(state()).toEqual([START_MS + 6_040, 1]);
});
