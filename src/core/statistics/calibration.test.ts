import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calibrationScores, chanceEce, type Forecast, LOG_LOSS_CLIP, sumForecasts } from './calibration.ts';

/** Forecasts from probabilities and outcomes of 0 and 1. */
function forecasts(probabilities: readonly number[], outcomes: readonly number[]): Forecast[] {
  return probabilities.map((probability, i) => ({ probability, happened: outcomes[i] === 1 }));
}

function groupBy(all: readonly Forecast[], key: (forecast: Forecast) => number): Forecast[][] {
  const groups = new Map<number, Forecast[]>();
  for (const forecast of all) groups.set(key(forecast), [...(groups.get(key(forecast)) ?? []), forecast]);
  return [...groups.values()];
}

const scoresBy = (all: readonly Forecast[], key: (forecast: Forecast) => number) =>
  calibrationScores(groupBy(all, key).map(sumForecasts))!;
const byValue = ({ probability }: Forecast) => probability;
const inBins =
  (bins: number) =>
  ({ probability }: Forecast) =>
    Math.min(Math.floor(probability * bins), bins - 1);

// The data of scikit-learn's calibration_curve example.
const CURVE = forecasts([0.1, 0.2, 0.3, 0.4, 0.65, 0.7, 0.8, 0.9, 1], [0, 0, 0, 0, 1, 1, 1, 1, 1]);

describe('published figures', () => {
  test('Brier score (scikit-learn, brier_score_loss)', () => {
    const scores = scoresBy(forecasts([0.1, 0.9, 0.8, 0.3], [0, 1, 1, 0]), byValue);
    expect(scores.brierScore).toBeCloseTo(0.0375, 12);
  });

  test('log loss (scikit-learn, log_loss)', () => {
    const scores = scoresBy(forecasts([0.9, 0.1, 0.2, 0.65], [1, 0, 0, 1]), byValue);
    expect(scores.logLoss.toFixed(5)).toBe('0.21616');
  });

  test('reliability curve in three bins (scikit-learn, calibration_curve)', () => {
    const sums = groupBy(CURVE, inBins(3)).map(sumForecasts);
    const observed = sums.map(({ happened, count }) => happened / count);
    const mean = sums.map(({ probability, count }) => Number((probability / count).toFixed(12)));
    expect({ observed, mean }).toEqual({ observed: [0, 0.5, 1], mean: [0.2, 0.525, 0.85] });
  });

  test('expected calibration error and Brier score of the same data', () => {
    const scores = scoresBy(CURVE, inBins(3));
    expect(scores.ece.toFixed(6)).toBe('0.138889');
    expect(scores.brierScore).toBeCloseTo(0.0625, 12);
  });

  test('Murphy decomposition by distinct probabilities', () => {
    const given = [0.2, 0.2, 0.2, 0.2, 0.6, 0.6, 0.6, 0.6, 0.9, 0.9];
    const scores = scoresBy(forecasts(given, [0, 0, 1, 0, 1, 1, 1, 0, 1, 1]), byValue);
    expect(scores.reliability).toBeCloseTo(0.012, 12);
    expect(scores.resolution).toBeCloseTo(0.09, 12);
    expect(scores.uncertainty).toBeCloseTo(0.24, 12);
    expect(scores.brierScore).toBeCloseTo(0.162, 12);
  });
});

