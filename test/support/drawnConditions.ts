import type { Random } from '../../src/core/random.ts';
import {
  CONDITION_METRICS,
  CONDITION_TOKENS,
  type Condition,
  type ConditionBased,
  type ConditionMetric,
  OPERATORS,
  WINDOW_SECONDS,
} from '../../src/schema/strategy.ts';

/** Around the values on random tapes, so that most conditions are true at some rows and not at others. */
const VALUES: Readonly<Record<ConditionMetric, readonly number[]>> = {
  token_price: [0.4, 0.48, 0.5, 0.52, 0.6],
  underlying_distance_pct: [-0.05, 0, 0.05],
  underlying_distance_sigma: [-0.5, 0, 0.5],
  seconds_to_end: [60, 150, 250, 290],
  spread: [0.02, 0.021, 0.04],
  imbalance: [-0.3, 0, 0.3],
  model_probability: [0.4, 0.5, 0.6],
  seconds_since_open: [0, 10, 50, 150, 240],
  underlying_move_usd: [-40, 0, 40],
  underlying_move_pct: [-0.04, 0, 0.04],
  underlying_volatility: [0.5, 1, 1.2, 1.6, 2],
  token_move: [-0.04, 0, 0.005, 0.04],
  token_volatility: [0, 0.005, 0.01, 0.02],
};
const WINDOWS = [2, 5, 60, 75, 600] as const;

function pickOf<T>(random: Random, of: readonly T[]): T {
  return of[random.below(of.length)] as T;
}

function drawnCondition(random: Random, metrics: readonly ConditionMetric[] = CONDITION_METRICS): Condition {
  const metric =
    random.chance(0.25) && metrics.includes('token_price') ? 'token_price' : pickOf(random, metrics);
  const limits = WINDOW_SECONDS[metric];
  const windows = WINDOWS.filter((seconds) => seconds >= (limits?.min ?? 0));
  return {
    ...{ metric, operator: pickOf(random, OPERATORS), value: pickOf(random, VALUES[metric]) },
    ...(random.chance(0.3) ? { token: pickOf(random, CONDITION_TOKENS) } : {}),
    ...(limits === undefined ? {} : { window_s: pickOf(random, windows) }),
  };
}

/** A strategy with conditions of every kind, also in groups. */
export function drawnStrategy(
  random: Random,
  metrics: readonly ConditionMetric[] = CONDITION_METRICS,
): ConditionBased {
  const conditions = (least: number, most: number) =>
    Array.from({ length: least + random.below(1 + most - least) }, () => drawnCondition(random, metrics));
  const entry = conditions(1, 3).map((one) =>
    random.chance(0.3) ? { any: [one, ...conditions(0, 2)] } : one,
  );
  return {
    ...{ type: 'condition_based', side: pickOf(random, ['buy_yes', 'buy_no'] as const) },
    ...{ entry, take_profit: conditions(0, 2), stop_loss: conditions(0, 2), max_trades_per_market: 20 },
  };
}
