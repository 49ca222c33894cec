/**
 * The value of a share of Up: the probability that the deciding price ends at or above the strike (a tie is Up). Log
 * prices move without drift, so only the distance to the strike matters, never a trend.
 */
import { normalCdf } from './normal.ts';

/** Crypto trades all day and all year: 365 days of 86,400 s, never 252. */
export const YEAR_SECONDS = 31_536_000;

/** The inputs for one window at one time. */
export interface Outlook {
  /** Current price of the underlying, > 0. */
  readonly spot: number;
  /** Level the outcome is decided against, > 0. */
  readonly strike: number;
  /** Seconds until the deciding time; at or below 0 the outcome is final. */
  readonly secondsLeft: number;
  /** Volatility of log prices per square root of a second, >= 0. */
  readonly sigma: number;
  /** Length w in seconds of the trailing mean that decides; 0: only the last price decides. */
  readonly twapSeconds: number;
  /** Mean price over the elapsed part of the final w seconds; unused before they begin. */
  readonly insideMean: number;
}

/** Volatility per square root of a second from one per square root of a year. */
export function sigmaPerSecond(sigmaAnnual: number): number {
  return sigmaAnnual / Math.sqrt(YEAR_SECONDS);
}

/**
 * P(Up). The last price is lognormal around the current price. A mean of w seconds is approximated as lognormal around
 * the same price; to first order the variance of its log is a third of that of its seconds.
 */
export function probabilityUp(outlook: Outlook): number {
  return normalCdf(distanceToStrike(outlook) - deviationAhead(outlook) / 2);
}

/**
 * Distance of the price above the level still needed, in standard deviations of the deciding price, without drift.
 * Infinite if nothing can change the outcome.
 */
export function distanceToStrike(outlook: Outlook): number {
  const { spot, strike, secondsLeft, twapSeconds, insideMean } = outlook;
  if (secondsLeft <= 0) return sure((twapSeconds > 0 ? insideMean : spot) >= strike);
  const level = levelStillNeeded(outlook);
  if (level <= 0) return Infinity;
  const deviation = deviationAhead(outlook);
  return deviation === 0 ? sure(spot >= level) : Math.log(spot / level) / deviation;
}

/** Standard deviation of the log of the deciding price, seen from now. */
export function deviationAhead({ secondsLeft, sigma, twapSeconds }: Outlook): number {
  if (secondsLeft <= 0) return 0;
  const seconds = secondsLeft >= twapSeconds ? secondsLeft - (2 * twapSeconds) / 3 : secondsLeft / 3;
  return sigma * Math.sqrt(seconds);
}

/**
 * The level that the mean of the remaining seconds has to reach, given the seconds already inside the final average.
 */
function levelStillNeeded({ strike, secondsLeft, twapSeconds, insideMean }: Outlook): number {
  if (secondsLeft >= twapSeconds) return strike;
  return (twapSeconds * strike - (twapSeconds - secondsLeft) * insideMean) / secondsLeft;
}

function sure(up: boolean): number {
  return up ? Infinity : -Infinity;
}
