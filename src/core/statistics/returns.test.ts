import { describe, expect, test } from 'vitest';
import {
  annualGrowth,
  calmarRatio,
  downsideDeviation,
  maxDrawdownOfResults,
  maxDrawdownOfReturns,
  momentsOf,
  profitFactor,
  sharpeRatio,
  sortinoRatio,
} from './returns.ts';

const DAYS = 252;
const percent = (...values: number[]) => values.map((value) => value / 100);
const MIXED = percent(1, 10, -4, 2, 3, 2, 1, -10);
const LOSING = percent(0, -6, -7, -1, -9, -2, -6, -8, -5);
const RISING = percent(1, 2, 3, 4, 5, 6, 7, 8, 9);

describe('published values', () => {
  test('of mixed returns', () => {
    expect(sharpeRatio(MIXED, DAYS)).toBeCloseTo(1.7238613961706866, 13);
    expect((momentsOf(MIXED)?.deviation ?? 0) * Math.sqrt(DAYS)).toBeCloseTo(0.9136465399704637, 13);
    expect(sortinoRatio(MIXED, DAYS)).toBeCloseTo(2.605531251673693, 13);
    expect(downsideDeviation(MIXED, DAYS)).toBeCloseTo(0.60448325038829653, 13);
    expect(maxDrawdownOfReturns(MIXED)).toBeCloseTo(-0.1, 13);
    expect(profitFactor(MIXED)).toBeCloseTo(1.357142857, 9);
    expect(sharpeRatio(MIXED, 365)).toBeCloseTo(2.0747, 4);
  });

  test('the growth counts each return once; with the point before the first it is the other published value', () => {
    expect(annualGrowth(MIXED, DAYS)).toBeCloseTo(2.3303, 4);
    expect(annualGrowth([0, ...MIXED], DAYS)).toBeCloseTo(1.9135925373194231, 13);
    expect(calmarRatio([0, ...MIXED], DAYS)).toBeCloseTo(19.135925373194233, 11);
  });

  test('of losing returns', () => {
    expect(sharpeRatio(LOSING, DAYS)).toBeCloseTo(-24.406808633910085, 12);
    expect(sortinoRatio(LOSING, DAYS)).toBeCloseTo(-13.532743075043401, 12);
  });

  test('of one low and eight equal returns', () => {
    expect(sharpeRatio(percent(1, 2, ...Array<number>(7).fill(1)), DAYS)).toBeCloseTo(52.915026221291804, 10);
  });
});

test('the moments have the divisor n - 1 for the deviation alone', () => {
  // Deviations -1 (four times) and 4: squares 20, cubes 60, fourth powers 260.
  expect(momentsOf([0, 0, 0, 0, 5])).toEqual({
    ...{ count: 5, mean: 1, deviation: Math.sqrt(5) },
    ...{ skewness: 12 / 8, kurtosis: 52 / 16 },
  });
});

describe('an undefined ratio is null', () => {
  test.each([
    ['no return', []],
    ['one return', [0.1]],
    ['equal returns', percent(1, 1, 1, 1, 1, 1, 1)],
    ['equal losses', percent(-1, -1, -1, -1, -1, -1, -1)],
    // In doubles their mean is 0.10000000000000002.
    ['equal returns that miss their own mean', [0.1, 0.1, 0.1]],
    ['zeros', [0, 0, 0]],
  ])('Sharpe of %s', (_, returns) => {
    expect(sharpeRatio(returns)).toBeNull();
  });

  test('without a loss', () => {
    expect(sortinoRatio(RISING)).toBeNull();
    expect(calmarRatio(RISING, DAYS)).toBeNull();
    expect(profitFactor(RISING)).toBeNull();
  });

  test('Sortino of one return, though it is a loss', () => {
    expect(sortinoRatio([-0.1])).toBeNull();
    expect(sortinoRatio([-0.1, 0])).toBeCloseTo(-0.05 / Math.sqrt(0.005), 12);
  });

  test('without returns', () => {
    expect([downsideDeviation([]), annualGrowth([], DAYS), profitFactor([])]).toEqual([null, null, null]);
  });
});

test('a drawdown of results starts from 0', () => {
  expect(maxDrawdownOfResults([-2, 5, -3, -1, 10])).toBe(-4);
  expect(maxDrawdownOfResults([1, 2])).toBe(0);
  expect(maxDrawdownOfResults([-3, 1])).toBe(-3);
});

test('a drawdown of returns compounds from the highest wealth, the stake itself included', () => {
  expect(maxDrawdownOfReturns([-0.5, 0.5])).toBeCloseTo(-0.5, 12);
  expect(maxDrawdownOfReturns([1, -0.1, -0.1, 0.05])).toBeCloseTo(0.9 * 0.9 - 1, 12);
});
