/** The plan of `--walk-forward`, and its result as a body and as tables. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { extentOf } from '../core/statistics/extent.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { type FoldResult, planFolds, type Span, type WalkForwardPlan } from '../report/walkForward.ts';
import { writeResult } from '../report/writeReport.ts';
import { BacktestFailedError, InvalidInputError } from '../runtime/errors.ts';
import type { Market } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { HeldOut } from './holdOut.ts';
import { formatTable } from './table.ts';

const FOLDS_MAX = 500;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The value of `--walk-forward`. @throws {InvalidInputError} */
export function readPlan(text: string): WalkForwardPlan {
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

/** @throws {InvalidInputError} If none fits into the recorded range, or too many do. */
export function foldsOf(recorded: Span, plan: WalkForwardPlan): ReturnType<typeof planFolds> {
  const folds = planFolds(recorded, plan);
  if (folds.length === 0) {
    throw new InvalidInputError(
      '--walk-forward: the recorded markets are shorter than train, embargo and test together',
    );
  }
  if (folds.length > FOLDS_MAX)
    throw new InvalidInputError(`--walk-forward: at most ${FOLDS_MAX} test windows`);
  return folds;
}

/** From the first to the last recorded market's end, within the range asked for. @throws {BacktestFailedError} */
export function recordedSpan(
  markets: readonly Pick<Market, 'endTimeMs'>[],
  asked: { readonly startMs: number | null; readonly endMs: number },
): Span {
  if (markets.length === 0) throw new BacktestFailedError('no market ended in the range asked for');
  const [first, last] = extentOf(markets.map(({ endTimeMs }) => endTimeMs));
  return { startMs: asked.startMs ?? first, endMs: Math.min(asked.endMs, last + 1) };
}

/** Length of the longest window among these markets. */
export function longestWindowMs(markets: readonly Pick<Market, 'startTimeMs' | 'endTimeMs'>[]): number {
  return extentOf(markets.map(({ startTimeMs, endTimeMs }) => endTimeMs - startTimeMs))[1];
}

/** Null where no market of a window could be replayed: other windows still count. */
export async function orNull<T>(run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof BacktestFailedError) return null;
    throw error;
  }
}

/** SHA-256 in hex over the data hashes of all windows, in the order in which they were read. */
export function hashOfWindows(dataHashes: readonly string[]): string {
  return hash('sha256', dataHashes.join('\n'), 'hex');
}

/** What the chosen parameters came to on one test window. */
export interface TestResult {
  readonly markets_traded: number;
  readonly trades_total: number;
  readonly trades_won: number;
  readonly total_pnl: number;
  readonly total_fees: number;
  readonly sharpe_per_market: number | null;
  /** Of each traded market. */
  readonly returns: readonly number[];
  readonly receipt: object;
}

interface Asked<P> {
  readonly plan: WalkForwardPlan;
  /** `longestWindowMs` of the markets. */
  readonly windowMs: number;
  /** The values of the axes in a set of parameters. */
  readonly valuesOf: (params: P) => Readonly<Record<string, unknown>>;
  /** Sets of parameters that were tried, and those that earlier runs tried. */
  readonly trials: number;
  readonly before: number;
  readonly dataHash: string;
  readonly heldOut: HeldOut | null;
}

/** The result of all folds, as printed and written. */
export function walkForwardBody<P>(
  folds: readonly FoldResult<P, TestResult>[],
  { plan, windowMs, valuesOf, trials, before, dataHash, heldOut }: Asked<P>,
) {
  // The two ratios are compared, so a train window counts only if its test window was replayed.
  const replayed = folds.filter(({ result }) => result !== null);
  const tests = replayed.flatMap(({ result }) => result ?? []);
  const returns = tests.flatMap(({ returns }) => returns);
  const sharpe = sharpeRatio(returns);
  const trained = replayed.flatMap(({ chosen }) => chosen?.sharpe ?? []);
  const trainSharpe =
    trained.length === 0 ? null : trained.reduce((sum, value) => sum + value, 0) / trained.length;
  const total = (of: (result: TestResult) => number) => tests.reduce((sum, result) => sum + of(result), 0);
  return {
    ...{ train_s: plan.trainMs / 1_000, embargo_s: plan.embargoMs / 1_000, test_s: plan.testMs / 1_000 },
    folds: folds.map((fold) => foldBody(fold, valuesOf)),
    train_sharpe_per_market: trainSharpe,
    test: {
      windows: folds.length,
      windows_replayed: replayed.length,
      markets_traded: total((result) => result.markets_traded),
      trades_total: total((result) => result.trades_total),
      trades_won: total((result) => result.trades_won),
      total_pnl: total((result) => result.total_pnl),
      total_fees: total((result) => result.total_fees),
      sharpe_per_market: sharpe,
    },
    /** How much of the train windows' ratio is left on the test windows. */
    efficiency: sharpe === null || trainSharpe === null || trainSharpe <= 0 ? null : sharpe / trainSharpe,
    n_trials: trials,
    n_trials_before: before,
    warnings: warningsOf(plan, windowMs),
    receipt: {
      ...tests[0]?.receipt,
      data_hash: dataHash,
      ...(heldOut === null ? {} : { held_out: heldOut }),
    },
  };
}

function warningsOf({ embargoMs }: WalkForwardPlan, windowMs: number): string[] {
  if (embargoMs >= windowMs) return [];
  return [
    `The embargo of ${embargoMs / 1_000} s is shorter than a window of ${windowMs / 1_000} s: the first markets of a test window may have opened before the outcomes of its train window were known.`,
  ];
}

type WalkForwardBody = ReturnType<typeof walkForwardBody>;

function foldBody<P>(
  { train, test, chosen, result }: FoldResult<P, TestResult>,
  valuesOf: Asked<P>['valuesOf'],
) {
  const span = ({ startMs, endMs }: Span) => ({ start: formatTime(startMs), end: formatTime(endMs) });
  return {
    train: span(train),
    test: span(test),
    chosen: chosen && valuesOf(chosen.params),
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

/** Writes the result where a directory is named, and prints it. */
export function reportWalkForward(
  body: WalkForwardBody,
  { out, json }: { readonly out?: string; readonly json?: boolean },
): void {
  if (out !== undefined) writeResult(join(out, 'walk-forward.json'), body);
  console.log(json ? printJson(body) : printWalkForward(body));
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
    ['test windows replayed', `${body.test.windows_replayed} of ${body.test.windows}`],
    ['trades on test windows', `${body.test.trades_total}, won ${body.test.trades_won}`],
    ['P&L on test windows', `${body.test.total_pnl.toFixed(2)} USD`],
    ['Sharpe a market, train', fixed(body.train_sharpe_per_market, 4)],
    ['Sharpe a market, test', fixed(body.test.sharpe_per_market, 4)],
    ['share that is left', body.efficiency === null ? null : `${(100 * body.efficiency).toFixed(0)} %`],
    ['trials', `${body.n_trials}, before: ${body.n_trials_before}`],
    ['data', body.receipt.data_hash.slice(0, 16)],
  ];
  const table = formatTable(['TEST WINDOW', 'CHOSEN', 'TRAIN SHARPE', 'TRADES', 'P&L'], rows);
  return [table, formatTable(['WALK-FORWARD', ''], summary), ...body.warnings].join('\n\n');
}
