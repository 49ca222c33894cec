import type { SideView } from '../../schema/records.ts';
import type { TickRule } from '../venueRulesTable.ts';

/**
 * The tick size that a book proves, in ticks of 1/10000 USDC: the finer one if a displayed price needs it, or if the
 * best price is in the range where the venue has switched to it. A book that proves neither has the coarse one.
 */
export function tickSizeOf(rule: TickRule, sides: readonly SideView[]): number {
  const { coarse, fine, fineBelow, fineAbove } = rule;
  if (fine === null) return coarse;
  for (const { count, prices } of sides) {
    const best = prices[0] as number;
    if (count > 0 && (best < fineBelow || best > fineAbove)) return fine;
    for (let at = 0; at < count; at++) if ((prices[at] as number) % coarse !== 0) return fine;
  }
  return coarse;
}
