import type { Market } from '../api/schema.ts';
import type { DrawnTrade } from '../charts/drawnTrades.ts';
import type { MadeTrade } from './source.ts';

/**
 * Trades of one market at the price of Up: a purchase of Down at 40¢ is a sale of Up at 60¢. A payout
 * is drawn at the end of the window, although the resolution is somewhat later.
 */
export function drawnTradesOf(
  trades: readonly MadeTrade[],
  { end_time }: Pick<Market, 'end_time'>,
): DrawnTrade[] {
  const endSeconds = Date.parse(end_time) / 1000;
  return trades.map(({ side, opened_at, closed_at, entry_price, exit_price, net_pnl }) => {
    const isUp = side === 'buy_yes';
    const asUp = (price: number) => (isUp ? price : 1 - price);
    const secondsOf = (time: string) => Date.parse(time) / 1000;
    const isClosed = closed_at !== null && exit_price !== null;
    return {
      opened: { time: secondsOf(opened_at), value: asUp(entry_price) },
      closed: isClosed ? { time: Math.min(secondsOf(closed_at), endSeconds), value: asUp(exit_price) } : null,
      ...{ isUp, isWon: net_pnl === null ? null : net_pnl > 0 },
    };
  });
}
