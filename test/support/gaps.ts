import type { Gap } from '../../src/schema/gap.ts';

/** A gap whose rows were received the moment the venue stamped them. */
export function oneClock<T extends Pick<Gap, 'startTimeMs' | 'endTimeMs'>>(gap: T) {
  return { ...gap, startReceivedMs: gap.startTimeMs, endReceivedMs: gap.endTimeMs };
}
