import { expect, test } from 'vitest';
import { LadderSide } from '../ladderSide.ts';
import { BestPriceAge } from './bestPriceAge.ts';
import { confidenceOf } from './signal.ts';

function book() {
  const token = () => ({ bids: new LadderSide('bids'), asks: new LadderSide('asks') });
  return { yes: token(), no: token() };
}

test('counts from the arrival of the price, not from a change of its size or of a worse level', () => {
  const tokens = book();
  const priceAge = new BestPriceAge();
  tokens.yes.asks.set(5_000, 1);
  priceAge.update(tokens, 1_000);
  tokens.yes.asks.set(5_000, 7);
  tokens.yes.asks.set(5_100, 7);
  priceAge.update(tokens, 2_000);
  expect(priceAge.askHeldMs('yes', 2_500)).toBe(1_500);
  tokens.yes.asks.set(4_900, 1);
  priceAge.update(tokens, 3_000);
  expect(priceAge.askHeldMs('yes', 3_000)).toBe(0);
  tokens.yes.asks.set(4_900, 0);
  priceAge.update(tokens, 4_000);
  // Back at the old price, but with a new start.
  expect(priceAge.askHeldMs('yes', 5_000)).toBe(1_000);
});

test('keeps the two tokens separate; an empty side has held for 0 ms', () => {
  const tokens = book();
  const priceAge = new BestPriceAge();
  tokens.no.asks.set(5_000, 1);
  priceAge.update(tokens, 1_000);
  expect(priceAge.askHeldMs('no', 4_000)).toBe(3_000);
  expect(priceAge.askHeldMs('yes', 4_000)).toBe(0);
});

test('a price has held for 0 ms at a time before its arrival: clocks of two feeds differ', () => {
  const tokens = book();
  const priceAge = new BestPriceAge();
  tokens.yes.asks.set(5_000, 1);
  priceAge.update(tokens, 1_000);
  expect(priceAge.askHeldMs('yes', 999)).toBe(0);
});

test('starts over after an untrusted state', () => {
  const tokens = book();
  const priceAge = new BestPriceAge();
  tokens.yes.asks.set(5_000, 1);
  priceAge.update(tokens, 1_000);
  priceAge.reset();
  expect(priceAge.askHeldMs('yes', 9_000)).toBe(0);
  priceAge.update(tokens, 10_000);
  expect(priceAge.askHeldMs('yes', 12_000)).toBe(2_000);
});

test('a price is stable once it has held for thirty seconds', () => {
  expect([29_999, 30_000].map(confidenceOf)).toEqual(['stale', 'stable']);
});
