/**
 * Times at which the venue refuses orders. A recording does not show them, so they are an input of a run.
 * @see The venue's documents of 2026-10: HTTP 425 during a restart of its order service, then two minutes in which it
 * accepts only post-only orders and refuses others with HTTP 503.
 */
import type { Refusal } from './order.ts';

const POST_ONLY_MS = 120_000;

/** `refusal`: what happens to an order that arrives from `fromMs` until before `untilMs`. */
export interface Outage {
  readonly refusal: Extract<Refusal, 'venue_restarting' | 'venue_post_only'>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A restart of the venue, and the time after it in which only post-only orders are accepted. */
export function restartOf({ fromMs, untilMs }: Pick<Outage, 'fromMs' | 'untilMs'>): Outage[] {
  return [
    { refusal: 'venue_restarting', fromMs, untilMs },
    { refusal: 'venue_post_only', fromMs: untilMs, untilMs: untilMs + POST_ONLY_MS },
  ];
}

/** Why the venue refuses an order that arrives at a time; null: it does not. */
export function refusedAt(
  outages: readonly Outage[],
  timeMs: number,
  { postOnly }: { readonly postOnly: boolean },
): Refusal | null {
  for (const { refusal, fromMs, untilMs } of outages) {
    if (timeMs < fromMs || timeMs >= untilMs) continue;
    if (refusal === 'venue_restarting' || !postOnly) return refusal;
  }
  return null;
}

/** When a cancel takes effect that arrives at a time: a restarting venue applies it when it is back. */
export function cancelledAt(outages: readonly Outage[], timeMs: number): number {
  let effectiveMs = timeMs;
  for (const { refusal, fromMs, untilMs } of outages) {
    if (refusal === 'venue_restarting' && effectiveMs >= fromMs && effectiveMs < untilMs)
      effectiveMs = untilMs;
  }
  return effectiveMs;
}
