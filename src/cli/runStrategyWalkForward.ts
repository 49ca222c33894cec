/** `underround sweep my.ts --walk-forward train:embargo:test`. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import { countedTrades, type RunResult } from '../core/run/result.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { type Span, type WalkForwardPlan, walkForward } from '../report/walkForward.ts';
import type { Axis } from '../schema/backtest.ts';
import type { RunSetting } from '../strategy/protocol.ts';
import type { StrategyOptions } from './strategyOptions.ts';
import { type FileRuns, figuresOf, receiptOf, sweepBody } from './strategyResults.ts';
import type { SelectionOptions } from './trialsFile.ts';
import {
  foldsOf,
  hashOfWindows,
  orNull,
  reportWalkForward,
  type TestResult,
  walkForwardBody,
} from './walkForwardResult.ts';
import { countRunTrial } from './writeRunReport.ts';

interface WalkForwardRun {
  /** Runs the settings on the windows that end in a span. @throws {BacktestFailedError} If there are none. */
  readonly runOn: (settings: readonly RunSetting[], span: Span, label: string) => Promise<FileRuns>;
  readonly recorded: Span;
  /** `longestWindowMs` of the recorded markets. */
  readonly windowMs: number;
  readonly settings: readonly RunSetting[];
  readonly axes: readonly Axis[];
  readonly plan: WalkForwardPlan;
}

/** Chooses the best parameters of each train window, and prints how they did on the test window after it. */
export async function runStrategyWalkForward(
  { runOn, recorded, windowMs, settings, axes, plan }: WalkForwardRun,
  options: StrategyOptions & SelectionOptions,
): Promise<void> {
  const seen: FileRuns[] = [];
  const run = async (own: readonly RunSetting[], span: Span, label: string) => {
    const runs = await runOn(own, span, label);
    seen.push(runs);
    return runs;
  };
  const results = await walkForward<RunSetting, TestResult>(foldsOf(recorded, plan), {
    candidates: (train) =>
      orNull(async () => {
        const runs = await run(settings, train, 'train');
        const setting = settings[0] as RunSetting;
        const cells = sweepBody(runs, { axes, setting, trialsBefore: 0 }).cells.flat();
        return cells.map(({ sharpe_per_market: sharpe, total_pnl: totalPnl }, at) => {
          return { params: settings[at] as RunSetting, sharpe, totalPnl };
        });
      }),
    evaluate: (setting, test) => orNull(async () => testResult(await run([setting], test, 'test'), setting)),
  });
  const [first] = seen;
  if (first === undefined) throw new RangeError('a plan without windows');
  const dataHash = hashOfWindows(seen.map((runs) => runs.dataHash));
  const asked = { question: ['walk-forward', plan, settings[0], axes], cells: settings.length };
  const before = countRunTrial({ ...first, dataHash }, options.trials, asked);
  const valuesOf = ({ params }: RunSetting) =>
    Object.fromEntries(axes.map(({ param }) => [param, params[param]]));
  const counted = { trials: settings.length, before, dataHash, heldOut: first.heldOut };
  const body = walkForwardBody(results, { plan, windowMs, valuesOf, ...counted });
  reportWalkForward(body, options);
}

/** The return of a market is its P&L in USD, as in a sweep of a strategy file. */
function testResult(runs: FileRuns, setting: RunSetting): TestResult {
  const { result } = runs.results[0] as { result: RunResult };
  const pnls = new Map<string, number>();
  for (const { marketId, pnl } of countedTrades(result))
    if (pnl !== null) pnls.set(marketId, (pnls.get(marketId) ?? 0) + pnl);
  const returns = [...pnls.values()].map((pnl) => pnl / MICRO_PER_USDC);
  return {
    ...figuresOf(result),
    markets_traded: pnls.size,
    sharpe_per_market: sharpeRatio(returns),
    returns,
    receipt: receiptOf(runs, setting),
  };
}
