import { expect, test } from 'vitest';
import { Board } from '../../web/src/live/board.ts';
import { liveWindow } from '../support/liveWindow.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const BOOK = {
  ...{ market_id: '0xa', ts: new Date(NOW).toISOString(), underlying_price: null, underlying_ticker: 'BTC' },
  ...{ yes_bids: [], yes_asks: [], no_bids: [], no_asks: [], trusted: true },
};
const gapOf = (board: Board) => board.stateAt(NOW, true).markets['0xa']?.gap;

test('a gap that is reported before the first book is shown with it', () => {
  const board = new Board();
  board.setGap('0xa', 'gap_1', 'silent_feed');
  board.pushBook(BOOK, NOW);
  expect(gapOf(board)).toBe('silent_feed');
});

test('a gap of lost rows that opens and closes leaves another gap of its market open', () => {
  const board = new Board();
  board.pushBook(BOOK, NOW);
  board.setGap('0xa', 'gap_1', 'silent_feed');
  board.setGap('0xa', 'gap_2', 'data_lost');
  board.setGap('0xa', 'gap_2', null);
  expect(gapOf(board)).toBe('silent_feed');
  board.setGap('0xa', 'gap_1', null);
  expect(gapOf(board)).toBeNull();
});

test('a gap that closed while the page had no connection is not shown any more', () => {
  const board = new Board();
  board.pushBook(BOOK, NOW);
  board.setGap('0xa', 'gap_1', 'disconnected');
  board.onConnected();
  board.pushBook(BOOK, NOW);
  expect(gapOf(board)).toBeNull();
});

test('a price that was read more than 10 s ago is not current, nor what depends on it, though books still come', () => {
  const board = new Board();
  board.setMarkets([liveWindow(NOW)], 0);
  const seconds = Array.from(
    { length: 600 },
    (_, i) => [NOW - (600 - i) * 1_000, 100_000 + (i % 7)] as const,
  );
  board.seedPrices('BTC', seconds, NOW);
  board.pushBook({ ...BOOK, underlying_price: 100_050 }, NOW);
  const at = (nowMs: number) => {
    board.pushBook({ ...BOOK, ts: new Date(nowMs).toISOString() }, nowMs);
    const { tickers, markets } = board.stateAt(nowMs, true);
    return [tickers.BTC?.price, markets['0xa']?.modelProbability === null, markets['0xa']?.distance === null];
  };
  expect(at(NOW + 10_000)).toEqual([100_050, false, false]);
  expect(at(NOW + 10_001)).toEqual([null, true, true]);
});

test('a window is priced by the service’s clock, whatever the reader’s shows', () => {
  const modelOn = (aheadMs: number) => {
    const board = new Board();
    const readerMs = NOW - aheadMs;
    board.setMarkets([liveWindow(NOW)], aheadMs);
    const seconds = Array.from(
      { length: 600 },
      (_, i) => [NOW - (600 - i) * 1_000, 100_000 + (i % 7)] as const,
    );
    board.seedPrices('BTC', seconds, readerMs);
    board.pushBook({ ...BOOK, underlying_price: 100_005 }, readerMs);
    return board.stateAt(readerMs, true).markets['0xa']?.modelProbability;
  };
  expect(modelOn(0)).toBeGreaterThan(0.5);
  expect(modelOn(170_000)).toBe(modelOn(0));
  expect(modelOn(-170_000)).toBe(modelOn(0));
});

test('loaded prices are not current for longer where the reader’s clock is behind', () => {
  const board = new Board();
  board.seedPrices('BTC', [[NOW + 300_000, 100_000]], NOW);
  const priceAt = (nowMs: number) => board.stateAt(nowMs, true).tickers.BTC?.price;
  expect(priceAt(NOW + 10_000)).toBe(100_000);
  expect(priceAt(NOW + 10_001)).toBeNull();
});

test.each([-5, 5])('loaded prices are current on a clock that is %i h off', (hours) => {
  const board = new Board();
  const readerMs = NOW + hours * 3_600_000;
  board.setMarkets([], NOW - readerMs);
  board.seedPrices('BTC', [[NOW - 1_000, 100_000]], readerMs);
  const priceAt = (nowMs: number) => board.stateAt(nowMs, true).tickers.BTC?.price;
  expect(priceAt(readerMs + 9_000)).toBe(100_000);
  expect(priceAt(readerMs + 9_001)).toBeNull();
});

test('prices that were loaded are as old as the newest of them', () => {
  const board = new Board();
  board.seedPrices('BTC', [[NOW - 10_001, 100_000]], NOW);
  expect(board.stateAt(NOW, true).tickers.BTC?.price).toBeNull();
});

test('the time of the newest change is known, and a gap has no mid', () => {
  const board = new Board();
  expect(board.stateAt(NOW, true).newestBookMs).toBeNull();
  const side = [{ price: 0.5, size: 1 }];
  board.pushBook({ ...BOOK, yes_bids: side, yes_asks: side }, NOW);
  expect(board.stateAt(NOW + 1_000, true)).toMatchObject({
    ...{ newestBookMs: NOW, markets: { '0xa': { trail: [0.5] } } },
  });
  board.setGap('0xa', 'gap_1', 'silent_feed');
  expect(board.stateAt(NOW + 2_000, true).markets['0xa']?.trail).toEqual([0.5, null]);
});
