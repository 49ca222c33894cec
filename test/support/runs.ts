/** Runs of strategies written in tests. */

import { defineStrategy } from '../../src/core/run/defineStrategy.ts';
import type {
  Context,
  ParamSpecs,
  StrategyDefinition,
  StrategyEvent,
} from '../../src/core/run/definition.ts';
import { itemsOf } from '../../src/core/run/itemsOf.ts';
import type { RunResult } from '../../src/core/run/result.ts';
import type { RunTape, TickerTape } from '../../src/core/run/runTape.ts';
import { startRun } from '../../src/core/run/startRun.ts';
import type { RunTerms } from '../../src/core/run/terms.ts';

export const RUN_TERMS: RunTerms = {
  seed: 1,
  orderLatency: { kind: 'constant', ms: 50 },
  queueModel: 'pessimistic',
  cashUsd: null,
  exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null },
  redemptionDelayMs: 0,
};

type OnEvent = (event: StrategyEvent, context: Context<ParamSpecs, unknown>) => void;

/** A strategy on books of BTC's 5m windows. */
export function strategyOf(onEvent: OnEvent, inputs: Partial<StrategyDefinition['inputs']> = {}) {
  return defineStrategy({
    ...{ name: 'test', params: {}, onEvent },
    inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true, ...inputs },
  }) as unknown as StrategyDefinition;
}

interface Recording {
  readonly runs: readonly RunTape[];
  readonly tickers?: readonly TickerTape[];
  readonly terms?: Partial<RunTerms>;
}

/** The result of a run over recordings. */
export function resultOf(
  definition: StrategyDefinition,
  { runs, tickers = [], terms = {} }: Recording,
): RunResult {
  const runner = startRun({ definition, params: {}, terms: { ...RUN_TERMS, ...terms } });
  for (const item of itemsOf(runs, tickers)) runner.push(item);
  return runner.result();
}
