import type { RowTimes } from '../../schema/gap.ts';

/** Orders rows by venue time. Rows of one venue time are ordered by receive time, as in the bounds of a gap. */
export function compareRows(a: RowTimes, b: RowTimes): number {
  return a.eventTimeMs - b.eventTimeMs || a.receivedTimeMs - b.receivedTimeMs;
}

export function laterRow(a: RowTimes | null, b: RowTimes | null): RowTimes | null {
  if (a === null || b === null) return a ?? b;
  return compareRows(a, b) >= 0 ? a : b;
}

/** The two times of a row or of anything that has them. */
export function timesOf({ eventTimeMs, receivedTimeMs }: RowTimes): RowTimes {
  return { eventTimeMs, receivedTimeMs };
}
