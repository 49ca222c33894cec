/** Pauses before each further attempt; the last one repeats until the market's end. */
export const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
/** Each pause varies randomly by up to this fraction either way, so that retries spread out. */
const RETRY_JITTER = 0.2;
/** A longer Retry-After is shortened to this. */
export const RETRY_AFTER_MAX_MS = 600_000;

/**
 * The pause before the next attempt, in milliseconds.
 * @param step Failed attempts so far, at least 1.
 * @param retryAfterMs The receiver's Retry-After; null: none. It lengthens the pause, never shortens it.
 * @param random 0 <= x < 1.
 */
export function retryDelayMs(step: number, retryAfterMs: number | null, random: () => number): number {
  const index = Math.min(step, RETRY_DELAYS_MS.length) - 1;
  const base = RETRY_DELAYS_MS[index] ?? RETRY_DELAYS_MS[0];
  const delayMs = Math.round(base * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random()));
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}
