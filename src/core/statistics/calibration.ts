/**
 * Scores for the calibration of yes-or-no probabilities. Everything is computed from sums of groups of forecasts, so
 * that a store can aggregate millions of them and return only the groups.
 */

import { logGamma } from './student.ts';

/** A probability forecast, and whether the event happened. */
export interface Forecast {
  readonly probability: number;
  readonly happened: boolean;
}

/** The sums over a group of forecasts. */
export interface ForecastSums {
  readonly count: number;
  /** Number of forecasts whose event happened. */
  readonly happened: number;
  readonly probability: number;
  /** Of (probability - outcome)^2, the outcome being 1 or 0. */
  readonly squaredError: number;
  /** Of -ln of the probability given to the actual outcome, after clipping. */
  readonly logLoss: number;
}

/** Means over all forecasts; lower is better for all but `resolution`. `uncertainty` depends only on the outcomes. */
export interface CalibrationScores {
  readonly brierScore: number;
  /** In nats. */
  readonly logLoss: number;
  readonly ece: number;
  readonly reliability: number;
  readonly resolution: number;
  readonly uncertainty: number;
}

/**
 * Probabilities are clipped this far inside 0 and 1 before their logarithm: a single certain forecast that failed would
 * otherwise make the whole mean infinite. This is the finest step of a mid price (half a tick of 1/10000 USDC), so no
 * mid strictly between 0 and 1 is changed.
 */
export const LOG_LOSS_CLIP = 1 / 20_000;

export function sumForecasts(forecasts: Iterable<Forecast>): ForecastSums {
  const sums = { count: 0, happened: 0, probability: 0, squaredError: 0, logLoss: 0 };
  for (const { probability, happened } of forecasts) {
    const given = happened ? probability : 1 - probability;
    sums.count += 1;
    sums.happened += happened ? 1 : 0;
    sums.probability += probability;
    sums.squaredError += (1 - given) ** 2;
    sums.logLoss -= Math.log(Math.min(Math.max(given, LOG_LOSS_CLIP), 1 - LOG_LOSS_CLIP));
  }
  return sums;
}

/**
 * Brier score, log loss, expected calibration error and Murphy's decomposition by the given groups.
 * `brierScore = reliability - resolution + uncertainty` is exact only if every group has one distinct probability. With
 * wider groups the right side also has the variance of the probabilities inside a group, minus twice their covariance
 * with the outcomes (Stephenson et al. 2008).
 * @param groups Disjoint; empty ones are ignored.
 * @returns Null over no forecasts.
 * @see Murphy 1973, https://doi.org/10.1175/1520-0450(1973)012%3C0595:ANVPOT%3E2.0.CO;2
 * @see Stephenson, Coelho, Jolliffe 2008, https://doi.org/10.1175/2007WAF2006116.1
 */
export function calibrationScores(groups: readonly ForecastSums[]): CalibrationScores | null {
  const filled = groups.filter((group) => group.count > 0);
  const count = sum(filled, (group) => group.count);
  if (count === 0) return null;
  const baseRate = sum(filled, (group) => group.happened) / count;
  return {
    brierScore: sum(filled, (group) => group.squaredError) / count,
    logLoss: sum(filled, (group) => group.logLoss) / count,
    ece: sum(filled, (group) => Math.abs(group.probability - group.happened)) / count,
    reliability: sum(filled, (group) => (group.probability - group.happened) ** 2 / group.count) / count,
    resolution: sum(filled, (group) => group.count * (group.happened / group.count - baseRate) ** 2) / count,
    uncertainty: baseRate * (1 - baseRate),
  };
}

/** The 95 % point of the standard normal distribution, for a one-sided bound. */
const Z_95_ONE_SIDED = 1.6448536269514722;

/**
 * The expected calibration error that chance alone gives: if each event happens as often as its forecast says, and
 * independently of the others. The error of a finite sample is never 0, so `ece` alone says little.
 * @param groups As of `calibrationScores`. The forecasts of a group are treated as equal to their mean, which makes the
 * figures slightly too high in wide groups.
 * @returns The mean, and the bound that 95 of 100 samples stay below; null over no forecasts.
 * @see Diaconis, Zabell 1991, https://doi.org/10.1214/ss/1177011699 (de Moivre's mean deviation of a binomial count)
 */
export function chanceEce(
  groups: readonly Pick<ForecastSums, 'count' | 'probability'>[],
): { readonly mean: number; readonly p95: number } | null {
  let [count, mean, variance] = [0, 0, 0];
  for (const group of groups) {
    if (group.count === 0) continue;
    const share = group.probability / group.count;
    const deviation = meanDeviation(group.count, share);
    count += group.count;
    mean += deviation;
    variance += Math.max(0, group.count * share * (1 - share) - deviation ** 2);
  }
  if (count === 0) return null;
  return { mean: mean / count, p95: (mean + Z_95_ONE_SIDED * Math.sqrt(variance)) / count };
}

/** Mean distance of a binomial count from its expectation. */
function meanDeviation(trials: number, share: number): number {
  if (share <= 0 || share >= 1) return 0;
  const above = Math.floor(trials * share) + 1;
  if (above > trials) return 0;
  const ways = logGamma(trials + 1) - logGamma(above + 1) - logGamma(trials - above + 1);
  const chance = ways + above * Math.log(share) + (trials - above + 1) * Math.log1p(-share);
  return 2 * above * Math.exp(chance);
}

function sum(groups: readonly ForecastSums[], of: (group: ForecastSums) => number): number {
  return groups.reduce((total, group) => total + of(group), 0);
}
