import { MICRO_PER_USDC } from '../core/fees.ts';

/** Levels per side by position size. Deeper levels fill nothing, which never makes results look better. */
const DEPTHS = [
  { sizeUsdMax: 100, levels: 15 },
  { sizeUsdMax: 1_000, levels: 40 },
] as const;

/** For the largest position sizes. */
export const DEPTH_MAX = 200;

/**
 * Depth of the books on which positions of a size are filled, in backtests and live. Changes at deeper levels are
 * ignored: they do not confirm an order.
 */
export function depthOf(sizeUsd: number): number {
  // Orders spend whole micro-USD.
  const micro = Math.round(sizeUsd * MICRO_PER_USDC);
  return DEPTHS.find(({ sizeUsdMax }) => micro <= sizeUsdMax * MICRO_PER_USDC)?.levels ?? DEPTH_MAX;
}
