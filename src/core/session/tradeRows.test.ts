import { expect, test } from 'vitest';
import { TradeCursor } from './tradeRows.ts';

/** Two trades before row 1, one before row 2, one before row 3; each has the size of its place. */
function cursor(): TradeCursor {
  const nextRow = Int32Array.of(1, 1, 2, 3);
  const column = Float64Array.of(0, 1, 2, 3);
  const trades = { seq: column, receivedMs: column, eventMs: column, price: column, size: column };
  return new TradeCursor({ nextRow, trades: { ...trades, side: new Uint8Array(4) } });
}

function sizesBefore(trades: TradeCursor, row: number): number[] {
  const sizes: number[] = [];
  for (let trade = trades.before(row); trade !== null; trade = trades.before(row)) sizes.push(trade.size);
  return sizes;
}

test('trades are read once, row by row', () => {
  const trades = cursor();
  expect([0, 1, 2, 2, 9].map((row) => sizesBefore(trades, row))).toEqual([[], [0, 1], [2], [], [3]]);
});

test('a trade has the venue’s time and the time of its receipt', () => {
  const columns = { price: Float64Array.of(4_500), size: Float64Array.of(7), side: Uint8Array.of(3) };
  const times = { seq: Float64Array.of(1), receivedMs: Float64Array.of(90), eventMs: Float64Array.of(60) };
  const trades = new TradeCursor({ nextRow: Int32Array.of(0), trades: { ...columns, ...times } });
  const trade = { side: 'SELL_NO', price: 4_500, size: 7, eventTimeMs: 60, timeMs: 90 };
  expect(trades.before(0)).toEqual(trade);
});

test('an order placed at a row skips the trades received before it', () => {
  const trades = cursor();
  trades.skipTo(1);
  expect([1, 2].map((row) => sizesBefore(trades, row))).toEqual([[], [2]]);
  trades.skipTo(9);
  expect(sizesBefore(trades, 9)).toEqual([]);
});
