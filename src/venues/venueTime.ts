import { z } from 'zod';
import { VenueMessageError } from '../runtime/errors.ts';

/**
 * 2000 to 2100. Newer data replaces older, so a time in another unit (microseconds, say) would make all later data of
 * its series look old.
 */
export const TIME_MS_MIN = 946_684_800_000;
export const TIME_MS_MAX = 4_102_444_800_000;

/**
 * How far ahead of its receipt a time may be. Our own clock may be wrong: by up to 14 h where local time was taken for
 * UTC. A smaller difference is a matter of clock steps and late feeds, not of unreadable messages.
 */
const AHEAD_MS_MAX = 86_400_000;

/** A venue's time, Unix milliseconds. */
export const venueTimeMs = z.number().int().min(TIME_MS_MIN).lt(TIME_MS_MAX);

export function isVenueTime(timeMs: number): boolean {
  return timeMs >= TIME_MS_MIN && timeMs < TIME_MS_MAX;
}

/**
 * Returns the event of a live feed.
 * @throws {VenueMessageError} When its time is more than a day ahead of its receipt.
 */
export function notAhead<T extends { readonly eventTimeMs: number; readonly receivedTimeMs: number }>(
  event: T,
): T {
  const aheadMs = event.eventTimeMs - event.receivedTimeMs;
  if (aheadMs <= AHEAD_MS_MAX) return event;
  throw new VenueMessageError(`a time more than ${AHEAD_MS_MAX / 3_600_000} h ahead of its receipt`);
}