const probability = fc.integer({ min: 0, max: 20_000 }).map((steps) => steps / 20_000);
const anyForecasts = fc.array(fc.record({ probability, happened: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
});

describe('identities', () => {
  test('the Brier score is reliability - resolution + uncertainty if grouped by distinct probabilities', () => {
    fc.assert(
      fc.property(anyForecasts, (all) => {
        const { brierScore, reliability, resolution, uncertainty } = scoresBy(all, byValue);
        expect(reliability - resolution + uncertainty).toBeCloseTo(brierScore, 12);
      }),
    );
  });

  test('in bins the two terms inside the bins make up the difference', () => {
    fc.assert(
      fc.property(anyForecasts, fc.integer({ min: 1, max: 50 }), (all, bins) => {
        const groups = groupBy(all, inBins(bins));
        const { brierScore, reliability, resolution, uncertainty } = calibrationScores(
          groups.map(sumForecasts),
        )!;
        let variance = 0;
        let covariance = 0;
        for (const group of groups) {
          const mean = group.reduce((sum, forecast) => sum + forecast.probability, 0) / group.length;
          const observed = group.filter(({ happened }) => happened).length / group.length;
          for (const { probability: given, happened } of group) {
            variance += (given - mean) ** 2 / all.length;
            covariance += ((given - mean) * (Number(happened) - observed)) / all.length;
          }
        }
        expect(reliability - resolution + uncertainty + variance - 2 * covariance).toBeCloseTo(
          brierScore,
          12,
        );
      }),
    );
  });

  test('every score keeps its bounds', () => {
    fc.assert(
      fc.property(anyForecasts, fc.integer({ min: 1, max: 50 }), (all, bins) => {
        const scores = scoresBy(all, inBins(bins));
        for (const score of Object.values(scores)) expect(score).toBeGreaterThanOrEqual(0);
        expect(scores.brierScore).toBeLessThanOrEqual(1);
        expect(scores.logLoss).toBeLessThanOrEqual(-Math.log(LOG_LOSS_CLIP));
        expect(scores.ece ** 2).toBeLessThanOrEqual(scores.reliability + 1e-12);
        expect(scores.uncertainty).toBeLessThanOrEqual(0.25);
        expect(scores.resolution).toBeLessThanOrEqual(scores.uncertainty + 1e-12);
      }),
    );
  });

  test('sums of parts equal sums of the whole: splitting forecasts over groups of one bin changes nothing', () => {
    fc.assert(
      fc.property(anyForecasts, (all) => {
        const whole = calibrationScores([sumForecasts(all)])!;
        const single = calibrationScores(all.map((forecast) => sumForecasts([forecast])))!;
        expect(single.brierScore).toBeCloseTo(whole.brierScore, 12);
        expect(single.logLoss).toBeCloseTo(whole.logLoss, 12);
      }),
    );
  });
});

describe('edges', () => {
  test('over nothing there are no scores', () => {
    expect(calibrationScores([])).toBeNull();
    expect(calibrationScores([sumForecasts([])])).toBeNull();
  });

  test('empty groups are ignored', () => {
    const sums = sumForecasts(CURVE);
    expect(chanceEce([sumForecasts([]), sums])).toEqual(chanceEce([sums]));
    expect(calibrationScores([sumForecasts([]), sums])).toEqual(calibrationScores([sums]));
  });

  test('a certain forecast that failed costs a bounded log loss, one that was right nearly nothing', () => {
    expect(sumForecasts([{ probability: 1, happened: false }]).logLoss).toBe(-Math.log(LOG_LOSS_CLIP));
    expect(sumForecasts([{ probability: 0, happened: false }]).logLoss).toBe(-Math.log(1 - LOG_LOSS_CLIP));
  });

  test('the finest mid above 0 is not clipped', () => {
    const finest = [{ probability: 0.00005, happened: true }];
    expect(sumForecasts(finest).logLoss).toBeCloseTo(Math.log(20_000), 12);
    expect(sumForecasts([{ probability: 0.00004, happened: true }])).toMatchObject({
      logLoss: sumForecasts(finest).logLoss,
    });
  });

  test('perfect and worst forecasts reach the ends of the Brier score', () => {
    expect(scoresBy(forecasts([0, 1], [0, 1]), byValue)).toMatchObject({
      brierScore: 0,
      reliability: 0,
      ece: 0,
    });
    expect(scoresBy(forecasts([1, 0], [0, 1]), byValue)).toMatchObject({
      brierScore: 1,
      reliability: 1,
      ece: 1,
    });
  });
});

describe('the calibration error of calibrated forecasts', () => {
  /** Ten buckets of uniform probabilities. */
  const uniform = (count: number) =>
    Array.from({ length: 10 }, (_, bucket) => ({
      ...{ count: count / 10, probability: ((bucket + 0.5) / 10) * (count / 10) },
      ...{ happened: 0, squaredError: 0, logLoss: 0 },
    }));

  // Means as simulated for QUANT 2.4, to its digits.
  test.each([
    [200, 0.07, 0.099],
    [1_000, 0.032, 0.045],
    [10_000, 0.01, 0.014],
    [100_000, 0.0032, 0.0045],
  ])('of %i markets is %d on average and below %d in 95 of 100 samples', (count, mean, p95) => {
    const chance = chanceEce(uniform(count))!;
    expect(chance.mean / mean).toBeCloseTo(1, 1);
    expect(chance.p95 / p95).toBeCloseTo(1, 1);
  });

  test('is the mean over all outcomes, each as often as its probability says', () => {
    // 1 - p happens p of the time and the other way round: 2 p (1 - p) for one forecast.
    expect(chanceEce([sumForecasts(forecasts([0.05], [0]))])?.mean).toBeCloseTo(2 * 0.05 * 0.95, 12);
    // Of two forecasts of 0.5 none, one or both happen: |0 - 1| / 2 in half of the cases.
    expect(chanceEce([sumForecasts(forecasts([0.5, 0.5], [0, 0]))])?.mean).toBeCloseTo(0.25, 12);
    // Three of 1/3: 8, 12, 6 and 1 of 27 cases have 0, 1, 2 and 3.
    const thirds = sumForecasts(forecasts([1 / 3, 1 / 3, 1 / 3], [0, 0, 0]));
    expect(chanceEce([thirds])?.mean).toBeCloseTo((8 + 6 + 2) / 27 / 3, 12);
  });

  test('is below its bound in 95 of 100 samples: the mean and 1.645 deviations of the sum', () => {
    // |0 - p| and |1 - p| have the mean square p (1 - p), as the forecast itself.
    const variance = (p: number) => p * (1 - p) - (2 * p * (1 - p)) ** 2;
    const groups = [sumForecasts(forecasts([0.05], [0])), sumForecasts(forecasts([0.7], [1]))];
    const mean = 2 * 0.05 * 0.95 + 2 * 0.7 * 0.3;
    const deviation = Math.sqrt(variance(0.05) + variance(0.7));
    expect(chanceEce(groups)?.mean).toBeCloseTo(mean / 2, 12);
    expect(chanceEce(groups)?.p95).toBeCloseTo((mean + 1.6448536269514722 * deviation) / 2, 12);
  });

  test('is 0 for certain forecasts and null without any', () => {
    expect(chanceEce([sumForecasts(forecasts([0, 0], [0, 0])), sumForecasts(forecasts([1], [1]))])).toEqual({
      mean: 0,
      p95: 0,
    });
    expect(chanceEce([sumForecasts([])])).toBeNull();
  });
});
