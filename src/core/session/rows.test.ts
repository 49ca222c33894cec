import { expect, test } from 'vitest';
import { type Level, ladder, START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { RowBuilder } from './rows.ts';
import { UnderlyingState } from './underlyingState.ts';

/** The imbalance of a book with these levels. */
function imbalanceOf(bids: readonly Level[], asks: readonly Level[]): number {
  const builder = new RowBuilder(TAPE_MARKET, { underlying: null, capacity: 1 });
  const sides = { yesBids: ladder('bids', bids), yesAsks: ladder('asks', asks) };
  builder.book({ receivedMs: START_MS, trusted: true, book: 0, ...sides });
  return builder.rows.imbalance[0] as number;
}

const BIDS: readonly Level[] = [0.49, 0.48, 0.47, 0.46, 0.45].map((price) => [price, 10]);

test.each<[string, readonly Level[], readonly Level[], number]>([
  ['the five best levels of each side', [...BIDS, [0.44, 1_000]], [[0.5, 150]], -0.5],
  ['the levels that there are', [[0.49, 30]], [[0.5, 10]], 0.5],
  ['one side alone', BIDS, [], 1],
  ['nothing', [], [], Number.NaN],
])('the imbalance is that of %s', (_, bids, asks, imbalance) => {
  expect(imbalanceOf(bids, asks)).toBe(imbalance);
});

test('a strike that was received before its window is known from the start of the window', () => {
  const underlying = new UnderlyingState();
  const market = { ...TAPE_MARKET, strikePrice: 100_000, strikeKnownTimeMs: START_MS - 5_000 };
  const builder = new RowBuilder(market, { underlying, capacity: 1 });
  const distanceAt = (receivedMs: number) => {
    underlying.push({ receivedMs, eventMs: receivedMs, price: 101_000 });
    expect(builder.price(receivedMs)).toBe(true);
    return builder.rows.distance[0];
  };
  expect([distanceAt(START_MS - 1), distanceAt(START_MS)]).toEqual([Number.NaN, 0.01]);
});
