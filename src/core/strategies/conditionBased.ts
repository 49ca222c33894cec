import type { ConditionBased } from '../../schema/strategy.ts';
import { firstRow } from '../replay/rows.ts';
import { boundOf, compileAll, compileAny, crosses, needsBooks, needsModel, rarestOf } from './condition.ts';
import { intentOf } from './simple.ts';
import { type CompiledStrategy, type Crossing, STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

/** Buys when all entry conditions hold; sells when any stop-loss, then any take-profit condition does. */
export function conditionBased(strategy: ConditionBased): CompiledStrategy {
  const { entry, take_profit, stop_loss, side } = strategy;
  const conditions = [...entry, ...take_profit, ...stop_loss];
  const intent = intentOf(side);
  const token = side === 'buy_yes' ? 'yes' : 'no';
  const entryCrosses = entry.some(crosses);
  const exitsCross = [...take_profit, ...stop_loss].some(crosses);
  return {
    needs: { model: needsModel(conditions), books: needsBooks(conditions) },
    tradesMax: strategy.max_trades_per_market,
    exits: take_profit.length + stop_loss.length > 0,
    bounds: {
      entry: rarestOf(entry).map((condition) => boundOf(condition, { token, price: 'ask' })),
      exit: [...take_profit, ...stop_loss].map((condition) => boundOf(condition, { token, price: 'bid' })),
    },
    start: (rows, { endTimeMs }) => {
      const crossings: Crossing[] = [];
      const context = { rows, token, endTimeMs, crossings } as const;
      const enters = compileAll(entry, { ...context, price: 'ask' });
      const stops = compileAny(stop_loss, { ...context, price: 'bid' });
      const takes = compileAny(take_profit, { ...context, price: 'bid' });
      const { trusted } = rows;
      const mayEnter = (row: number) => trusted[row] === 1 && enters(row);
      const mayExit = (row: number) => trusted[row] === 1 && (stops(row) || takes(row));
      return {
        decide: (row, held) => {
          // Crossings have to see every row, whatever is held.
          const entering = (held === null || entryCrosses) && enters(row);
          if (held === null && !exitsCross) return entering ? intent : WAIT;
          const stopping = stops(row);
          const taking = takes(row);
          if (held === null) return entering ? intent : WAIT;
          if (stopping) return STOP_LOSS;
          return taking ? TAKE_PROFIT : WAIT;
        },
        crossings,
        ...(entryCrosses || exitsCross
          ? {}
          : { nextWish: (from, held) => firstRow(rows, from, held === null ? mayEnter : mayExit) }),
      };
    },
  };
}
