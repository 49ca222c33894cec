import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { resultIntervals, type TradedMarket } from './bootstrap.ts';

function markets(seed: string, { count, alike = 1 }: { count: number; alike?: number }): TradedMarket[] {
  const random = new Random(seed);
  let pnl = 0;
  return Array.from({ length: count }, (_, at) => {
    if (at % alike === 0) pnl = random.normal();
    return { pnl, trades: 1, won: Number(pnl > 0) };
  });
}

const draws = () => new Random('draws');

describe('the intervals of a result', () => {
  test('repeat exactly with the same draws, and change with others', () => {
    const traded = markets('repeat', { count: 80 });
    const first = resultIntervals(traded, draws());
    expect(resultIntervals(traded, draws())).toEqual(first);
    expect(resultIntervals(traded, new Random('others'))).not.toEqual(first);
  });

  test('contain the figures they are about', () => {
    const traded = markets('hold', { count: 80 });
    const total = traded.reduce((sum, { pnl }) => sum + pnl, 0);
    const won = traded.filter((market) => market.won).length / 80;
    const intervals = resultIntervals(traded, draws());
    expect(intervals?.totalPnl.low).toBeLessThan(total);
    expect(intervals?.totalPnl.high).toBeGreaterThan(total);
    expect(intervals?.winRate.low).toBeLessThan(won);
    expect(intervals?.winRate.high).toBeGreaterThan(won);
    expect(intervals?.sharpePerMarket?.low).toBeLessThan(intervals?.sharpePerMarket?.high as number);
  });

  test('have the theoretical width for many independent markets', () => {
    const intervals = resultIntervals(markets('wide', { count: 4_000 }), draws());
    const { low, high } = intervals?.totalPnl ?? { low: 0, high: 0 };
    expect(Math.abs((high - low) / (2 * 1.96 * Math.sqrt(4_000)) - 1)).toBeLessThan(0.08);
  });

  test('widen if neighbours end alike: five alike prove as much as one', () => {
    const width = (alike: number) => {
      const { low, high } = resultIntervals(markets('alike', { count: 4_000, alike }), draws())?.totalPnl ?? {
        low: 0,
        high: 0,
      };
      return high - low;
    };
    expect(width(5) / width(1)).toBeGreaterThan(1.8);
  });

  test('count every trade of a market for the win rate', () => {
    const traded = markets('many', { count: 40 }).map((market) => ({ ...market, trades: 4, won: 1 }));
    expect(resultIntervals(traded, draws())?.winRate).toEqual({ low: 0.25, high: 0.25 });
  });

  test('draw as many markets as there are: of blocks of three, the eleventh gives one of 31', () => {
    const traded = Array.from({ length: 31 }, (_, at) => ({ pnl: Number(at === 2), trades: 1, won: 0 }));
    const intervals = resultIntervals(traded, { below: () => 0 });
    expect(intervals?.totalPnl.low).toBeCloseTo(10, 9);
    expect(intervals?.totalPnl.high).toBeCloseTo(10, 9);
  });

  // Blocks of three; for 30 markets the quantile of 14 degrees of freedom is 2.1448, widened by the root of 30 / 27.
  test.each([
    [22, 30],
    [29, 41],
  ])(
    'leave out as many resamples as Student’s distribution says: %i on each side for %i markets',
    (left, count) => {
      const traded = markets('exact', { count });
      const random = draws();
      const totals = Array.from({ length: 1_999 }, () => {
        let total = 0;
        for (let taken = 0; taken < count; taken += 3) {
          const from = random.below(count);
          const to = from + Math.min(3, count - taken);
          for (let at = from; at < to; at++) total += traded[at % count]?.pnl ?? 0;
        }
        return total;
      }).sort((a, b) => a - b);
      const intervals = resultIntervals(traded, draws());
      expect(intervals?.totalPnl.low).toBeCloseTo(totals[left] as number, 9);
      expect(intervals?.totalPnl.high).toBeCloseTo(totals[1_998 - left] as number, 9);
    },
  );

  test('have the Sharpe ratio of the drawn results', () => {
    const traded = markets('ratio', { count: 31 });
    const drawn = Array.from({ length: 31 }, (_, at) => traded[at % 3]?.pnl ?? 0);
    const mean = drawn.reduce((sum, pnl) => sum + pnl, 0) / 31;
    const variance = drawn.reduce((sum, pnl) => sum + (pnl - mean) ** 2, 0) / 30;
    const { low = 0, high = 0 } = resultIntervals(traded, { below: () => 0 })?.sharpePerMarket ?? {};
    expect(low).toBeCloseTo(mean / Math.sqrt(variance), 9);
    expect(high).toBe(low);
  });

  test.each([0.3, -0.3])('have no Sharpe interval if one bound is of equal results of %d', (pnl) => {
    const traded = Array.from({ length: 40 }, (_, at) => ({ pnl: at === 7 ? 0.1 : pnl, trades: 1, won: 0 }));
    expect(resultIntervals(traded, draws())?.sharpePerMarket).toBeNull();
  });

  test('are null below 30 markets', () => {
    expect(resultIntervals(markets('few', { count: 29 }), draws())).toBeNull();
    expect(resultIntervals(markets('few', { count: 30 }), draws())).not.toBeNull();
  });

  test('have no Sharpe interval for equal results', () => {
    const equal = Array.from({ length: 40 }, () => ({ pnl: 0.3, trades: 1, won: 1 }));
    const intervals = resultIntervals(equal, draws());
    expect(intervals?.sharpePerMarket).toBeNull();
    expect(intervals?.totalPnl.low).toBeCloseTo(12, 9);
    expect(intervals?.totalPnl.high).toBeCloseTo(12, 9);
  });
});
