/**
 * Delay before the n-th retry: it doubles up to a limit and is randomised, so that many clients do not retry together.
 */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * @param attempt 0 for the first retry.
 * @param random 0 <= x < 1; the delay is between half and all of the doubled step.
 */
export function backoffDelayMs(limits: BackoffLimits, attempt: number, random: () => number): number {
  const step = Math.min(limits.maxMs, limits.firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(step * (0.5 + random() / 2));
}
