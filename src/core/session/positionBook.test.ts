import { expect, test } from 'vitest';
import type { Fill } from '../fills/walk.ts';
import { Ledger } from '../ledger.ts';
import { Position } from './position.ts';
import { PositionBook } from './positionBook.ts';

const SHARE = 1_000_000;
const FILL: Fill = {
  ...{ size: SHARE, principal: SHARE / 2, fee: 0 },
  levels: [{ price: 5_000, size: SHARE }],
};

function bought(openedMs: number): Position {
  return new Position(new Ledger(), {
    token: 'yes',
    decidedMs: openedMs,
    openedMs,
    fill: FILL,
    best: 5_000,
  });
}

function sold(position: Position, timeMs: number): Position {
  position.sell(timeMs, FILL, { reason: 'take_profit', best: 5_000 });
  return position;
}

test('a strategy of one trade may open one position, and is finished once it is closed', () => {
  const book = new PositionBook({ tradesMax: 1, exits: true });
  expect([book.mayOpen, book.finished]).toEqual([true, false]);
  const position = bought(1_000);
  book.open(position);
  expect([book.mayOpen, book.finished]).toEqual([false, false]);
  book.close(sold(position, 2_000));
  expect([book.mayOpen, book.finished]).toEqual([false, true]);
});

test('a strategy without exits is finished while it holds, and not before its last trade', () => {
  const book = new PositionBook({ tradesMax: 2, exits: false });
  const position = bought(1_000);
  book.open(position);
  expect(book.finished).toBe(true);
  book.close(sold(position, 2_000));
  expect([book.mayOpen, book.finished]).toEqual([true, false]);
});

test('a reversed sale holds the position again: the strategy is not finished', () => {
  const book = new PositionBook({ tradesMax: 1, exits: true });
  const position = bought(1_000);
  book.open(position);
  book.close(sold(position, 2_000));
  expect(book.reverseSince(1_500)).toBe(1);
  expect([book.held, book.finished, book.trades().length]).toEqual([position, false, 1]);
});

test('reversing a whole position counts its purchase and its sale', () => {
  const book = new PositionBook({ tradesMax: 1, exits: true });
  const position = bought(1_000);
  book.open(position);
  book.close(sold(position, 2_000));
  expect(book.reverseSince(500)).toBe(2);
  expect([book.held, book.mayOpen, book.trades()]).toEqual([null, true, []]);
});

test('reversing nothing returns null', () => {
  const book = new PositionBook({ tradesMax: 1, exits: true });
  book.open(bought(1_000));
  expect(book.reverseSince(1_000)).toBeNull();
});
