/** A JSON strategy as its rewritten form, with the parameters of a run. */
import type { StrategyDefinition } from '../../src/core/run/definition.ts';
import type { RunRequest } from '../../src/core/run/runner.ts';
import type { RunTerms } from '../../src/core/run/terms.ts';
import type { ReplayParams, Strategy } from '../../src/schema/strategy.ts';
import { STRATEGIES } from '../support/strategies.ts';
import { conditionBased, isRewritable } from './conditionBased.ts';
import { meanReversion } from './meanReversion.ts';
import { thresholdEntry } from './thresholdEntry.ts';
import { timeBeforeResolution } from './timeBeforeResolution.ts';

/** The strategies of the tests that have a rewritten form, by name. */
export const REWRITTEN: readonly (readonly [name: string, strategy: Strategy])[] = Object.entries(
  STRATEGIES,
).filter(([, strategy]) => strategy.type !== 'condition_based' || isRewritable(strategy));

/** The purse of a JSON strategy is unlimited. */
function termsOf(latencyMs: number): RunTerms {
  return {
    seed: 1,
    orderLatency: { kind: 'constant', ms: latencyMs },
    queueModel: 'pessimistic',
    cashUsd: null,
    exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null },
    redemptionDelayMs: 0,
  };
}

export function rewritten(
  strategy: Strategy,
  { sizeUsd, params }: { readonly sizeUsd: number; readonly params: ReplayParams },
): RunRequest {
  const { max_fill_price: maxFillPrice, max_slippage } = params;
  const trading = { sizeUsd, maxFillPrice, maxSlippage: max_slippage ?? 1 };
  const [definition, own] = definitionOf(strategy);
  return {
    definition: definition as unknown as StrategyDefinition,
    params: { ...trading, ...own },
    terms: termsOf(params.latency_ms),
  };
}

function definitionOf(strategy: Strategy): [unknown, RunRequest['params']] {
  switch (strategy.type) {
    case 'threshold_entry': {
      const { threshold, direction, side } = strategy;
      return [thresholdEntry, { threshold, direction, side }];
    }
    case 'mean_reversion':
      return [meanReversion, { lookback: strategy.lookback, zThreshold: strategy.z_threshold }];
    case 'time_before_resolution':
      return [timeBeforeResolution, { minutesBefore: strategy.minutes_before, side: strategy.side }];
    case 'condition_based':
      return [conditionBased(strategy), {}];
  }
}
