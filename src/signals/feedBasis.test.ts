import { expect, test } from 'vitest';
import { FeedBasis } from './feedBasis.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const BASIS_POINT = 1e-4;

/** Pairs of one trade and the relay's point at the end of its second; the relay is higher by `basis`. */
function pairs(feed: FeedBasis, options: { fromSecond: number; count: number; basis: number }): void {
  const { fromSecond, count, basis } = options;
  for (let second = fromSecond; second < fromSecond + count; second++) {
    feed.traded(T0 + second * 1_000 + 400, 97_000, 'binance_spot');
    feed.relayed(T0 + (second + 1) * 1_000, 97_000 * Math.exp(basis));
  }
}

const at = (second: number) => T0 + second * 1_000;

test('four pairs are too few, five are enough', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 4, basis: 10 * BASIS_POINT });
  expect(feed.value('binance_spot', at(5))).toBeNull();
  pairs(feed, { fromSecond: 4, count: 1, basis: 10 * BASIS_POINT });
  expect(feed.value('binance_spot', at(5))).toBeCloseTo(10 * BASIS_POINT, 12);
  expect(feed.value('coinbase_spot', at(5))).toBeNull();
});

test('a difference is known for 30 s after its last pair', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 5, basis: 10 * BASIS_POINT });
  expect(feed.value('binance_spot', at(35))).not.toBeNull();
  expect(feed.value('binance_spot', at(35) + 1)).toBeNull();
});

test('after a longer silence the difference is measured from scratch', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 30, basis: 10 * BASIS_POINT });
  // The relay is silent for an hour; meanwhile the difference is gone.
  pairs(feed, { fromSecond: 3_600, count: 4, basis: 0 });
  expect(feed.value('binance_spot', at(3_604))).toBeNull();
  pairs(feed, { fromSecond: 3_604, count: 1, basis: 0 });
  expect(feed.value('binance_spot', at(3_605)) ?? Number.NaN).toBeCloseTo(0, 12);
});

test('a silence of 30 s still counts as one measurement', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 5, basis: 10 * BASIS_POINT });
  pairs(feed, { fromSecond: 34, count: 1, basis: 4 * BASIS_POINT });
  expect(feed.value('binance_spot', at(35))).toBeCloseTo(9 * BASIS_POINT, 12);
});

test('a relayed point is compared with the second before it, whatever was traded since', () => {
  const feed = new FeedBasis();
  for (let second = 0; second < 8; second++) feed.traded(at(second) + 900, 97_000 + second, 'binance_spot');
  for (let second = 1; second <= 5; second++) feed.relayed(at(second), 97_000 + second - 1);
  expect(feed.value('binance_spot', at(8)) ?? Number.NaN).toBeCloseTo(0, 12);
});

test('the difference to another exchange is measured from scratch', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 10, basis: 10 * BASIS_POINT });
  feed.traded(at(11), 97_000, 'coinbase_spot');
  expect(feed.value('coinbase_spot', at(11))).toBeNull();
  pairs(feed, { fromSecond: 12, count: 4, basis: 0 });
  expect(feed.value('binance_spot', at(16))).toBeNull();
});

test('a relayed point may be a minute late: the trades of 64 seconds are kept, and no older one is used', () => {
  const late = (count: number) => {
    const feed = new FeedBasis();
    for (let second = 0; second < count; second++) feed.traded(at(second), 97_000 + second, 'binance_spot');
    for (let second = 0; second < 5; second++)
      feed.relayed(at(second + 1), (97_000 + second) * Math.exp(BASIS_POINT));
    return feed.value('binance_spot', at(5));
  };
  expect(late(64)).toBeCloseTo(BASIS_POINT, 12);
  expect(late(65)).toBeNull();
});

test('the newest of many pairs counts a thirtieth', () => {
  const feed = new FeedBasis();
  pairs(feed, { fromSecond: 0, count: 60, basis: 0 });
  pairs(feed, { fromSecond: 60, count: 1, basis: 3 * BASIS_POINT });
  expect(feed.value('binance_spot', at(61))).toBeCloseTo(0.1 * BASIS_POINT, 12);
});

test('a relayed point is not compared with a trade of the exchange used before', () => {
  const feed = new FeedBasis();
  for (let second = 0; second < 9; second++) feed.traded(at(second), 97_000, 'binance_spot');
  feed.traded(at(9), 97_000, 'coinbase_spot');
  for (let second = 1; second < 9; second++) feed.relayed(at(second), 97_000);
  expect(feed.value('coinbase_spot', at(9))).toBeNull();
});
