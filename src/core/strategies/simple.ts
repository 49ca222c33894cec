/** The strategies that buy once and hold to the resolution. */
import type { StrategySide, ThresholdEntry, TimeBeforeResolution } from '../../schema/strategy.ts';
import { TICKS_PER_USDC } from '../money.ts';
import { firstRow } from '../session/rows.ts';
import type { Bound } from './bound.ts';
import type { Crossing } from './condition.ts';
import { ConditionScan, scannedCondition } from './conditionScan.ts';
import { tokenBought } from './reading.ts';
import { type Bounds, BUY_NO, BUY_YES, type CompiledStrategy, type Intent, WAIT } from './strategy.ts';

const BUY_AND_HOLD = {
  needs: { model: false, books: false, strike: false },
  tradesMax: 1,
  exits: false,
} as const;
const MS_PER_MINUTE = 60_000;
const SECONDS_PER_MINUTE = 60;
const NOTHING_REMEMBERED: readonly Crossing[] = [];

export function intentOf(side: StrategySide): Intent {
  return side === 'buy_yes' ? BUY_YES : BUY_NO;
}

/** The bounds of a position held to the resolution. */
const heldFrom = (entry: Bound): Bounds => ({ entry: [entry], exit: [] });

/** Buys as soon as the best ask of the token is below (above) the threshold. */
export function thresholdEntry({ threshold, direction, side }: ThresholdEntry): CompiledStrategy {
  const intent = intentOf(side);
  const below = direction === 'below';
  const condition = scannedCondition(
    { metric: 'token_price', operator: direction, value: threshold },
    { own: tokenBought(side), price: 'ask' },
  );
  return {
    ...BUY_AND_HOLD,
    bounds: heldFrom({
      reading: condition.reading,
      ...{ side: direction, crosses: false, value: threshold },
    }),
    start: (rows) => {
      const asks = side === 'buy_yes' ? rows.yesAsk : rows.noAsk;
      const wants = (row: number) => {
        const price = (asks[row] as number) / TICKS_PER_USDC;
        return below ? price < threshold : price > threshold;
      };
      return {
        decide: (row) => (wants(row) ? intent : WAIT),
        nextWish: (from) => firstRow(rows, from, (row) => rows.trusted[row] === 1 && wants(row)),
        crossings: NOTHING_REMEMBERED,
      };
    },
    startRecorded: (columns) => {
      const entering = new ConditionScan(condition, columns);
      return {
        decide: (row) => (entering.next(row) === row ? intent : WAIT),
        nextWish: (from, held) =>
          columns.untilGap(from, entering.next(held === null ? Math.max(from, columns.first) : from)),
      };
    },
  };
}

/** Buys at the first row with this little time left. */
export function timeBeforeResolution(strategy: TimeBeforeResolution): CompiledStrategy {
  const intent = intentOf(strategy.side);
  const beforeMs = strategy.minutes_before * MS_PER_MINUTE;
  return {
    ...BUY_AND_HOLD,
    bounds: heldFrom({
      reading: {
        ...{ metric: 'seconds_to_end', token: tokenBought(strategy.side), price: 'ask' },
        windowSeconds: null,
      },
      // Larger than any rounding error.
      ...{ side: 'below', crosses: false, value: strategy.minutes_before * SECONDS_PER_MINUTE + 1 },
    }),
    start: (rows, market) => {
      const fromMs = market.endTimeMs - beforeMs;
      const wants = (row: number) => (rows.timeMs[row] as number) >= fromMs;
      return {
        decide: (row) => (wants(row) ? intent : WAIT),
        nextWish: (from) => firstRow(rows, from, (row) => rows.trusted[row] === 1 && wants(row)),
        crossings: NOTHING_REMEMBERED,
      };
    },
  };
}
