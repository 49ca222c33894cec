/** Pauses before each further attempt; the last one repeats until the market's end. */
export const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
/** Each pause is spread by chance up to this fraction either way, so that many do not retry as one. */
export const RETRY_JITTER = 0.2;
/** A receiver that asks for a longer pause than this gets this. */
export const RETRY_AFTER_MAX_MS = 600_000;

/**
 * How long to wait before the next attempt, milliseconds.
 * @param step Attempts that failed so far, at least 1.
 * @param retryAfterMs What the receiver asked for; null: nothing. It lengthens the pause, never shortens it.
 * @param random 0 <= x < 1.
 */
export function retryDelayMs(step: number, retryAfterMs: number | null, random: () => number): number {
  const index = Math.min(step, RETRY_DELAYS_MS.length) - 1;
  const base = RETRY_DELAYS_MS[index] ?? RETRY_DELAYS_MS[0];
  const delayMs = Math.round(base * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random()));
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}
