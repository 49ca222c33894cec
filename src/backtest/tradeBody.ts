import { MICRO_PER_USDC } from '../core/fees.ts';
import { UNITS_PER_SHARE } from '../core/money.ts';
import type { Trade } from '../core/session/position.ts';
import type { BacktestTradeBody } from '../schema/api/backtests.ts';
import type { Market } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';

/** A position as backtests and paper trading return it: the same fields in the same order. */
export function tradeBody(
  { marketId, outcome }: Pick<Market, 'marketId' | 'outcome'>,
  trade: Trade,
): BacktestTradeBody {
  return {
    market_id: marketId,
    side: trade.token === 'yes' ? 'buy_yes' : 'buy_no',
    decided_at: formatTime(trade.decidedMs),
    opened_at: formatTime(trade.openedMs),
    closed_at: formatTimeOrNull(trade.closedMs),
    decision_price: trade.decisionPrice,
    entry_price: trade.entryPrice,
    exit_price: trade.exitPrice,
    shares: trade.size / UNITS_PER_SHARE,
    size_usd: trade.principal / MICRO_PER_USDC,
    fees_usd: trade.fees / MICRO_PER_USDC,
    slippage: trade.entrySlippage,
    entry_slippage: trade.entrySlippage,
    exit_slippage: trade.exitSlippage,
    entry_levels: trade.entryLevels,
    exit_levels: trade.exitLevels,
    net_pnl: trade.pnl === null ? null : trade.pnl / MICRO_PER_USDC,
    outcome,
    exit_reason: trade.exitReason,
  };
}
