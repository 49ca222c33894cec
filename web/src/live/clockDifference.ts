import { duration } from '../ui/format.ts';

/** A smaller difference may be the time that the answer took, and changes no figure of a window. */
const DIFFERENCE_MS_MAX = 5_000;

/**
 * How far the service's clock is ahead of this machine's, ms; negative: behind; 0: they agree.
 * @param asOf When the service made an answer, by its own clock.
 * @param answeredMs When the answer was read, by this machine's clock, Unix ms.
 */
export function clockAheadMs(asOf: string, answeredMs: number): number {
  const aheadMs = Date.parse(asOf) - answeredMs;
  return Math.abs(aheadMs) > DIFFERENCE_MS_MAX ? aheadMs : 0;
}

/** A sentence on a difference of the clocks; null without one. */
export function clockText(aheadMs: number): string | null {
  if (aheadMs === 0) return null;
  const way = aheadMs > 0 ? 'behind' : 'ahead of';
  const size = duration(Math.abs(aheadMs) / 1000);
  return `The clock of this machine is ${size} ${way} the service’s. This page goes by the service’s.`;
}
