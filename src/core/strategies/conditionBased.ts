import type { Condition, ConditionBased } from '../../schema/strategy.ts';
import type { Token } from '../signals/signal.ts';
import { boundsOf, rarestOf } from './bound.ts';
import { ConditionMemory, compileAll, compileAny, crosses, singleConditions } from './condition.ts';
import { ConditionScans, scannedCondition, scannedItem } from './conditionScan.ts';
import { hasSeries, measureOf, needsBooks, needsStrike, readingOf, tokenBought } from './reading.ts';
import { intentOf } from './simple.ts';
import { type CompiledStrategy, STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

/** Buys when all entry conditions are true; sells when any stop-loss, then any take-profit condition is. */
export function conditionBased(strategy: ConditionBased): CompiledStrategy {
  const { entry, take_profit, stop_loss, side } = strategy;
  const intent = intentOf(side);
  const own = tokenBought(side);
  const [before, whileHeld] = [
    { own, price: 'ask' },
    { own, price: 'bid' },
  ] as const;
  const entryCrosses = singleConditions(entry).some(crosses);
  const exitsCross = [...take_profit, ...stop_loss].some(crosses);
  const scanned = (list: readonly Condition[]) => list.map((one) => scannedCondition(one, whileHeld));
  const entries = entry.map((item) => scannedItem(item, before));
  const [stops, takes] = [scanned(stop_loss), scanned(take_profit)];
  return {
    needs: needsOf(strategy),
    tradesMax: strategy.max_trades_per_market,
    exits: take_profit.length + stop_loss.length > 0,
    bounds: allOf(strategy).some(hasSeries)
      ? null
      : {
          entry: rarestOf(entry).flatMap((condition) => boundsOf(condition, before)),
          exit: [...take_profit, ...stop_loss].flatMap((condition) => boundsOf(condition, whileHeld)),
        },
    start: (rows, { startTimeMs, endTimeMs }) => {
      const memory = new ConditionMemory({ rows, startTimeMs, endTimeMs });
      const enters = compileAll(entry, { ...before, memory });
      const stops = compileAny(stop_loss, { ...whileHeld, memory });
      const takes = compileAny(take_profit, { ...whileHeld, memory });
      return {
        decide: (row, held) => {
          if (!memory.isOfCrossings) memory.see(row);
          // Crossings must see every row, whatever is held.
          const entering = (held === null || entryCrosses) && enters(row);
          if (held === null && !exitsCross) return entering ? intent : WAIT;
          const stopping = stops(row);
          const taking = takes(row);
          if (held === null) return entering ? intent : WAIT;
          if (stopping) return STOP_LOSS;
          return taking ? TAKE_PROFIT : WAIT;
        },
        ...(memory.isOfCrossings ? { crossings: memory.crossings } : {}),
      };
    },
    startRecorded: (columns) => {
      const entering = new ConditionScans(entries, columns);
      const stopping = new ConditionScans(stops, columns);
      const taking = new ConditionScans(takes, columns);
      const nextWish = (from: number, held: Token | null) =>
        held === null
          ? entering.nextAll(Math.max(from, columns.first))
          : Math.min(stopping.next(from), taking.next(from));
      return {
        decide: (row, held) => {
          if (held === null) return entering.nextAll(row) === row ? intent : WAIT;
          if (stopping.next(row) === row) return STOP_LOSS;
          return taking.next(row) === row ? TAKE_PROFIT : WAIT;
        },
        nextWish: (from, held) => columns.untilGap(from, nextWish(from, held)),
      };
    },
  };
}

function allOf({ entry, take_profit, stop_loss }: ConditionBased): Condition[] {
  return [...singleConditions(entry), ...take_profit, ...stop_loss];
}

function needsOf(strategy: ConditionBased): CompiledStrategy['needs'] {
  const readings = allOf(strategy).map((condition) =>
    readingOf(condition, { own: tokenBought(strategy.side), price: 'ask' }),
  );
  const measures = readings.map(measureOf).filter((measure) => measure !== null);
  const strike = readings.some(needsStrike);
  return { model: strike || measures.length > 0, books: readings.some(needsBooks), strike, measures };
}

/** How long the conditions must have seen a market, in seconds. */
export function memorySeconds(strategy: ConditionBased): number {
  const windows = allOf(strategy).filter(({ metric }) => metric === 'token_volatility');
  return Math.max(0, ...windows.map(({ window_s = 0 }) => window_s));
}
