import type { Strategy } from '../../schema/strategy.ts';
import { conditionBased } from './conditionBased.ts';
import { meanReversion } from './meanReversion.ts';
import { thresholdEntry, timeBeforeResolution } from './simple.ts';
import type { CompiledStrategy } from './strategy.ts';

/** Turns a strategy as it was asked for into one that runs. */
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
