import { tradeBody } from '../../backtest/tradeBody.ts';
import type { BacktestTradeBody } from '../../schema/api/backtests.ts';
import { type PositionRow, tradeOf } from './positions.ts';

type PositionBody = BacktestTradeBody & { readonly position_id: string };

/** A position in an API response: a backtest's trade preceded by its id. */
export function positionBody(row: PositionRow): PositionBody {
  const { position_id, market_id: marketId, outcome } = row;
  return { position_id, ...tradeBody({ marketId, outcome }, tradeOf(row)) };
}
