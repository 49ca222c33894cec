/** A run without a venue: it shows the events and notes what the strategy logs and places. */
import type { RunResult } from '../core/run/result.ts';
import type { RunItem, RunRequest, StrategyRunner } from '../core/run/runner.ts';

export { defineStrategy } from '../core/run/defineStrategy.ts';

export function startRun({ definition, params, terms }: RunRequest): StrategyRunner {
  const log: { timeMs: number; text: string }[] = [];
  let nowMs = 0;
  let draws = terms.seed;
  const context = {
    params,
    state: definition.state?.(),
    get nowMs() {
      return nowMs;
    },
    random: () => {
      draws = (draws * 16_807) % 2_147_483_647;
      return (draws - 1) / 2_147_483_646;
    },
    log: (text: string) => void log.push({ timeMs: nowMs, text }),
  };
  return {
    push(item: RunItem) {
      nowMs = item.timeMs;
      const { kind, ...rest } = item;
      const type = kind === 'quote' ? 'book' : kind;
      definition.onEvent({ type, ...rest } as never, context as never);
    },
    result: (): RunResult => ({
      orders: [],
      fills: [],
      trades: [],
      equity: [],
      markets: [],
      log: [...log],
      logLinesLeftOut: 0,
    }),
  };
}
