/** `underround backtest sweep.json --walk-forward train:embargo:test`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Cell, cellCount, cellsOf } from '../backtest/cells.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import {
  type FoldResult,
  planFolds,
  type Span,
  type WalkForwardPlan,
  walkForward,
} from '../report/walkForward.ts';
import { writeResult } from '../report/writeReport.ts';
import { BacktestFailedError, InvalidInputError } from '../runtime/errors.ts';
import type { BacktestResultBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { JobSpec, SweepSpec } from '../schema/backtest.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { HeldOut } from './holdOut.ts';
import type { JobRun } from './jobRun.ts';
import type { LocalJobs } from './localJobs.ts';
import { formatTable } from './table.ts';
import { jobTrial, recordTrial } from './trialsFile.ts';

type Sweep = SweepSpec & { readonly kind: 'sweep' };
type Fold = FoldResult<Cell, BacktestResultBody>;

const FOLDS_MAX = 500;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @returns Null without the option. @throws {InvalidInputError} */
export function walkForwardPlan(text: string | undefined, { kind }: JobSpec): WalkForwardPlan | null {
  if (text === undefined) return null;
  if (kind !== 'sweep')
    throw new InvalidInputError('--walk-forward needs a file with `x_axis`: it chooses among cells');
  const parts = text.split(':').map(durationMs);
  const [trainMs, embargoMs, testMs] = parts;
  if (parts.length !== 3 || !trainMs || !testMs || embargoMs === undefined || parts.some(Number.isNaN)) {
    throw new InvalidInputError(`--walk-forward ${text}: expected TRAIN:EMBARGO:TEST such as 6h:15m:2h`);
  }
  return { trainMs, embargoMs, testMs };
}

function durationMs(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (text === '0') return 0;
  return number === undefined ? Number.NaN : Math.round(Number(number) * (UNITS_MS[unit] ?? Number.NaN));
}

/** Chooses the best cell of each train window, and prints how it did on the test window after it. */
export async function runWalkForward(
  { jobs, trials, options, heldOut }: JobRun,
  spec: Sweep,
  plan: WalkForwardPlan,
): Promise<void> {
  const folds = planFolds(await recordedRange(jobs, spec), plan);
  if (folds.length === 0) {
    throw new InvalidInputError(
      '--walk-forward: the recorded markets are shorter than train, embargo and test together',
    );
  }
  if (folds.length > FOLDS_MAX)
    throw new InvalidInputError(`--walk-forward: at most ${FOLDS_MAX} test windows`);
  const cells = cellsOf(spec);
  const hashes: string[] = [];
  const seen = <T extends { receipt: { data_hash: string } }>(result: T): T => {
    hashes.push(result.receipt.data_hash);
    return result;
  };
  const results = await walkForward<Cell, BacktestResultBody>(folds, {
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
        return seen<BacktestResultBody>(
          JSON.parse(await jobs.run({ ...rest, ...cell, ...test, kind: 'backtest' }, label)),
        );
      }),
  });
  const dataHash = createHash('sha256').update(hashes.join('\n')).digest('hex');
  const sweep = jobTrial(spec, dataHash);
  const trial = { ...sweep, question: ['walk-forward', plan, sweep.question] };
  const before = trials.before(trial);
  recordTrial(trials, trial, { isNamed: options.trials !== undefined });
  const body = bodyOf(results, { spec, plan, before, dataHash, heldOut });
  if (options.out !== undefined) writeResult(join(options.out, 'walk-forward.json'), body);
  console.log(options.json ? printJson(body) : printWalkForward(body));
}

/** From the first to the last recorded market's end. */
async function recordedRange(jobs: LocalJobs, spec: Sweep): Promise<Span> {
  const markets = await jobs.markets(spec);
  const [first, last] = [markets[0], markets.at(-1)];
  if (first === undefined || last === undefined)
    throw new BacktestFailedError('no market ended in the range asked for');
  return { startMs: spec.startMs ?? first.endTimeMs, endMs: Math.min(spec.endMs, last.endTimeMs + 1) };
}

/** Null where no market of a window could be replayed: other windows still count. */
async function orNull<T>(run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof BacktestFailedError) return null;
    throw error;
  }
}

interface Asked {
  readonly spec: Sweep;
  readonly plan: WalkForwardPlan;
  readonly before: number;
  readonly dataHash: string;
  readonly heldOut: HeldOut | null;
}

