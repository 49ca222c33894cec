/** `underround backtest sweep.json --walk-forward train:embargo:test`. */
import { type Cell, cellCount, cellsOf } from '../backtest/cells.ts';
import { type WalkForwardPlan, walkForward } from '../report/walkForward.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import type { BacktestResultBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { JobSpec, SweepSpec } from '../schema/backtest.ts';
import { formatTime } from '../schema/time.ts';
import type { JobRun } from './jobRun.ts';
import { jobTrial, recordTrial } from './trialsFile.ts';
import {
  foldsOf,
  hashOfWindows,
  longestWindowMs,
  orNull,
  readPlan,
  recordedSpan,
  reportWalkForward,
  type TestResult,
  walkForwardBody,
} from './walkForwardResult.ts';

type Sweep = SweepSpec & { readonly kind: 'sweep' };

/** @returns Null without the option. @throws {InvalidInputError} */
export function walkForwardPlan(text: string | undefined, { kind }: JobSpec): WalkForwardPlan | null {
  if (text === undefined) return null;
  if (kind !== 'sweep')
    throw new InvalidInputError('--walk-forward needs a file with `x_axis`: it chooses among cells');
  return readPlan(text);
}

/** Chooses the best cell of each train window, and prints how it did on the test window after it. */
export async function runWalkForward(
  { jobs, trials, options, heldOut }: JobRun,
  spec: Sweep,
  plan: WalkForwardPlan,
): Promise<void> {
  const markets = await jobs.markets(spec);
  const folds = foldsOf(recordedSpan(markets, spec), plan);
  const cells = cellsOf(spec);
  const hashes: string[] = [];
  const seen = <T extends { receipt: { data_hash: string } }>(result: T): T => {
    hashes.push(result.receipt.data_hash);
    return result;
  };
  const results = await walkForward<Cell, TestResult>(folds, {
    candidates: (train) =>
      orNull(async () => {
        const label = `train ${formatTime(train.startMs).slice(0, 16)}`;
        const swept = seen<SweepResultBody>(JSON.parse(await jobs.run({ ...spec, ...train }, label)));
        return swept.cells.flat().flatMap(({ sharpe_per_market: sharpe, total_pnl: totalPnl }, at) => {
          const params = cells[at];
          return typeof params === 'object' ? [{ params, sharpe, totalPnl }] : [];
        });
      }),
    evaluate: (cell, test) =>
      orNull(async () => {
        const { xAxis: _x, yAxis: _y, ...rest } = spec;
        const label = `test  ${formatTime(test.startMs).slice(0, 16)}`;
        const result = seen<BacktestResultBody>(
          JSON.parse(await jobs.run({ ...rest, ...cell, ...test, kind: 'backtest' }, label)),
        );
        return { ...result, returns: returnsOf(result, cell) };
      }),
  });
  const dataHash = hashOfWindows(hashes);
  const sweep = jobTrial(spec, dataHash);
  const trial = { ...sweep, question: ['walk-forward', plan, sweep.question] };
  const before = trials.before(trial);
  recordTrial(trials, trial, { isNamed: options.trials !== undefined });
  const valuesOf = (cell: Cell) => axisValuesOf(cell, spec);
  const counted = { trials: cellCount(spec), before, dataHash, heldOut };
  const windowMs = longestWindowMs(markets);
  const body = walkForwardBody(results, { plan, windowMs, valuesOf, ...counted });
  reportWalkForward(body, options);
}

/** P&L of each traded market over the size of the cell, as on the train windows: cells may have different sizes. */
function returnsOf({ trades }: BacktestResultBody, { sizeUsd }: Cell): number[] {
  const pnls = new Map<string, number>();
  for (const { market_id: id, net_pnl: pnl } of trades) pnls.set(id, (pnls.get(id) ?? 0) + (pnl ?? 0));
  return [...pnls.values()].map((pnl) => pnl / sizeUsd);
}

function axisValuesOf(cell: Cell, { xAxis, yAxis }: Sweep): Record<string, number> {
  const axes = [xAxis, ...(yAxis ? [yAxis] : [])];
  return Object.fromEntries(axes.map(({ param }) => [param, axisValueOf(cell, param)]));
}

/** The value of an axis in a cell, such as `entry.0.value` of its strategy. */
function axisValueOf({ strategy, params, sizeUsd }: Cell, param: string): number {
  const all = { ...strategy, ...params, size_usd: sizeUsd } as object;
  return param
    .split('.')
    .reduce((inside, name) => (inside as Record<string, object>)[name] as object, all) as unknown as number;
}
