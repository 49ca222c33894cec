import type { Gap } from '../../src/schema/gap.ts';

/** A gap whose rows were received exactly at the venue's time. */
export function oneClock<T extends Pick<Gap, 'startTimeMs' | 'endTimeMs'>>(gap: T) {
  return { ...gap, startReceivedMs: gap.startTimeMs, endReceivedMs: gap.endTimeMs };
}
