/** Red, green and blue of the largest bids and asks. */
export const HEAT_COLOURS = { bid: [14, 150, 105], ask: [224, 49, 110] } as const;
const [LEAST, MOST] = [0.06, 1];
/** Share of the opacity of a book that is not proven. */
export const UNPROVEN_SHARE = 0.4;

/** Strength of a size on the logarithmic colour scale, 0 to 1. */
export function heatStrength(size: number, largest: number): number {
  if (largest <= 0 || size <= 0) return 0;
  return Math.min(Math.log1p(size) / Math.log1p(largest), 1);
}

/** Opacity of the colour at a strength. */
export function heatOpacity(strength: number): number {
  return LEAST + (MOST - LEAST) * strength ** 1.4;
}
