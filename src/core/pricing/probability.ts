/**
 * What a share of Up is worth: the probability that the deciding price ends at or above the strike (a tie is Up).
 * Log prices move without drift, so only the distance to the strike counts, never a trend.
 */
import { normalCdf } from './normal.ts';

/** Crypto trades all day and all year: 365 days of 86,400 s, never 252. */
export const YEAR_SECONDS = 31_536_000;

/** What is known of a window at one moment. */
export interface Outlook {
  /** Price of the underlying now, > 0. */
  readonly spot: number;
  /** Level the outcome is decided against, > 0. */
  readonly strike: number;
  /** Seconds until the deciding moment; at or below 0 the outcome stands. */
  readonly secondsLeft: number;
  /** Volatility of log prices per square root of a second, >= 0. */
  readonly sigma: number;
  /** Length w of the trailing mean that decides, in seconds; 0: the last price alone decides. */
  readonly twapSeconds: number;
  /** Mean price over the part of the final w seconds that has passed; unused before it begins. */
  readonly insideMean: number;
}

/** Volatility per square root of a second from one per square root of a year. */
export function sigmaPerSecond(sigmaAnnual: number): number {
  return sigmaAnnual / Math.sqrt(YEAR_SECONDS);
}

/**
 * P(Up). The last price is lognormal around the price now; a mean of w seconds is taken as lognormal too, around the
 * same price, with the variance of its log to first order: a third of that of its seconds.
 */
export function probabilityUp(outlook: Outlook): number {
  return normalCdf(distanceToStrike(outlook) - deviationAhead(outlook) / 2);
}

/**
 * How far the price stands above the level still needed, in standard deviations of what decides; no drift is in it.
 * Infinite where nothing can change the outcome.
 */
export function distanceToStrike(outlook: Outlook): number {
  const { spot, strike, secondsLeft, twapSeconds, insideMean } = outlook;
  if (secondsLeft <= 0) return sure((twapSeconds > 0 ? insideMean : spot) >= strike);
  const level = levelStillNeeded(outlook);
  if (level <= 0) return Infinity;
  const deviation = deviationAhead(outlook);
  return deviation === 0 ? sure(spot >= level) : Math.log(spot / level) / deviation;
}

/** Standard deviation of the log of what decides, as seen now. */
export function deviationAhead({ secondsLeft, sigma, twapSeconds }: Outlook): number {
  if (secondsLeft <= 0) return 0;
  const seconds = secondsLeft >= twapSeconds ? secondsLeft - (2 * twapSeconds) / 3 : secondsLeft / 3;
  return sigma * Math.sqrt(seconds);
}

/** What the mean of the seconds left has to reach, given those already inside the final average. */
function levelStillNeeded({ strike, secondsLeft, twapSeconds, insideMean }: Outlook): number {
  if (secondsLeft >= twapSeconds) return strike;
  return (twapSeconds * strike - (twapSeconds - secondsLeft) * insideMean) / secondsLeft;
}

function sure(up: boolean): number {
  return up ? Infinity : -Infinity;
}
