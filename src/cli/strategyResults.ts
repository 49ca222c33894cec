/** Results of strategy files in the shapes of the API's results, so that the same tables and readers suit both. */
import { axisValues, type Cell } from '../backtest/cells.ts';
import { codeVersion } from '../backtest/codeVersion.ts';
import type { MarketSweep } from '../backtest/marketReplay.ts';
import { judgeSweep, type SweptMarket, sweepResult } from '../backtest/sweepReport.ts';
import { MICRO_PER_USDC } from '../core/fees.ts';
import type { ParamSpecs } from '../core/run/definition.ts';
import { countedTrades, type RunResult } from '../core/run/result.ts';
import { tapeMarketOf } from '../core/session/tapeMarket.ts';
import { VENUE_RULES_VERSION } from '../core/venueRules.ts';
import type { SweepResultBody } from '../schema/api/backtests.ts';
import type { Axis, Receipt } from '../schema/backtest.ts';
import type { LatencyPoint } from '../schema/report.ts';
import { API_VERSION } from '../schema/version.ts';
import type { ParamValue, RunSetting, StrategyFacts } from '../strategy/protocol.ts';
import type { RecordedRuns } from '../strategy/recordedRuns.ts';
import type { HeldOut } from './holdOut.ts';

/** Runs of a strategy file, and the windows that they were not shown. */
export interface FileRuns extends RecordedRuns {
  readonly heldOut: HeldOut | null;
}

/** Identifies a run, so that it can be repeated: the same recording, code, parameters and terms give the same bytes. */
interface StrategyReceipt extends Receipt {
  /** SHA-256 over the strategy file and its local imports. */
  readonly strategy_hash: string;
  /** False if the strategy used a clock, randomness, files or the network that a repetition would not repeat. */
  readonly reproducible: boolean;
  readonly uses: readonly { readonly name: string; readonly count: number }[];
  readonly held_out?: HeldOut;
}

export function receiptOf(
  { dataHash, codeHash, uses, heldOut }: FileRuns,
  { terms }: RunSetting,
): StrategyReceipt {
  return {
    data_hash: dataHash,
    venue_rules: VENUE_RULES_VERSION,
    code_version: codeVersion(API_VERSION),
    seed: terms.seed,
    strategy_hash: codeHash,
    reproducible: uses.length === 0,
    uses,
    ...(heldOut === null ? {} : { held_out: heldOut }),
  };
}

export function runBody(
  runs: FileRuns,
  { facts, setting, curveMs }: { facts: StrategyFacts; setting: RunSetting; curveMs: readonly number[] },
) {
  const [own, ...others] = runs.results.map(({ result }) => result) as [RunResult, ...RunResult[]];
  const skipped = own.markets.flatMap(({ marketId, skipped: reason }) =>
    reason === null ? [] : [{ market_id: marketId, reason: reason as string }],
  );
  return {
    name: facts.name,
    settings: setting,
    markets_total: runs.markets.length,
    markets_skipped: [...runs.tooLarge.map((market_id) => ({ market_id, reason: 'too_large' })), ...skipped],
    ...figuresOf(own),
    latency_curve:
      curveMs.length === 0
        ? null
        : curveMs.map((latency_ms, at): LatencyPoint => {
            const { total_pnl, trades_total, fill_rate } = figuresOf(others[at] as RunResult);
            return { latency_ms, total_pnl, trades_total, fill_rate };
          }),
    result: own,
    receipt: receiptOf(runs, setting),
  };
}
export type RunBody = ReturnType<typeof runBody>;

/** The figures of one run, in USD. */
export function figuresOf(result: RunResult) {
  const { orders, fills } = result;
  const filled = orders.filter(
    ({ filledSize, outcome }) => filledSize > 0 && outcome !== 'taken_back',
  ).length;
  const closed = countedTrades(result).filter(({ pnl }) => pnl !== null);
  return {
    orders: { placed: orders.length, filled },
    fill_rate: orders.length === 0 ? null : filled / orders.length,
    fills: fills.length,
    trades_total: closed.length,
    trades_won: closed.filter(({ pnl }) => (pnl as number) > 0).length,
    total_pnl: closed.reduce((sum, { pnl }) => sum + (pnl as number), 0) / MICRO_PER_USDC,
    total_fees: fills.reduce((sum, { fee }) => sum + fee, 0) / MICRO_PER_USDC,
  };
}

/** The parameters of each cell, in rows of equal y. */
export function cellParams(
  specs: ParamSpecs,
  [x, y]: readonly Axis[],
  fixed: Readonly<Record<string, ParamValue>>,
): Record<string, ParamValue>[] {
  const values = (axis: Axis | undefined): Record<string, number>[] =>
    axis === undefined
      ? [{}]
      : axisValues(axis).map((value) => ({ [axis.param]: wholeIf(specs, axis, value) }));
  return values(y).flatMap((row) => values(x).map((column) => ({ ...fixed, ...row, ...column })));
}

function wholeIf(specs: ParamSpecs, { param }: Axis, value: number): number {
  const spec = specs[param];
  return spec !== undefined && 'whole' in spec && spec.whole ? Math.round(value) : value;
}

/** The return of a market is its P&L in USD: a strategy of one's own has no fixed size. */
const CELL: Pick<Cell, 'sizeUsd'> = { sizeUsd: 1 };

export function sweepBody(
  runs: FileRuns,
  { axes, setting, trialsBefore }: { axes: readonly Axis[]; setting: RunSetting; trialsBefore: number },
): SweepResultBody {
  const results = runs.results.map(({ result }) => result);
  const markets = runs.markets.map((market): SweptMarket => {
    return { market: tapeMarketOf(market), ranges: [sweptMarket(results, market.marketId)] };
  });
  const judged = judgeSweep(
    markets,
    results.map(() => CELL),
    { trialsBefore },
  );
  const [xAxis, yAxis = null] = axes as [Axis, Axis?];
  return sweepResult(markets, { spec: { xAxis, yAxis }, judged, receipt: receiptOf(runs, setting) });
}

function sweptMarket(results: readonly RunResult[], marketId: string): MarketSweep {
  const closedMs: number[] = [];
  const pnls: number[] = [];
  const offsets = new Uint32Array(results.length + 1);
  for (const [at, { trades }] of results.entries()) {
    for (const trade of trades) {
      if (trade.marketId !== marketId || trade.pnl === null) continue;
      closedMs.push(trade.closedMs ?? Number.NaN);
      pnls.push(trade.pnl);
    }
    offsets[at + 1] = pnls.length;
  }
  const inRun = ({ markets }: RunResult) => markets.find((market) => market.marketId === marketId);
  const ran = results[0] && inRun(results[0]);
  // A cell that never traded is blind without the strike; another one may have traded.
  const isReplayed = results.some((result) => inRun(result)?.skipped === null);
  return {
    skipped: isReplayed ? null : (ran?.skipped ?? 'too_large'),
    ...{ coverage: ran?.coverage ?? 0, offsets },
    ...{ closedMs: Float64Array.from(closedMs), pnl: Float64Array.from(pnls) },
  };
}
