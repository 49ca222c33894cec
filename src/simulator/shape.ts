/**
 * The shape of a book: sizes by distance from the best price, spreads, trades. All figures are market
 * statistics of 2025-12 to 2026-10; prices in thousandths of a dollar, sizes in hundredths of a share.
 */

import type { Random } from '../core/random.ts';
import type { EventType, Ticker } from '../schema/market.ts';

export const CENT = 10;
const WHOLE_SIZES = 0.13;
const QUIET_MEDIAN = 1314;

/** Size of a level in a book without trades. */
export function quietSize(random: Random): number {
  return rounded(random.lognormal(QUIET_MEDIAN, 0.15), random);
}

/**
 * @param depth Distance from the best price, in thousandths.
 * @param price Of the outcome being bid for: 10 is one cent, where lottery bids are large.
 */
export function levelSize(random: Random, depth: number, price: number): number {
  return rounded(random.lognormal(medianSize(depth, price), 0.75), random);
}

function medianSize(depth: number, price: number): number {
  if (depth >= 3 * CENT && price <= 5 * CENT) return 5000;
  if (depth >= 3 * CENT && price <= 10 * CENT) return 1600;
  if (depth < CENT) return 85;
  return depth <= 3 * CENT ? 170 : 235;
}

function rounded(shares: number, random: Random): number {
  const bounded = Math.min(Math.max(shares, 1), 260_000);
  return random.chance(WHOLE_SIZES) ? Math.round(bounded) * 100 : Math.round(bounded * 100);
}

/** Spread in ticks: one in 60-80 % of cases, sometimes two to four. */
export function spreadTicks(random: Random, isFineTick: boolean): number {
  if (isFineTick) return 1 + random.below(6);
  const draw = random.next();
  if (draw < 0.75) return 1;
  if (draw < 0.92) return 2;
  return draw < 0.98 ? 3 : 4;
}

/** Distance of a maker's change from the best price, in levels; nine of ten changes are not at it. */
export function changeDepth(random: Random): number {
  if (random.chance(0.07)) return 0;
  return 1 + Math.floor(random.exponential(14));
}

/** Size of one order in hundredths of a share: median 8 shares, prints with a 99th percentile of about 270. */
export function orderSize(random: Random): number {
  const shares = Math.min(Math.max(random.lognormal(8.2, 1.65), 0.05), 5000);
  return random.chance(0.4) ? Math.max(100, Math.round(shares) * 100) : Math.round(shares * 100);
}

/**
 * Changes of sizes per second at density 1, before they cluster after moves of the best price. The median book of an
 * hour of 2026-07 was 1.3-2.2 s old for XRP, DOGE and BNB, and 12.8 s for HYPE. ZEC has no hours and days.
 */
const CHANGES_PER_SECOND: Record<Ticker, Record<EventType, number>> = {
  BTC: { '5m': 275, '15m': 205, '1h': 138, '4h': 80, daily_up_down: 57 },
  ETH: { '5m': 172, '15m': 138, '1h': 86, '4h': 52, daily_up_down: 29 },
  SOL: { '5m': 150, '15m': 115, '1h': 69, '4h': 40, daily_up_down: 23 },
  XRP: { '5m': 12, '15m': 6, '1h': 0.55, '4h': 0.5, daily_up_down: 0.4 },
  DOGE: { '5m': 9, '15m': 5, '1h': 0.45, '4h': 0.4, daily_up_down: 0.3 },
  BNB: { '5m': 7, '15m': 4, '1h': 0.35, '4h': 0.3, daily_up_down: 0.25 },
  HYPE: { '5m': 1, '15m': 0.5, '1h': 0.055, '4h': 0.05, daily_up_down: 0.05 },
  ZEC: { '5m': 0.3, '15m': 0.2, '1h': 0, '4h': 0.05, daily_up_down: 0 },
};
/** A book hardly changes before its window opens. */
const QUIET_CHANGES_PER_SECOND = 1.5;

export function changesPerSecond(ticker: Ticker, eventType: EventType, isOpen: boolean): number {
  const open = CHANGES_PER_SECOND[ticker][eventType];
  return isOpen ? open : Math.min(open, QUIET_CHANGES_PER_SECOND);
}

/** How much less often makers requote than in the market of a default asset: nobody watches the small ones. */
const QUOTE_PATIENCE: Partial<Record<Ticker, number>> = { XRP: 2, DOGE: 3, BNB: 3, HYPE: 30, ZEC: 40 };

export function quotePatience(ticker: Ticker): number {
  return QUOTE_PATIENCE[ticker] ?? 1;
}

const ORDERS_PER_MINUTE: Record<EventType, number> = {
  '5m': 75,
  '15m': 36,
  '1h': 14,
  '4h': 6,
  daily_up_down: 5,
};
const TICKER_SHARE: Record<Ticker, number> = {
  BTC: 1,
  ETH: 0.35,
  SOL: 0.2,
  XRP: 0.06,
  DOGE: 0.03,
  BNB: 0.03,
  HYPE: 0.005,
  ZEC: 0.002,
};

/**
 * Taker orders per minute: they decrease through the window, and quickly once the outcome is nearly decided.
 * @param elapsed Elapsed share of the window, 0..1. @param mid Of Up, 0..1000; null while one-sided.
 */
export function ordersPerMinute(market: {
  ticker: Ticker;
  eventType: EventType;
  elapsed: number;
  mid: number | null;
}): number {
  const { ticker, eventType, elapsed, mid } = market;
  const decided = mid === null || mid > 970 || mid < 30;
  const base = ORDERS_PER_MINUTE[eventType] * TICKER_SHARE[ticker];
  return base * (1.35 - 0.9 * elapsed) * (decided ? 0.08 : 1);
}

/** Share of 5m windows quoted on both sides, by seconds left (203 windows, 2026-07). */
const TWO_SIDED: readonly (readonly [number, number])[] = [
  [240, 1],
  [120, 0.955],
  [90, 0.877],
  [60, 0.729],
  [45, 0.631],
  [30, 0.468],
  [20, 0.079],
  [10, 0],
];

export function twoSidedShare(secondsLeft: number): number {
  for (let i = 0; i + 1 < TWO_SIDED.length; i++) {
    const [early, earlyShare] = TWO_SIDED[i] as readonly [number, number];
    const [late, lateShare] = TWO_SIDED[i + 1] as readonly [number, number];
    if (secondsLeft >= early) return earlyShare;
    if (secondsLeft >= late)
      return lateShare + ((earlyShare - lateShare) * (secondsLeft - late)) / (early - late);
  }
  return 0;
}
