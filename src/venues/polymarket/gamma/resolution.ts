import type { Outcome } from '../../../schema/market.ts';
import type { GammaMarket } from './messages.ts';

export interface Resolution {
  /** Null for a tie, where each share pays one half. */
  readonly outcome: Outcome | null;
  readonly payoutYes: number;
}

/**
 * The final outcome; null until the market is closed, the oracle says `resolved`, and the two prices are exactly
 * 1 and 0 or both 0.5. Prices near 1 come from trading, not from a resolution; `["0","0"]`, seen on markets of
 * 2020, has no meaning.
 * @param labels The outcomes in the order of the raw lists; `prices` has the same order.
 */
export function resolutionOf(
  raw: GammaMarket,
  labels: readonly string[],
  prices: readonly string[] | null,
): Resolution | null {
  if (!raw.closed || raw.umaResolutionStatus !== 'resolved') return null;
  const up = prices?.[labels.indexOf('Up')];
  const down = prices?.[labels.indexOf('Down')];
  if (up === '1' && down === '0') return { outcome: 'Up', payoutYes: 1 };
  if (up === '0' && down === '1') return { outcome: 'Down', payoutYes: 0 };
  if (up === '0.5' && down === '0.5') return { outcome: null, payoutYes: 0.5 };
  return null;
}
