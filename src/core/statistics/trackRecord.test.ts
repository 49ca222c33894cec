import { describe, expect, test } from 'vitest';
import { normalCdf } from '../pricing/normal.ts';
import { normalQuantile } from './normalQuantile.ts';
import {
  deflatedSharpe,
  expectedMaximum,
  minBacktestYears,
  minTrackRecord,
  probabilisticSharpe,
} from './trackRecord.ts';

const NORMAL = { skewness: 0, kurtosis: 3 };
/** The monthly record of the published example: 24 months, an annual ratio of 1.585. */
const MONTHLY = { sharpe: 1.585 / Math.sqrt(12), count: 24, skewness: -2.448, kurtosis: 10.164 };

test('the quantile inverts the distribution', () => {
  expect(normalQuantile(0.5)).toBeCloseTo(0, 15);
  expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 14);
  for (const p of [1e-300, 1e-12, 0.001, 0.2, 0.5, 0.7, 0.999, 1 - 1e-12]) {
    expect(normalCdf(normalQuantile(p)) / p).toBeCloseTo(1, 10);
  }
  for (const p of [0.25, 2 ** -20, 2 ** -40]) expect(normalQuantile(1 - p)).toBe(-normalQuantile(p));
  for (const outside of [0, 1, -0.5, 1.5, Number.NaN])
    expect(() => normalQuantile(outside)).toThrow(new RangeError(`not inside (0, 1): ${outside}`));
});

describe('published values', () => {
  test('PSR of 2012', () => {
    expect(probabilisticSharpe(MONTHLY, 0)).toBeCloseTo(0.91323430688486, 13);
  });

  test('DSR: 100 trials of variance 0.5 a year against an annual 2.5 over five years', () => {
    const record = { sharpe: 2.5 / Math.sqrt(250), count: 1250, skewness: -3, kurtosis: 10 };
    const sharpeVariance = 0.5 / 250;
    expect(expectedMaximum(100)).toBeCloseTo(2.5306028932016846, 13);
    expect(expectedMaximum(2)).toBeCloseTo(0.5772156649015329 * normalQuantile(1 - 1 / (2 * Math.E)), 13);
    expect(Math.sqrt(sharpeVariance) * expectedMaximum(100)).toBeCloseTo(0.113172, 6);
    expect(deflatedSharpe(record, { trials: 100, sharpeVariance })).toBeCloseTo(0.90039683444939, 13);
    expect(deflatedSharpe(record, { trials: 46, sharpeVariance })).toBeCloseTo(0.950502, 6);
    expect(deflatedSharpe({ ...record, ...NORMAL }, { trials: 88, sharpeVariance })).toBeCloseTo(0.950491, 6);
  });

  test.each([
    ['daily, 2 against 1', 250, 2, 1, NORMAL, 2.7311878],
    ['weekly, 2 against 1', 52, 2, 1, NORMAL, 2.8288336],
    ['monthly, 3 against 2.5', 12, 3, 2.5, { skewness: -0.72, kurtosis: 5.78 }, 27.35292],
  ])('minimum track record, %s', (_, periods, sharpe, benchmark, shape, years) => {
    const root = Math.sqrt(periods);
    const needed = minTrackRecord({ sharpe: sharpe / root, ...shape }, benchmark / root);
    expect((needed as number) / periods).toBeCloseTo(years, 5);
  });

  test('minimum backtest length for 45 trials', () => {
    expect(minBacktestYears(45, 1)).toBeCloseTo(4.998087, 6);
  });
});

test('a record with more gains than a normal one varies less: its variance may be below 1', () => {
  // 1 - 1 x 0.5 + (3 - 1) / 4 x 0.25 = 0.625.
  const record = { sharpe: 0.5, count: 37, skewness: 1, kurtosis: 3 };
  expect(probabilisticSharpe(record, 0.4)).toBeCloseTo(normalCdf((0.1 * 6) / Math.sqrt(0.625)), 13);
  expect(minTrackRecord(record, 0)).toBeCloseTo(1 + 0.625 * (1.6448536269514722 / 0.5) ** 2, 10);
});

test('a higher confidence needs a longer record', () => {
  const needed = minTrackRecord({ sharpe: 0.5, ...NORMAL }, 0, 0.975);
  expect(needed).toBeCloseTo(1 + 1.125 * (1.959963984540054 / 0.5) ** 2, 10);
});

describe('without an answer', () => {
  test('no record length makes a ratio at the benchmark significant', () => {
    expect(minTrackRecord({ sharpe: 0.1, ...NORMAL }, 0.1)).toBeNull();
  });

  test('one return proves nothing, and an impossible shape gives null', () => {
    expect(probabilisticSharpe({ sharpe: 1, count: 1, ...NORMAL }, 0)).toBeNull();
    expect(probabilisticSharpe({ sharpe: 2, count: 50, skewness: 5, kurtosis: 3 }, 0)).toBeNull();
    // 1 - 2 x 1 + 4 / 4: the estimate has no variance.
    expect(probabilisticSharpe({ sharpe: 1, count: 50, skewness: 2, kurtosis: 5 }, 0)).toBeNull();
  });

  test('two returns are enough', () => {
    expect(probabilisticSharpe({ sharpe: 0, count: 2, ...NORMAL }, 0)).toBeCloseTo(0.5, 12);
  });

  test('one trial is not deflated', () => {
    const record = { sharpe: 0.1, count: 100, ...NORMAL };
    expect(deflatedSharpe(record, { trials: 1, sharpeVariance: 1 })).toBe(probabilisticSharpe(record, 0));
  });
});
