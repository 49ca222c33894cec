import { describe, expect, test } from 'vitest';
import { probabilityUp, sigmaPerSecond } from '../../src/core/pricing/probability.ts';
import { Random } from '../../src/core/random.ts';
import { noisyPrices, randomBar, sigmaRatio, simulateTwap } from '../support/pricePaths.ts';
import {
  type Bar,
  garmanKlass,
  parkinson,
  type RangeEstimator,
  rangeBias,
  rogersSatchell,
} from './rangeVariance.ts';
import { realizedVariance, twoScaleVariance } from './realizedVariance.ts';

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('P(Up) by a trailing mean against a million paths', () => {
  // `npm run bench pricing` has the whole grid.
  test.each([
    [75, 0.6, 1],
    [25, 0.6, 1.0001],
  ])('%i s before the end at sigma %d, mean so far %d', (secondsLeft, sigmaAnnual, insideMean) => {
    const window = { secondsLeft, twapSeconds: 60, sigma: sigmaPerSecond(sigmaAnnual), insideMean };
    const strikes = [0.9997, 0.9999, 0.99995, 1, 1.00005, 1.0001, 1.0003];
    const points = simulateTwap({ ...window, strikes }, { pairs: 500_000, random: new Random('twap') });
    for (const { strike, probability, standardError } of points) {
      const price = probabilityUp({ ...window, spot: 1, strike });
      expect(Math.abs(price - probability) / standardError).toBeLessThan(3);
    }
    // Prices that differ from one strike to the next by many errors: agreement is no accident.
    expect(points[2]?.standardError).toBeLessThan(0.001);
  });
});

describe('sigma from noisy prices of one a second', () => {
  test.each([
    [0, 300, 0.05],
    [1, 300, 0.05],
    [2, 300, 0.05],
    [2, 900, 0.05],
    [0, 60, 0.15],
    [1, 60, 0.15],
    [2, 60, 0.15],
    [2, 150, 0.15],
  ])('with %d bp of noise over one window of %i s is right on average to %d', (noiseBp, seconds, allowed) => {
    const random = new Random(`sigma ${noiseBp} ${seconds}`);
    const { mean, unknown } = sigmaRatio({ windowSeconds: seconds, seconds, noiseBp, rounds: 400 }, random);
    expect(unknown).toBe(0);
    expect(Math.abs(mean - 1)).toBeLessThan(allowed);
  });

  test('two scales read 0.93 to 1 of the variance where every difference counted reads three times it', () => {
    const random = new Random('two scales');
    const runs = Array.from({ length: 400 }, () =>
      noisyPrices({ seconds: 900, sigmaAnnual: 0.5, noiseBp: 1 }, random),
    );
    const variance = sigmaPerSecond(0.5) ** 2 * 899;
    const twoScale = average(runs.map((prices) => twoScaleVariance(prices, { slowLag: 30, fastLag: 1 })));
    expect(twoScale / variance).toBeGreaterThan(0.93);
    expect(twoScale / variance).toBeLessThan(1);
    expect(average(runs.map(realizedVariance)) / variance).toBeGreaterThan(3);
  });
});

describe('variance from ranges', () => {
  const estimators: readonly [RangeEstimator, (bar: Bar) => number][] = [
    ['parkinson', parkinson],
    ['garman_klass', garmanKlass],
    ['rogers_satchell', rogersSatchell],
  ];
  const TRUE_VARIANCE = 1e-4;

  test.each([
    [60, 20_000],
    [300, 12_000],
    [900, 4_000],
  ])('through %i ticks is right to 2 % once the missed extremes are put back', (ticks, count) => {
    const random = new Random(`bars ${ticks}`);
    const bars = Array.from({ length: count }, () => randomBar(ticks, random));
    for (const [name, estimator] of estimators) {
      const reading = average(bars.map(estimator)) / TRUE_VARIANCE;
      expect(reading).toBeLessThan(0.97);
      expect(Math.abs(reading / rangeBias(name, ticks) - 1)).toBeLessThan(0.02);
    }
  });

  test('is 4.9, 7.4 and 6 times as efficient as closes alone', () => {
    const random = new Random('efficiency');
    const bars = Array.from({ length: 6_000 }, () => randomBar(5_000, random));
    const spread = (estimator: (bar: Bar) => number) => {
      const values = bars.map(estimator);
      const middle = average(values);
      return average(values.map((value) => (value - middle) ** 2));
    };
    const closes = spread(({ open, close }) => Math.log(close / open) ** 2);
    const published = [4.9, 7.4, 6];
    estimators.forEach(([, estimator], at) => {
      // Twelve per cent: what so few bars still scatter by.
      expect(Math.abs(closes / spread(estimator) / (published[at] as number) - 1)).toBeLessThan(0.12);
    });
  });
});
