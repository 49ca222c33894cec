/** The 97.5 % point of the standard normal distribution, for 95 % intervals. */
export const Z_95 = 1.959963984540054;

/** Bounds of a share, 0 <= low <= high <= 1. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The Wilson score interval of a share at 95 %. Unlike the textbook interval it stays inside [0, 1] and keeps its
 * coverage if few or nearly all of the trials succeeded.
 * @param successes 0..trials.
 * @returns Null over no trials.
 * @see Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953; figures to check by: Newcombe 1998, Table I,
 * https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C857::AID-SIM777%3E3.0.CO;2-E
 */
export function wilsonInterval({
  successes,
  trials,
}: {
  successes: number;
  trials: number;
}): Interval | null {
  if (trials === 0) return null;
  const share = successes / trials;
  const weight = Z_95 ** 2 / trials;
  const centre = share + weight / 2;
  const half = Math.sqrt(weight * share * (1 - share) + weight ** 2 / 4);
  return {
    // Both roots are exact at the ends; computed, they would miss 0 and 1 by a rounding error.
    low: successes === 0 ? 0 : (centre - half) / (1 + weight),
    high: successes === trials ? 1 : (centre + half) / (1 + weight),
  };
}
