import { describe, expect, test } from 'vitest';
import { twoScaleVariance } from '../../../test/reference/realizedVariance.ts';
import { noisyPrices } from '../../../test/support/pricePaths.ts';
import { Random } from '../random.ts';
import { YEAR_SECONDS } from './probability.ts';
import { VolatilityEstimator } from './volatilityEstimator.ts';

function fed(prices: readonly number[], startMs = 0): VolatilityEstimator {
  const estimator = new VolatilityEstimator();
  prices.forEach((price, second) => {
    estimator.push(startMs + second * 1_000, price);
  });
  return estimator;
}

function walk(seconds: number, sigmaAnnual = 0.5): number[] {
  return noisyPrices({ seconds, sigmaAnnual, noiseBp: 0 }, new Random(`walk ${seconds} ${sigmaAnnual}`));
}

describe('sigma', () => {
  test('is null until thirty returns are known', () => {
    expect(fed(walk(30)).sigmaAnnual(60)).toBeNull();
    expect(fed(walk(31)).sigmaAnnual(60)).toBeGreaterThan(0);
    expect(new VolatilityEstimator().sigmaAnnual(60)).toBeNull();
  });

  test('of nothing but noise is that of a twentieth of the variance observed', () => {
    const prices = Array.from({ length: 61 }, (_, second) => 97_000 * (second % 2 === 0 ? 1 : 1.0001));
    const observed = Math.log(1.0001) ** 2;
    expect(fed(prices).sigmaAnnual(60)).toBeCloseTo(Math.sqrt((observed / 20) * YEAR_SECONDS), 9);
  });

  test('is null if no price ever moved: that is a dead feed, not a calm market', () => {
    expect(fed(new Array(100).fill(97_000)).sigmaAnnual(60)).toBeNull();
  });

  test.each([
    [299, 5],
    [300, 10],
  ])(
    'over one window of %i s is the two-scale variance with lag %i, corrected for its loss at the ends',
    (size, lag) => {
      const prices = walk(size + 1);
      const slow = (size + 2 - lag) / lag / (size + 1);
      const ends = (size + 1 - lag - slow * size) / (1 - slow);
      const variance = twoScaleVariance(prices, { slowLag: lag, fastLag: 1 });
      const expected = Math.sqrt((variance / ends) * YEAR_SECONDS);
      expect(fed(prices).sigmaAnnual(size)).toBeCloseTo(expected, 12);
    },
  );

  test('weights each window twice as much as the one before it', () => {
    const prices = walk(241);
    const first = fed(prices.slice(0, 121)).sigmaAnnual(120) as number;
    const second = fed(prices.slice(120)).sigmaAnnual(120) as number;
    expect(fed(prices).sigmaAnnual(120)).toBeCloseTo(Math.sqrt((first ** 2 + second ** 2) / 2), 12);
  });

  test('is of the newest windows: older seconds that fill none are left out', () => {
    const prices = walk(300);
    expect(fed(prices).sigmaAnnual(120)).toBeCloseTo(fed(prices.slice(59)).sigmaAnnual(120) as number, 12);
  });

  test('remembers an hour and no more', () => {
    const wild = walk(5_000, 3);
    const calm = walk(3_601, 0.5).map((price) => (price / 100) * (wild.at(-1) as number));
    const estimator = fed([...wild, ...calm]);
    expect(estimator.count).toBe(3_601);
    expect(estimator.sigmaAnnual(3_600)).toBeCloseTo(fed(calm).sigmaAnnual(3_600) as number, 9);
  });

  test('is the same over hours, wherever the record is in memory', () => {
    const prices = walk(20_000);
    const long = new VolatilityEstimator();
    prices.forEach((price, second) => {
      long.push(second * 1_000, price);
      if (second % 997 !== 0 || second < 4_000) return;
      const fresh = fed(prices.slice(second - 3_600, second + 1));
      expect(long.sigmaAnnual(600)).toBeCloseTo(fresh.sigmaAnnual(600) as number, 10);
    });
  });

  test('never treats more than 95 % of the observed variance as noise', () => {
    const random = new Random('pure noise');
    const prices = noisyPrices({ seconds: 61, sigmaAnnual: 0, noiseBp: 2 }, random);
    const seen = Math.sqrt(2 * 2e-4 ** 2 * YEAR_SECONDS);
    expect(fed(prices).sigmaAnnual(60)).toBeGreaterThan(0.15 * seen);
  });
});

describe('seconds', () => {
  test('count once, by their last price, and never after they are over', () => {
    const estimator = new VolatilityEstimator();
    const once = new VolatilityEstimator();
    walk(100).forEach((price, second) => {
      expect(estimator.push(second * 1_000, price * 1.01)).toBe(true);
      expect(estimator.push(second * 1_000 + 900, price)).toBe(true);
      if (second > 0) expect(estimator.push(second * 1_000 - 1, 1)).toBe(false);
      once.push(second * 1_000, price);
    });
    expect(estimator.count).toBe(100);
    expect(estimator.sigmaAnnual(60)).toBe(once.sigmaAnnual(60));
  });

  test('without a price repeat the last one', () => {
    const prices = walk(400);
    const sparse = new VolatilityEstimator();
    const held = new VolatilityEstimator();
    let last = prices[0] as number;
    prices.forEach((price, second) => {
      if (second % 3 === 0 || second === 399) {
        last = price;
        sparse.push(second * 1_000, price);
      }
      held.push(second * 1_000, last);
    });
    expect(sparse.count).toBe(400);
    expect(sparse.sigmaAnnual(300)).toBe(held.sigmaAnnual(300));
  });

  test('of a long silence are cut out, with the jump over them', () => {
    const prices = walk(400);
    const broken = new VolatilityEstimator();
    prices.forEach((price, second) => {
      broken.push((second < 200 ? second : second + 10) * 1_000, second < 200 ? price : price * 2);
    });
    expect(broken.count).toBe(400);
    expect(broken.sigmaAnnual(300)).toBeCloseTo(fed(prices).sigmaAnnual(300) as number, 1);
    // Ten seconds are not yet a silence: the doubling counts.
    const jumped = new VolatilityEstimator();
    prices.forEach((price, second) => {
      jumped.push((second < 200 ? second : second + 9) * 1_000, second < 200 ? price : price * 2);
    });
    expect(jumped.sigmaAnnual(300)).toBeGreaterThan(100);
  });

  test('of two silences are each cut out with their own jump', () => {
    const prices = walk(400);
    const broken = new VolatilityEstimator();
    prices.forEach((price, second) => {
      const silences = Math.floor(second / 150);
      broken.push((second + 60 * silences) * 1_000, price * 2 ** silences);
    });
    expect(broken.count).toBe(400);
    // Only the returns over the two silences are missing.
    const [held, after] = [prices.slice(), prices.slice()];
    for (const at of [150, 300]) {
      const jump = (after[at] as number) / (after[at - 1] as number);
      for (let later = at; later < 400; later++) held[later] = (held[later] as number) / jump;
    }
    expect(broken.sigmaAnnual(300)).toBeCloseTo(fed(held).sigmaAnnual(300) as number, 9);
  });

  test('at the newest end still accept a later price after a silence', () => {
    const estimator = fed(walk(100));
    estimator.push(200_000, 500);
    estimator.push(200_500, 500.1);
    estimator.push(201_000, 500.1);
    expect(estimator.sigmaAnnual(60)).toBeLessThan(1);
  });
});
