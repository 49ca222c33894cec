/** What a sweep answers: the grid, and how far its best cell can be believed. */
import type { Trade } from '../core/replay/position.ts';
import { type MarketResult, pnlOf, summarize } from '../core/replay/summary.ts';
import type { TapeMarket } from '../core/replay/tape.ts';
import { type SweepLuck, sweepLuck } from '../core/statistics/sweepLuck.ts';
import type { SweepCellBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { Receipt, SweepSpec } from '../schema/backtest.ts';
import { axisValues, type Cell } from './cells.ts';
import type { MarketSweep } from './marketReplay.ts';
import { checkReplayed, countedSkips } from './report.ts';

/** All cells on one market; its ranges follow each other in the order of the cells. */
export interface SweptMarket {
  readonly market: TapeMarket;
  readonly ranges: readonly MarketSweep[];
}

export interface JudgedSweep {
  readonly cells: readonly SweepCellBody[];
  /** Of the cells that could be tried; `best` counts all cells. */
  readonly luck: SweepLuck;
}

const NOTHING_MISSED = { no_depth: 0, untrusted: 0, unconfirmed: 0 };
/** What the sums over a cell do not read. */
const UNREAD: Omit<Trade, 'closedMs' | 'pnl'> = {
  ...{ token: 'yes', decidedMs: 0, openedMs: 0, size: 0, entryPrice: 0, exitPrice: null, exitReason: null },
  ...{ principal: 0, fees: 0, slippage: 0 },
};

/**
 * Sums every cell up as a backtest of its own would be, and weighs them against each other. Takes seconds for
 * thousands of cells.
 * @param markets In order of their windows.
 */
export function judgeSweep(markets: readonly SweptMarket[], cells: readonly (Cell | string)[]): JudgedSweep {
  const replayed = markets.filter(({ ranges }) => skipOf(ranges) === null);
  const tried = cells.flatMap((cell, at) => (typeof cell === 'string' ? [] : [{ cell, at }]));
  const [periods, trials] = [replayed.length, tried.length];
  const results = new Float64Array(periods * trials);
  const bodies = cells.map((cell) => failedCell(typeof cell === 'string' ? cell : ''));
  for (const [trial, { cell, at }] of tried.entries()) {
    const outcomes = replayed.map((market) => outcomeOf(market, at));
    bodies[at] = cellBody(outcomes, cell.sizeUsd);
    for (const [period, outcome] of outcomes.entries()) {
      results[period * trials + trial] = pnlOf(outcome) / cell.sizeUsd;
    }
  }
  const luck = sweepLuck({ results, periods, trials });
  return {
    cells: bodies,
    luck: { ...luck, best: luck.best === null ? null : (tried[luck.best]?.at ?? null) },
  };
}

/** @throws {BacktestFailedError} When no market could be replayed. */
export function sweepResult(
  markets: readonly SweptMarket[],
  { spec, judged, receipt }: { spec: SweepSpec; judged: JudgedSweep; receipt: Receipt },
): SweepResultBody {
  const { cells, luck } = judged;
  const width = spec.xAxis.steps;
  return {
    x_axis: { param: spec.xAxis.param, values: axisValues(spec.xAxis) },
    y_axis: spec.yAxis === null ? null : { param: spec.yAxis.param, values: axisValues(spec.yAxis) },
    cells: Array.from({ length: cells.length / width }, (_, y) => cells.slice(y * width, (y + 1) * width)),
    best: luck.best === null ? null : { x: luck.best % width, y: Math.floor(luck.best / width) },
    n_trials: luck.trials,
    deflated_sharpe: luck.deflatedSharpe,
    pbo: luck.overfittingProbability,
    min_track_record_markets: luck.minTrackRecordMarkets,
    warnings: [...luck.warnings, ...leftOut(markets, cells)],
    receipt,
  };
}

/** @throws {BacktestFailedError} When no cell could replay any market. */
export function checkSwept(markets: readonly SweptMarket[], spec: SweepSpec): void {
  checkReplayed(
    markets.map(({ ranges }) => skipOf(ranges)),
    spec,
  );
}

function leftOut(markets: readonly SweptMarket[], cells: readonly SweepCellBody[]): string[] {
  const failed = cells.filter(({ error }) => error !== null).length;
  const skips = markets.map(({ ranges }) => skipOf(ranges));
  const skipped = skips.filter((skip) => skip !== null).length;
  return [
    ...(failed > 0 ? [`${failed} of ${cells.length} cells could not be tried`] : []),
    ...(skipped > 0 ? [`${skipped} of ${skips.length} markets were left out: ${countedSkips(skips)}`] : []),
  ];
}

/** A market is left out where no range of cells could replay it. */
function skipOf(ranges: readonly MarketSweep[]): MarketSweep['skipped'] {
  const replayed = ranges.some(({ skipped }) => skipped === null);
  return replayed ? null : (ranges[0]?.skipped ?? null);
}

function outcomeOf({ market, ranges }: SweptMarket, cell: number): MarketResult {
  let at = cell;
  const range = ranges.find(({ offsets }) => {
    if (at < offsets.length - 1) return true;
    at -= offsets.length - 1;
    return false;
  });
  if (range === undefined) throw new RangeError(`no cell ${cell}`);
  const { offsets, closedMs, pnl } = range;
  const trades: Trade[] = [];
  for (let i = offsets[at] as number; i < (offsets[at + 1] as number); i++) {
    trades.push({ ...UNREAD, closedMs: closedMs[i] as number, pnl: pnl[i] as number });
  }
  return { market, coverage: range.coverage, replay: { skipped: null, trades, missed: NOTHING_MISSED } };
}

function cellBody(outcomes: readonly MarketResult[], sizeUsd: number): SweepCellBody {
  const summary = summarize(outcomes, sizeUsd);
  return {
    trades_total: summary.tradesTotal,
    total_pnl: summary.totalPnl,
    win_rate: summary.winRate,
    sharpe_per_market: summary.sharpePerMarket,
    max_drawdown: summary.maxDrawdown,
    profit_factor: summary.profitFactor,
    error: null,
  };
}

function failedCell(error: string): SweepCellBody {
  return {
    ...{ trades_total: 0, total_pnl: 0, win_rate: null, sharpe_per_market: null },
    ...{ max_drawdown: 0, profit_factor: null, error },
  };
}
