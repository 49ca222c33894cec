import type { RowTimes } from '../schema/gap.ts';

/** A message that arrives this long after the venue's timestamp says nothing about the present. */
export const LATE_AFTER_MS = 5_000;

export function isLate({ eventTimeMs, receivedTimeMs }: RowTimes): boolean {
  return receivedTimeMs - eventTimeMs > LATE_AFTER_MS;
}
