import type { Band } from './band.ts';

/** Shortest displayed time, seconds. */
const SHORTEST = 0.2;

/**
 * The part to display after a zoom that keeps `time` at its place.
 * @param share New length relative to the old one.
 * @returns Null once the whole is displayed.
 */
export function zoomAround(time: number, share: number, shown: Band, whole: Band): Band | null {
  const length = Math.max((shown.to - shown.from) * share, SHORTEST);
  if (length >= whole.to - whole.from) return null;
  const place = (time - shown.from) / (shown.to - shown.from);
  const from = Math.min(Math.max(time - place * length, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** The displayed part moved so that it contains `time`; the same object if it does already. */
export function movedTo(time: number, shown: Band, whole: Band): Band {
  if (time >= shown.from && time <= shown.to) return shown;
  const length = shown.to - shown.from;
  const from = Math.min(Math.max(time - length / 2, whole.from), whole.to - length);
  return { from, to: from + length };
}
