/**
 * What a share of Up is worth to someone who knows the simulator's volatility. The venue's stand-in quotes
 * round this value, so implied probabilities come out calibrated. Zero drift, lognormal prices.
 */

export const YEAR_SECONDS = 31_536_000;
/** The venue's averaging window since 2026-08: TWAP60. */
export const TWAP_SECONDS = 60;

/** What is known of a window at one moment; sigma is the volatility of log prices per square root of a second. */
export interface Outlook {
  readonly spot: number;
  readonly strike: number;
  readonly secondsLeft: number;
  readonly sigma: number;
}

/** P(spot at the end >= strike): hourly and daily windows, decided by a candle's close. */
export function probabilityBySpot({ spot, strike, secondsLeft, sigma }: Outlook): number {
  if (secondsLeft <= 0) return spot >= strike ? 1 : 0;
  return probabilityAbove(spot / strike, sigma * sigma * secondsLeft);
}

/**
 * P(TWAP60 at the end >= strike).
 * @param insideMean Mean of the seconds already inside the final averaging window; unused before it begins.
 */
export function probabilityByTwap(outlook: Outlook, insideMean: number): number {
  const { spot, strike, secondsLeft, sigma } = outlook;
  if (secondsLeft >= TWAP_SECONDS) {
    // The average of the last minute moves with a third of that minute's variance.
    return probabilityAbove(spot / strike, sigma * sigma * (secondsLeft - (2 * TWAP_SECONDS) / 3));
  }
  if (secondsLeft <= 0) return insideMean >= strike ? 1 : 0;
  const needed = (TWAP_SECONDS * strike - (TWAP_SECONDS - secondsLeft) * insideMean) / secondsLeft;
  if (needed <= 0) return 1;
  return probabilityAbove(spot / needed, (sigma * sigma * secondsLeft) / 3);
}

/** @param ratio Price over level. @param variance Of the log price that remains. */
function probabilityAbove(ratio: number, variance: number): number {
  const deviation = Math.sqrt(variance);
  if (deviation === 0) return ratio >= 1 ? 1 : 0;
  return normalCdf(Math.log(ratio) / deviation - deviation / 2);
}

/** Standard normal distribution function; absolute error below 1e-7 (Abramowitz and Stegun 26.2.17). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = 0.3989422804014327 * Math.exp((-x * x) / 2) * series;
  return x >= 0 ? 1 - tail : tail;
}
