import type { Strategy } from '../../schema/strategy.ts';
import { conditionBased } from './conditionBased.ts';
import { meanReversion } from './meanReversion.ts';
import { thresholdEntry, timeBeforeResolution } from './simple.ts';
import type { CompiledStrategy } from './strategy.ts';

const MS_PER_SECOND = 1_000;

/** How long a strategy must have seen a market before it decides like one that always has. */
export function memoryMs(strategy: Strategy): number {
  // The second it starts in is incomplete.
  return strategy.type === 'mean_reversion' ? (strategy.lookback + 1) * MS_PER_SECOND : 0;
}

/** Turns a strategy of a request into a runnable one. */
export function compileStrategy(strategy: Strategy): CompiledStrategy {
  switch (strategy.type) {
    case 'threshold_entry':
      return thresholdEntry(strategy);
    case 'mean_reversion':
      return meanReversion(strategy);
    case 'time_before_resolution':
      return timeBeforeResolution(strategy);
    case 'condition_based':
      return conditionBased(strategy);
  }
}
