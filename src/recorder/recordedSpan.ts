/** How long before and after its window a market can have been recorded. */
import type { RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';

/** How long an ended, unresolved market stays subscribed: trading continues for tens of seconds. */
export const SUBSCRIBED_AFTER_END_MS = 300_000;
/** How long before its end a run may have received rows of a market that has none stored; deliberately generous. */
const NEVER_STORED_MS = 60_000;
/** The venue lists a market days before its window, so no row of it is older; deliberately generous. */
const LISTED_EARLY_MS = 30 * 86_400_000;

/**
 * The start of a market's gap when none of its rows was stored. By venue time it precedes every possible row: the first
 * book of a quiet market has the time of its last change, which may be long before its receipt.
 */
export function neverStored({ startTimeMs }: Market, lastAliveTimeMs: number): RowTimes {
  const receivedTimeMs = lastAliveTimeMs - NEVER_STORED_MS;
  return { eventTimeMs: Math.min(startTimeMs, receivedTimeMs) - LISTED_EARLY_MS, receivedTimeMs };
}
