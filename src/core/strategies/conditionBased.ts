import type { Condition, ConditionBased } from '../../schema/strategy.ts';
import type { Token } from '../signals/signal.ts';
import {
  boundOf,
  type Crossing,
  compileAll,
  compileAny,
  crosses,
  needsBooks,
  needsModel,
  type Reading,
  rarestOf,
} from './condition.ts';
import { ConditionScans, scannedCondition } from './conditionScan.ts';
import { intentOf } from './simple.ts';
import { type CompiledStrategy, STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

/** Buys when all entry conditions are true; sells when any stop-loss, then any take-profit condition is. */
export function conditionBased(strategy: ConditionBased): CompiledStrategy {
  const { entry, take_profit, stop_loss, side } = strategy;
  const conditions = [...entry, ...take_profit, ...stop_loss];
  const intent = intentOf(side);
  const token = side === 'buy_yes' ? 'yes' : 'no';
  const entryCrosses = entry.some(crosses);
  const exitsCross = [...take_profit, ...stop_loss].some(crosses);
  const scanned = (list: readonly Condition[], price: Reading['price']) =>
    list.map((condition) => scannedCondition(condition, { token, price }));
  const [entries, stops, takes] = [
    scanned(entry, 'ask'),
    scanned(stop_loss, 'bid'),
    scanned(take_profit, 'bid'),
  ];
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
      return {
        decide: (row, held) => {
          // Crossings must see every row, whatever is held.
          const entering = (held === null || entryCrosses) && enters(row);
          if (held === null && !exitsCross) return entering ? intent : WAIT;
          const stopping = stops(row);
          const taking = takes(row);
          if (held === null) return entering ? intent : WAIT;
          if (stopping) return STOP_LOSS;
          return taking ? TAKE_PROFIT : WAIT;
        },
        crossings,
      };
    },
    startRecorded: (columns) => {
      const entering = new ConditionScans(entries, columns);
      const stopping = new ConditionScans(stops, columns);
      const taking = new ConditionScans(takes, columns);
      const nextWish = (from: number, held: Token | null) =>
        held === null
          ? entering.nextAll(Math.max(from, columns.first))
          : Math.min(stopping.nextAny(from), taking.nextAny(from));
      return {
        decide: (row, held) => {
          if (held === null) return entering.nextAll(row) === row ? intent : WAIT;
          if (stopping.nextAny(row) === row) return STOP_LOSS;
          return taking.nextAny(row) === row ? TAKE_PROFIT : WAIT;
        },
        nextWish: (from, held) => columns.untilGap(from, nextWish(from, held)),
      };
    },
  };
}
