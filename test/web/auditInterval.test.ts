import { expect, it } from 'vitest';
import { intervalOf } from '../../web/src/pages/signals/interval.ts';

/** Markets that returned 0.1 and -0.1 in turn, each with this many signals. */
const rowsOf = (markets: number, signals: number) =>
  Array.from({ length: markets * signals }, (_, index) => {
    const market = Math.floor(index / signals);
    return { market_id: `0x${market}`, realized_per_share: market % 2 === 0 ? 0.1 : -0.1 };
  });

it('the interval of 100 markets with a signal each is that of the mean of 100 values', () => {
  // The standard deviation is 0.1 * sqrt(100 / 99), the standard error a tenth of it.
  const half = 0.196 * 0.1 * Math.sqrt(100 / 99);
  const interval = intervalOf(rowsOf(100, 1))!;
  expect(interval.low).toBeCloseTo(-half, 12);
  expect(interval.high).toBeCloseTo(half, 12);
});

it('more signals of the same markets, which share their results, do not narrow the interval', () => {
  const [one, many] = [intervalOf(rowsOf(100, 1))!, intervalOf(rowsOf(100, 7))!];
  expect(many.low).toBeCloseTo(one.low, 12);
  expect(many.high).toBeCloseTo(one.high, 12);
});

it('a market with more signals counts more', () => {
  const heavy = [...rowsOf(30, 1), { market_id: '0x0', realized_per_share: 0.1 }];
  const { low, high } = intervalOf(heavy)!;
  expect((low + high) / 2).toBeCloseTo(0.1 / 31, 12);
  // Sums of the deviations: 0.2 - 2 m in one market, 0.1 - m in 14, -0.1 - m in 15.
  const mean = 0.1 / 31;
  const squares = (0.2 - 2 * mean) ** 2 + 14 * (0.1 - mean) ** 2 + 15 * (0.1 + mean) ** 2;
  expect((high - low) / 2).toBeCloseTo((1.96 * Math.sqrt((30 / 29) * squares)) / 31, 12);
});

it('fewer than 30 markets, or none that has resolved, have no interval', () => {
  expect(intervalOf(rowsOf(29, 5))).toBeNull();
  expect(intervalOf(rowsOf(30, 5))).not.toBeNull();
  const open = rowsOf(100, 1).map((row) => ({ ...row, realized_per_share: null }));
  expect(intervalOf(open)).toBeNull();
  expect(intervalOf([...rowsOf(29, 1), ...open])).toBeNull();
});
