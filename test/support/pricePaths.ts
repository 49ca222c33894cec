import { sigmaPerSecond } from '../../src/core/pricing/probability.ts';
import { VolatilityEstimator } from '../../src/core/pricing/volatilityEstimator.ts';
import type { Random } from '../../src/core/random.ts';
import type { Bar } from '../reference/rangeVariance.ts';

const BASIS_POINT = 1e-4;

interface Simulated {
  readonly strike: number;
  readonly probability: number;
  /**
   * Standard error for this number of independent paths. Mirror images do not raise it; near the middle they lower it a
   * lot.
   */
  readonly standardError: number;
}

/**
 * P(mean of the final `twapSeconds` >= strike), from paths of 1 s steps from a price of 1, each path run with its
 * mirror image. The mean of a step between its two ends is drawn as well, so that the mean is that of the whole path
 * and not of its points.
 */
export function simulateTwap(
  window: {
    secondsLeft: number;
    twapSeconds: number;
    sigma: number;
    insideMean: number;
    strikes: readonly number[];
  },
  { pairs, random }: { pairs: number; random: Random },
): Simulated[] {
  const { secondsLeft, twapSeconds, sigma, insideMean, strikes } = window;
  const ahead = Math.max(0, secondsLeft - twapSeconds);
  const steps = Math.min(secondsLeft, twapSeconds);
  const inside = twapSeconds - steps;
  const ups = strikes.map(() => 0);
  for (let pair = 0; pair < pairs; pair++) {
    let [plus, minus] = [1, 1];
    for (let i = 0; i < ahead; i++) {
      const move = sigma * random.normal();
      plus *= 1 + move;
      minus *= 1 - move;
    }
    let [plusSum, minusSum] = [0, 0];
    for (let i = 0; i < steps; i++) {
      const move = sigma * random.normal();
      plusSum += plus * (1 + move / 2);
      minusSum += minus * (1 - move / 2);
      plus *= 1 + move;
      minus *= 1 - move;
    }
    const between = sigma * Math.sqrt(steps / 12) * random.normal();
    const plusMean = (inside * insideMean + plusSum + between) / twapSeconds;
    const minusMean = (inside * insideMean + minusSum - between) / twapSeconds;
    strikes.forEach((strike, at) => {
      ups[at] = (ups[at] as number) + (plusMean >= strike ? 1 : 0) + (minusMean >= strike ? 1 : 0);
    });
  }
  const paths = 2 * pairs;
  return strikes.map((strike, at) => {
    const probability = (ups[at] as number) / paths;
    return { strike, probability, standardError: Math.sqrt((probability * (1 - probability)) / paths) };
  });
}

/** Prices per second with the given volatility, each with its own observation noise. */
export function noisyPrices(
  { seconds, sigmaAnnual, noiseBp }: { seconds: number; sigmaAnnual: number; noiseBp: number },
  random: Random,
): number[] {
  const sigma = sigmaPerSecond(sigmaAnnual);
  const prices: number[] = [];
  let log = 0;
  for (let i = 0; i < seconds; i++) {
    prices.push(100 * Math.exp(log + noiseBp * BASIS_POINT * random.normal()));
    log += sigma * random.normal();
  }
  return prices;
}

/** Mean and deviation of estimated over true volatility, over `rounds` runs with `seconds` known returns. */
export function sigmaRatio(
  asked: { windowSeconds: number; seconds: number; noiseBp: number; rounds: number },
  random: Random,
): { mean: number; deviation: number; unknown: number } {
  const sigmaAnnual = 0.5;
  const ratios: number[] = [];
  let unknown = 0;
  for (let round = 0; round < asked.rounds; round++) {
    const estimator = new VolatilityEstimator();
    const prices = noisyPrices({ seconds: asked.seconds + 1, sigmaAnnual, noiseBp: asked.noiseBp }, random);
    prices.forEach((price, second) => {
      estimator.push(second * 1_000, price);
    });
    const sigma = estimator.sigmaAnnual(asked.windowSeconds);
    if (sigma === null) unknown++;
    else ratios.push(sigma / sigmaAnnual);
  }
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  const variance = ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / ratios.length;
  return { mean, deviation: Math.sqrt(variance), unknown };
}

/** A bar of variance 1e-4 observed through a number of driftless ticks, opening at 100. */
export function randomBar(ticks: number, random: Random): Bar {
  const step = 0.01 / Math.sqrt(ticks);
  let [log, high, low] = [0, 0, 0];
  for (let i = 0; i < ticks; i++) {
    log += step * random.normal();
    if (log > high) high = log;
    if (log < low) low = log;
  }
  const [open, close] = [100, 100 * Math.exp(log)];
  return { open, high: 100 * Math.exp(high), low: 100 * Math.exp(low), close };
}
