import type { SideView } from '../schema/records.ts';

/** Size units in 1/100 share. */
export const HUNDREDTH = 10_000;
const UINT32_MAX = 0xffff_ffff;

/**
 * Whether every size is a whole number of 1/100 share that fits into 32 bits, as almost all of the venue's sizes are.
 */
export function isNarrow({ sizes, count }: SideView): boolean {
  for (let i = 0; i < count; i++) {
    const size = sizes[i] as number;
    const hundredths = Math.round(size / HUNDREDTH);
    if (hundredths * HUNDREDTH !== size || hundredths > UINT32_MAX) return false;
  }
  return true;
}
