/** `underround sweep my.ts --walk-forward train:embargo:test`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MICRO_PER_USDC } from '../core/fees.ts';
import type { RunResult } from '../core/run/result.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { type Span, type WalkForwardPlan, walkForward } from '../report/walkForward.ts';
import { writeResult } from '../report/writeReport.ts';
import type { Axis } from '../schema/backtest.ts';
import { printJson } from '../schema/moneyJson.ts';
import type { RunSetting } from '../strategy/protocol.ts';
import { orNull } from './runWalkForward.ts';
import type { StrategyOptions } from './strategyOptions.ts';
import { type FileRuns, receiptOf, sweepBody } from './strategyResults.ts';
import type { SelectionOptions } from './trialsFile.ts';
import { foldsOf, printWalkForward, type TestResult, walkForwardBody } from './walkForwardResult.ts';
import { countRunTrial } from './writeRunReport.ts';

interface WalkForwardRun {
  /** Runs the settings on the windows that end in a span. @throws {BacktestFailedError} If there are none. */
  readonly runOn: (settings: readonly RunSetting[], span: Span, label: string) => Promise<FileRuns>;
  readonly recorded: Span;
  readonly settings: readonly RunSetting[];
  readonly axes: readonly Axis[];
  readonly plan: WalkForwardPlan;
}

/** Chooses the best parameters of each train window, and prints how they did on the test window after it. */
export async function runStrategyWalkForward(
  { runOn, recorded, settings, axes, plan }: WalkForwardRun,
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
  const dataHash = createHash('sha256')
    .update(seen.map((runs) => runs.dataHash).join('\n'))
    .digest('hex');
  const asked = { question: ['walk-forward', plan, settings[0], axes], cells: settings.length };
  const before = countRunTrial({ ...first, dataHash }, options.trials, asked);
  const valuesOf = ({ params }: RunSetting) =>
    Object.fromEntries(axes.map(({ param }) => [param, params[param]]));
  const counted = { trials: settings.length, before, dataHash, heldOut: first.heldOut };
  const body = walkForwardBody(results, { plan, valuesOf, ...counted });
  if (options.out !== undefined) writeResult(join(options.out, 'walk-forward.json'), body);
  console.log(options.json ? printJson(body) : printWalkForward(body));
}

/** The return of a market is its P&L in USD, as in a sweep of a strategy file. */
function testResult(runs: FileRuns, setting: RunSetting): TestResult {
  const { trades, fills } = (runs.results[0] as { result: RunResult }).result;
  const pnls = new Map<string, number>();
  const closed = trades.flatMap(({ marketId, pnl }) => (pnl === null ? [] : [{ marketId, pnl }]));
  for (const { marketId, pnl } of closed) pnls.set(marketId, (pnls.get(marketId) ?? 0) + pnl);
  const returns = [...pnls.values()].map((pnl) => pnl / MICRO_PER_USDC);
  return {
    markets_traded: pnls.size,
    trades_total: closed.length,
    trades_won: closed.filter(({ pnl }) => pnl > 0).length,
    total_pnl: closed.reduce((sum, { pnl }) => sum + pnl, 0) / MICRO_PER_USDC,
    total_fees: fills.reduce((sum, { fee }) => sum + fee, 0) / MICRO_PER_USDC,
    sharpe_per_market: sharpeRatio(returns),
    returns,
    receipt: receiptOf(runs, setting),
  };
}