function bodyOf(folds: readonly Fold[], { spec, plan, before, dataHash, heldOut }: Asked) {
  const tests = folds.flatMap(({ result }) => (result === null ? [] : [result]));
  const returns = tests.flatMap(returnsOf);
  const sharpe = sharpeRatio(returns);
  const trained = folds.flatMap(({ chosen }) => (chosen?.sharpe == null ? [] : [chosen.sharpe]));
  const trainSharpe =
    trained.length === 0 ? null : trained.reduce((sum, value) => sum + value, 0) / trained.length;
  const total = (of: (result: BacktestResultBody) => number) =>
    tests.reduce((sum, result) => sum + of(result), 0);
  return {
    ...{ train_s: plan.trainMs / 1_000, embargo_s: plan.embargoMs / 1_000, test_s: plan.testMs / 1_000 },
    folds: folds.map((fold) => foldBody(fold, spec)),
    train_sharpe_per_market: trainSharpe,
    test: {
      markets_traded: total((result) => result.markets_traded),
      trades_total: total((result) => result.trades_total),
      trades_won: total((result) => result.trades_won),
      total_pnl: total((result) => result.total_pnl),
      total_fees: total((result) => result.total_fees),
      sharpe_per_market: sharpe,
    },
    /** How much of the train windows' ratio is left on the test windows. */
    efficiency: sharpe === null || trainSharpe === null || trainSharpe <= 0 ? null : sharpe / trainSharpe,
    n_trials: cellCount(spec),
    n_trials_before: before,
    receipt: {
      ...tests[0]?.receipt,
      data_hash: dataHash,
      ...(heldOut === null ? {} : { held_out: heldOut }),
    },
  };
}
type WalkForwardBody = ReturnType<typeof bodyOf>;

/** P&L of each traded market over the cost of its first purchase: cells may have different sizes. */
function returnsOf({ trades }: BacktestResultBody): number[] {
  const markets = new Map<string, { pnl: number; cost: number }>();
  for (const { market_id: id, net_pnl: pnl, size_usd: cost } of trades) {
    const known = markets.get(id);
    markets.set(id, { pnl: (known?.pnl ?? 0) + (pnl ?? 0), cost: known?.cost ?? cost });
  }
  return [...markets.values()].map(({ pnl, cost }) => pnl / cost);
}

function foldBody({ train, test, chosen, result }: Fold, { xAxis, yAxis }: Sweep) {
  const span = ({ startMs, endMs }: Span) => ({ start: formatTime(startMs), end: formatTime(endMs) });
  const values = (cell: Cell) =>
    Object.fromEntries(
      [xAxis, ...(yAxis ? [yAxis] : [])].map(({ param }) => [param, axisValueOf(cell, param)]),
    );
  return {
    train: span(train),
    test: span(test),
    chosen: chosen && values(chosen.params),
    train_sharpe_per_market: chosen?.sharpe ?? null,
    train_pnl: chosen?.totalPnl ?? null,
    result: result && {
      markets_traded: result.markets_traded,
      trades_total: result.trades_total,
      total_pnl: result.total_pnl,
      sharpe_per_market: result.sharpe_per_market,
    },
  };
}

/** The value of an axis in a cell, such as `entry.0.value` of its strategy. */
function axisValueOf({ strategy, params, sizeUsd }: Cell, param: string): number {
  const all = { ...strategy, ...params, size_usd: sizeUsd } as object;
  return param
    .split('.')
    .reduce((inside, name) => (inside as Record<string, object>)[name] as object, all) as unknown as number;
}

function printWalkForward(body: WalkForwardBody): string {
  const fixed = (value: number | null, digits: number) => (value === null ? null : value.toFixed(digits));
  const rows = body.folds.map(({ test, chosen, result, ...fold }) => [
    `${test.start.slice(0, 16)} to ${test.end.slice(5, 16)}`,
    chosen &&
      Object.entries(chosen)
        .map(([param, value]) => `${param}=${value}`)
        .join(' '),
    fixed(fold.train_sharpe_per_market, 4),
    result && String(result.trades_total),
    fixed(result?.total_pnl ?? null, 2),
  ]);
  const summary: [string, string | null][] = [
    ['trades on test windows', `${body.test.trades_total}, won ${body.test.trades_won}`],
    ['P&L on test windows', `${body.test.total_pnl.toFixed(2)} USD`],
    ['Sharpe a market, train', fixed(body.train_sharpe_per_market, 4)],
    ['Sharpe a market, test', fixed(body.test.sharpe_per_market, 4)],
    ['share that is left', body.efficiency === null ? null : `${(100 * body.efficiency).toFixed(0)} %`],
    ['trials', `${body.n_trials}, before: ${body.n_trials_before}`],
    ['data', body.receipt.data_hash.slice(0, 16)],
  ];
  const table = formatTable(['TEST WINDOW', 'CHOSEN', 'TRAIN SHARPE', 'TRADES', 'P&L'], rows);
  return `${table}\n\n${formatTable(['WALK-FORWARD', ''], summary)}`;
}
