import { tradeCount, usd } from '../ui/format.ts';
import type { MadeTrade } from './source.ts';

/** How many trades there are and what the closed ones earned, e.g. `3 trades, $1.20 of the 2 closed`. */
export function pnlText(trades: readonly Pick<MadeTrade, 'net_pnl'>[]): string {
  const closed = trades.flatMap(({ net_pnl }) => (net_pnl === null ? [] : [net_pnl]));
  if (closed.length === 0) return `${tradeCount(trades.length)}, none closed`;
  const earned = usd(closed.reduce((sum, pnl) => sum + pnl, 0));
  const ofThem = closed.length === trades.length ? '' : ` of the ${closed.length} closed`;
  return `${tradeCount(trades.length)}, ${earned}${ofThem}`;
}
