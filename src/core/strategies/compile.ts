import type { Strategy } from '../../schema/strategy.ts';
import { conditionBased, memorySeconds } from './conditionBased.ts';
import { meanReversion } from './meanReversion.ts';
import { thresholdEntry, timeBeforeResolution } from './simple.ts';
import type { CompiledStrategy } from './strategy.ts';

const MS_PER_SECOND = 1_000;

/** How long a strategy must have seen a market before it decides like one that always has. */
export function memoryMs(strategy: Strategy): number {
  const seconds = strategySeconds(strategy);
  // The second it starts in is incomplete.
  return seconds === 0 ? 0 : (seconds + 1) * MS_PER_SECOND;
}

function strategySeconds(strategy: Strategy): number {
  if (strategy.type === 'condition_based') return memorySeconds(strategy);
  return strategy.type === 'mean_reversion' ? strategy.lookback : 0;
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
