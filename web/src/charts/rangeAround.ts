/** Share of a value above 1 that is shown around it. */
const SHARE = 0.01;

/** Bounds of an axis for a single value: from 0, where uPlot begins, a price of 90,000 would be a line at the edge. */
export function rangeAround(value: number): [number, number] {
  const size = Math.abs(value);
  const room = size === 0 ? 1 : size < 1 ? size : size * SHARE;
  return [value - room, value + room];
}
