/** Levels a side by what a position costs: what lies deeper fills nothing, which never flatters. */
const DEPTHS = [
  { sizeUsdMax: 100, levels: 15 },
  { sizeUsdMax: 1_000, levels: 40 },
] as const;

/** For the largest positions there are. */
export const DEPTH_MAX = 200;

/**
 * How deep the books are that positions of a size are dealt on, replayed or live. A change that lies deeper is none: it
 * confirms no order.
 */
export function depthOf(sizeUsd: number): number {
  return DEPTHS.find(({ sizeUsdMax }) => sizeUsd <= sizeUsdMax)?.levels ?? DEPTH_MAX;
}
