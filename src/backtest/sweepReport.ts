/** Builds a sweep's response: the grid of cells, and statistics on how credible its best cell is. */
import { tradeFigures } from '../core/session/summary.ts';
import type { TapeMarket } from '../core/session/tape.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { type SweepLuck, sweepLuck } from '../core/statistics/sweepLuck.ts';
import type { SweepCellBody, SweepResultBody } from '../schema/api/backtests.ts';
import type { Receipt, SweepSpec } from '../schema/backtest.ts';
import { axisValues, type Cell } from './cells.ts';
import type { MarketSweep } from './marketReplay.ts';
import { checkReplayed, countedSkips, windowsOverlap } from './report.ts';
import { type CellTrades, cellTrades, stressedPnl } from './sweptTrades.ts';

/** All cells on one market; the ranges are in the order of the cells. */
export interface SweptMarket {
  readonly market: TapeMarket;
  readonly ranges: readonly MarketSweep[];
}

export interface JudgedSweep {
  readonly cells: readonly SweepCellBody[];
  /** Statistics of the valid cells; `best` is an index into all cells. */
  readonly luck: SweepLuck;
}

/**
 * Summarises every cell like a separate backtest, and compares the cells statistically. Takes seconds for thousands of
 * cells.
 * @param markets In order of their windows.
 * @param trialsBefore Number of cells that the user's earlier jobs tried on the same universe.
 */
export function judgeSweep(
  markets: readonly SweptMarket[],
  cells: readonly ((Pick<Cell, 'sizeUsd'> & Partial<Pick<Cell, 'params'>>) | string)[],
  { trialsBefore }: { trialsBefore: number },
): JudgedSweep {
  const replayed = markets.map(({ ranges }) => ranges).filter((ranges) => skipOf(ranges) === null);
  const tried = cells.flatMap((cell, at) => (typeof cell === 'string' ? [] : [{ cell, at }]));
  const [periods, trials] = [replayed.length, tried.length];
  const results = new Float64Array(periods * trials);
  const traded = new Uint8Array(periods * trials);
  const bodies = cells.map((cell) => failedCell(typeof cell === 'string' ? cell : ''));
  for (const [trial, { cell, at }] of tried.entries()) {
    const trades = cellTrades(replayed, at);
    const stressed = cell.params?.stress === undefined ? null : stressedPnl(replayed, at);
    bodies[at] = cellBody(trades, cell.sizeUsd, stressed);
    for (const [period, pnl] of trades.marketPnls.entries()) {
      results[period * trials + trial] = pnl / cell.sizeUsd;
    }
    for (const period of trades.tradedAt) traded[period * trials + trial] = 1;
  }
  const shown = tried.map(({ at }) => {
    const { sharpe_per_market: sharpe, total_pnl: totalPnl } = bodies[at] as SweepCellBody;
    return { sharpe, totalPnl };
  });
  const luck = sweepLuck({ trials: { results, periods, trials }, traded, shown }, { trialsBefore });
  return {
    cells: bodies,
    luck: { ...luck, best: luck.best === null ? null : (tried[luck.best]?.at ?? null) },
  };
}

/** @throws {BacktestFailedError} If no market could be replayed. */
export function sweepResult(
  markets: readonly SweptMarket[],
  {
    spec,
    judged,
    receipt,
  }: { spec: Pick<SweepSpec, 'xAxis' | 'yAxis'>; judged: JudgedSweep; receipt: Receipt },
): SweepResultBody {
  const { cells, luck } = judged;
  const width = spec.xAxis.steps;
  return {
    x_axis: { param: spec.xAxis.param, values: axisValues(spec.xAxis) },
    y_axis: spec.yAxis === null ? null : { param: spec.yAxis.param, values: axisValues(spec.yAxis) },
    cells: Array.from({ length: cells.length / width }, (_, y) => cells.slice(y * width, (y + 1) * width)),
    best: luck.best === null ? null : { x: luck.best % width, y: Math.floor(luck.best / width) },
    n_trials: luck.trials,
    n_trials_before: luck.trialsBefore,
    n_trials_effective: luck.effectiveTrials,
    sharpe_variance: luck.sharpeVariance,
    deflated_sharpe: luck.deflatedSharpe,
    pbo: luck.overfittingProbability,
    min_track_record_markets: luck.minTrackRecordMarkets,
    warnings: [...luck.warnings, ...limitsOf(markets, cells)],
    receipt,
  };
}

/** @throws {BacktestFailedError} If no cell could replay any market. */
export function checkSwept(markets: readonly SweptMarket[], spec: SweepSpec): void {
  checkReplayed(
    markets.map(({ ranges }) => skipOf(ranges)),
    spec,
  );
}

const OVERLAP = 'windows of several series overlap; the statistics count them as independent markets';

/** What the statistics do not know of the markets and cells. */
function limitsOf(markets: readonly SweptMarket[], cells: readonly SweepCellBody[]): string[] {
  const failed = cells.filter(({ error }) => error !== null).length;
  const skips = markets.map(({ ranges }) => skipOf(ranges));
  const replayed = markets.filter((_, at) => skips[at] === null);
  const skipped = skips.filter((skip) => skip !== null).length;
  return [
    ...(failed > 0 ? [`${failed} of ${cells.length} cells could not be tried`] : []),
    ...(windowsOverlap(replayed.map(({ market }) => market)) ? [OVERLAP] : []),
    ...(skipped > 0 ? [`${skipped} of ${skips.length} markets were left out: ${countedSkips(skips)}`] : []),
  ];
}

/** A market is left out if no range of cells could replay it. */
function skipOf(ranges: readonly MarketSweep[]): MarketSweep['skipped'] {
  const replayed = ranges.some(({ skipped }) => skipped === null);
  return replayed ? null : (ranges[0]?.skipped ?? null);
}

function cellBody({ pnls, tradedPnls }: CellTrades, sizeUsd: number, stressed: number | null): SweepCellBody {
  const figures = tradeFigures(pnls);
  return {
    trades_total: figures.tradesTotal,
    total_pnl: figures.totalPnl,
    win_rate: figures.winRate,
    sharpe_per_market: sharpeRatio(tradedPnls.map((pnl) => pnl / sizeUsd)),
    max_drawdown: figures.maxDrawdown,
    profit_factor: figures.profitFactor,
    ...(stressed === null ? {} : { stressed_pnl: stressed }),
    error: null,
  };
}

function failedCell(error: string): SweepCellBody {
  return {
    ...{ trades_total: 0, total_pnl: 0, win_rate: null, sharpe_per_market: null },
    ...{ max_drawdown: 0, profit_factor: null, error },
  };
}
