/** Builds a backtest's response: the summary of `core`, with the field names of the API. */

import { MICRO_PER_USDC } from '../core/fees.ts';
import { Random } from '../core/random.ts';
import type { SkipReason } from '../core/session/replay.ts';
import type { OrderCounts } from '../core/session/sessionEvents.ts';
import { peakCost, summarize, tradedMarkets } from '../core/session/summary.ts';
import { tapeMarketOf } from '../core/session/tapeMarket.ts';
import { type ResultIntervals, resultIntervals } from '../core/statistics/bootstrap.ts';
import type { Interval } from '../core/statistics/wilson.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { BacktestResultBody, BacktestTradeBody } from '../schema/api/backtests.ts';
import { type BacktestSpec, type Receipt, seriesSetOf } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';
import type { MarketOutcome } from './marketReplay.ts';
import { type StressableResult, stressedBody } from './stressReport.ts';
import { tradeBody } from './tradeBody.ts';

export interface ReplayedMarket extends MarketOutcome {
  readonly market: Market;
}

/**
 * @param markets The whole universe, oldest first.
 * @throws {BacktestFailedError} If no market could be replayed, because an empty result is not a result of 0.
 */
export function backtestResult(
  markets: readonly ReplayedMarket[],
  { spec, receipt }: { spec: BacktestSpec; receipt: Receipt },
): BacktestResultBody {
  checkReplayed(
    markets.map(({ replay }) => replay.skipped),
    spec,
  );
  return resultBody(
    markets.map(({ market, ...outcome }) => ({ ...outcome, market: tapeMarketOf(market) })),
    {
      sizeUsd: spec.sizeUsd,
      isStressed: spec.params.stress !== undefined,
      receipt,
      peakCost: peakCost(markets.flatMap(({ replay }) => replay.costChanges)),
      trades: markets.flatMap(({ market, replay }) => replay.trades.map((trade) => tradeBody(market, trade))),
    },
  );
}

/**
 * @param results In order of their windows.
 * @param sizeUsd The return of a market is its P&L over it; 1: its P&L in USD.
 * @param isStressed Whether the results have a stressed result beside the plain one.
 * @param peakCost Whole micro-USD, null without a trade; omitted where it is not counted.
 * @param trades Of all results, market by market.
 */
export function resultBody(
  results: readonly StressableResult[],
  {
    sizeUsd,
    isStressed = false,
    receipt,
    peakCost: cost,
    trades,
  }: {
    sizeUsd: number;
    isStressed?: boolean;
    receipt: Receipt;
    peakCost?: number | null;
    trades: BacktestTradeBody[];
  },
): BacktestResultBody {
  const summary = summarize(results, sizeUsd);
  const draws = new Random(`intervals ${receipt.seed}`);
  return {
    markets_total: summary.marketsTotal,
    markets_traded: summary.marketsTraded,
    markets_skipped: results.flatMap(({ market, replay: { skipped } }) =>
      skipped === null ? [] : [{ market_id: market.marketId, reason: skipped }],
    ),
    trades_total: summary.tradesTotal,
    trades_won: summary.tradesWon,
    win_rate: summary.winRate,
    total_pnl: summary.totalPnl,
    total_fees: summary.totalFees,
    avg_pnl_per_trade: summary.avgPnlPerTrade,
    avg_slippage: summary.avgSlippage,
    orders: ordersBody(summary.orders),
    fill_rate: summary.fillRate,
    profit_factor: summary.profitFactor,
    sharpe_per_market: summary.sharpePerMarket,
    sharpe_ratio: summary.sharpeRatio,
    sortino_ratio: summary.sortinoRatio,
    calmar_ratio: summary.calmarRatio,
    max_drawdown: summary.maxDrawdown,
    largest_trade_share: summary.largestTradeShare,
    ...(cost === undefined ? {} : { peak_cost: cost === null ? null : cost / MICRO_PER_USDC }),
    intervals: intervalsBody(resultIntervals(tradedMarkets(results), draws)),
    coverage: summary.coverage ?? 0,
    ...(isStressed ? { stress: stressedBody(results, sizeUsd) } : {}),
    equity_curve: summary.equityCurve.map(({ marketId, timeMs, cumulativePnl }) => ({
      market_id: marketId,
      ts: formatTime(timeMs),
      cumulative_pnl: cumulativePnl,
    })),
    trades,
    receipt,
  };
}

function ordersBody({
  placed,
  filled,
  missed,
  takenBack,
  resting,
}: OrderCounts): BacktestResultBody['orders'] {
  const unreached = resting && { refused: resting.refused, not_reached: resting.notReached };
  return { placed, filled, missed: { ...missed, ...unreached }, taken_back: takenBack };
}

function intervalsBody(intervals: ResultIntervals | null): BacktestResultBody['intervals'] {
  if (intervals === null) return null;
  const { totalPnl, winRate, sharpePerMarket } = intervals;
  const pair = ({ low, high }: Interval): [number, number] => [low, high];
  return {
    total_pnl: pair(totalPnl),
    win_rate: pair(winRate),
    sharpe_per_market: sharpePerMarket && pair(sharpePerMarket),
  };
}

/** @throws {BacktestFailedError} If no market was replayed, with the reasons. */
export function checkReplayed(
  skips: readonly (SkipReason | null)[],
  { universe }: Pick<BacktestSpec, 'universe'>,
): void {
  if (skips.length === 0) {
    const { tickers, event_types: eventTypes } = seriesSetOf(universe);
    const series = `${tickers.join(' or ')} ${eventTypes.join(' or ')}`;
    throw new BacktestFailedError(`no ${series} market ended in the range asked for`);
  }
  if (skips.some((skip) => skip === null)) return;
  throw new BacktestFailedError(`none of ${skips.length} markets could be replayed: ${countedSkips(skips)}`);
}

/** For example `3 gap, 1 unresolved`. */
export function countedSkips(skips: readonly (SkipReason | null)[]): string {
  const counts = new Map<SkipReason, number>();
  for (const skip of skips) if (skip !== null) counts.set(skip, (counts.get(skip) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).join(', ');
}

/** Whether any two of these windows have time in common, as windows of several series do. */
export function windowsOverlap(windows: readonly Pick<Market, 'startTimeMs' | 'endTimeMs'>[]): boolean {
  const inOrder = windows.toSorted((a, b) => a.startTimeMs - b.startTimeMs);
  return inOrder.some(({ startTimeMs }, at) => {
    const before = inOrder[at - 1];
    return before !== undefined && startTimeMs < before.endTimeMs;
  });
}
