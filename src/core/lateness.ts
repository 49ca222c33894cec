import type { RowTimes } from '../schema/gap.ts';

/** A message that arrives so much later than the venue stamped it says nothing about now. */
export const LATE_AFTER_MS = 5_000;

export function isLate({ eventTimeMs, receivedTimeMs }: RowTimes): boolean {
  return receivedTimeMs - eventTimeMs > LATE_AFTER_MS;
}
