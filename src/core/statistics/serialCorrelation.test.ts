import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { sharpeRatio } from './returns.ts';
import { dependenceLength, scaledSharpe } from './serialCorrelation.ts';

/** Returns that each keep a share of the previous one. */
function correlated(seed: string, { count, share }: { count: number; share: number }): number[] {
  const random = new Random(seed);
  let before = 0;
  return Array.from({ length: count }, () => {
    before = share * before + random.normal();
    return 0.1 + before;
  });
}

/** Ratio of a year of 10,000 markets to the root of 10,000 times the ratio of one, mean of 20 series. */
function correction(share: number): number {
  let sum = 0;
  for (let seed = 0; seed < 20; seed++) {
    const returns = correlated(`correlated ${share} ${seed}`, { count: 8_000, share });
    sum += (scaledSharpe(returns, 10_000) as number) / (sharpeRatio(returns, 10_000) as number);
  }
  return sum / 20;
}

describe('the Sharpe ratio of many returns together', () => {
  test('counts the longest lag too: 2, 0, 0, 2 have rho -1/4 and -1/2', () => {
    // Deviations 1, -1, -1, 1 with squares 4; weights 2/3 and 1/3 over 12 returns.
    const variance = 12 + 2 * 11 * (2 / 3) * (-1 / 4) + 2 * 10 * (1 / 3) * (-1 / 2);
    expect(variance).toBeCloseTo(5, 12);
    expect(scaledSharpe([2, 0, 0, 2], 12)).toBeCloseTo((1 / Math.sqrt(4 / 3)) * (12 / Math.sqrt(5)), 12);
  });

  test('equals the formula by hand: 1, 0, 2, 1 have rho -1/2 and 0', () => {
    // Mean 1, squares 2, products at lag 1: 0 + (-1)(1) + 0 = -1, so rho is -1/2; ratio 1 / sqrt(2/3).
    expect(dependenceLength(4)).toBe(2);
    // Two lags: weights 2/3 and 1/3, rho(2) = (0)(1) + (-1)(0) = 0.
    const variance = 12 + 2 * 11 * (2 / 3) * -0.5;
    expect(scaledSharpe([1, 0, 2, 1], 12)).toBeCloseTo(
      (1 / Math.sqrt(2 / 3)) * (12 / Math.sqrt(variance)),
      12,
    );
  });

  test('grows with the root of their number if returns are independent', () => {
    expect(Math.abs(correction(0) - 1)).toBeLessThan(0.02);
  });

  test.each([
    ['falls', 0.3, Math.sqrt(0.7 / 1.3)],
    ['falls', 0.5, Math.sqrt(0.5 / 1.5)],
    ['rises', -0.3, Math.sqrt(1.3 / 0.7)],
  ])('%s if a return keeps %d of the previous one, by Lo’s formula', (_, share, exact) => {
    expect(Math.abs(correction(share) / exact - 1)).toBeLessThan(0.08);
  });

  test('over one return is its own ratio, whatever the correlation with its neighbours', () => {
    const returns = correlated('one', { count: 50, share: 0.5 });
    expect(scaledSharpe(returns, 1)).toBeCloseTo(sharpeRatio(returns) as number, 12);
  });

  test('of equal returns, or of a single one, is null', () => {
    expect([scaledSharpe([0.1, 0.1, 0.1], 100), scaledSharpe([0.1], 100), scaledSharpe([], 100)]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

test('the length of dependence is the cube root of the number of returns', () => {
  expect([0, 1, 2, 27, 30, 64, 100, 1_000].map(dependenceLength)).toEqual([1, 1, 1, 3, 3, 4, 5, 10]);
});
