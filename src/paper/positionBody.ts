import { MICRO_PER_USDC } from '../core/fees.ts';
import { UNITS_PER_SHARE } from '../core/money.ts';
import type { BacktestTradeBody } from '../schema/api/backtests.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import type { PositionRow } from './positions.ts';

export type PositionBody = BacktestTradeBody & { readonly position_id: string };

/** A position as it is answered: the very members, in the same order, of a backtest's trade. */
export function positionBody(row: PositionRow): PositionBody {
  return {
    position_id: row.position_id,
    market_id: row.market_id,
    side: row.token === 'yes' ? 'buy_yes' : 'buy_no',
    opened_at: formatTime(row.opened_ms),
    closed_at: formatTimeOrNull(row.closed_ms),
    entry_price: row.entry_price,
    exit_price: row.exit_price,
    shares: row.size / UNITS_PER_SHARE,
    size_usd: row.principal_micro / MICRO_PER_USDC,
    fees_usd: row.fees_micro / MICRO_PER_USDC,
    slippage: row.slippage,
    net_pnl: row.pnl_micro === null ? null : row.pnl_micro / MICRO_PER_USDC,
    outcome: row.outcome,
    exit_reason: row.exit_reason,
  };
}
