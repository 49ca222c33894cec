import { expect, test } from 'vitest';
import { Board } from '../../web/src/live/board.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const BOOK = {
  ...{ market_id: '0xa', ts: new Date(NOW).toISOString(), underlying_price: null, underlying_ticker: 'BTC' },
  ...{ yes_bids: [], yes_asks: [], no_bids: [], no_asks: [], trusted: true },
};
const gapOf = (board: Board) => board.stateAt(NOW, true).markets['0xa']?.gap;

test('a gap that is reported before the first book is shown with it', () => {
  const board = new Board();
  board.setGap('0xa', 'gap_1', 'silent_feed');
  board.pushBook(BOOK);
  expect(gapOf(board)).toBe('silent_feed');
});

test('a gap of lost rows that opens and closes leaves another gap of its market open', () => {
  const board = new Board();
  board.pushBook(BOOK);
  board.setGap('0xa', 'gap_1', 'silent_feed');
  board.setGap('0xa', 'gap_2', 'data_lost');
  board.setGap('0xa', 'gap_2', null);
  expect(gapOf(board)).toBe('silent_feed');
  board.setGap('0xa', 'gap_1', null);
  expect(gapOf(board)).toBeNull();
});

test('a gap that closed while the page had no connection is not shown any more', () => {
  const board = new Board();
  board.pushBook(BOOK);
  board.setGap('0xa', 'gap_1', 'disconnected');
  board.onConnected();
  board.pushBook(BOOK);
  expect(gapOf(board)).toBeNull();
});
