/** The report of a backtest job of a JSON strategy. The job counts no cash and no single fills: those figures are null. */
import type { BacktestResultBody } from '../schema/api/backtests.ts';
import type { JobRequest } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import {
  type LatencyPoint,
  REPORT_VERSION,
  type Report,
  type ReportMarket,
  type ReportTrade,
} from '../schema/report.ts';
import { formatTime } from '../schema/time.ts';
import { breakdownsOf, sumUsd } from './breakdowns.ts';
import { type CurvePoint, curveBodies, drawdownOf } from './equity.ts';
import { withoutShares } from './runReport.ts';
import { type SelectionFacts, selectionOf } from './selection.ts';
import { warningsOf } from './warnings.ts';

export interface JobContext extends SelectionFacts {
  readonly name: string;
  /** The request that repeats the job. */
  readonly request: JobRequest;
  /** The markets of the job, oldest window first. */
  readonly markets: readonly Market[];
  readonly latencyCurve: readonly LatencyPoint[] | null;
}

export function reportOfJob(result: BacktestResultBody, context: JobContext): Report {
  const { request } = context;
  const peakCapital = result.peak_cost ?? null;
  const byId = new Map(context.markets.map((market) => [market.marketId, market]));
  const trades = result.trades.map((trade): ReportTrade => {
    const market = byId.get(trade.market_id);
    if (market === undefined) throw new RangeError(`a trade of ${trade.market_id}, which the job has not`);
    return {
      ...trade,
      ...{ ticker: market.ticker, event_type: market.eventType },
      seconds_to_end: (market.endTimeMs - Date.parse(trade.decided_at)) / 1_000,
      ...{ volatility: null, model_probability: null, liquidity: null },
    };
  });
  const points = result.equity_curve.map(
    ({ ts, cumulative_pnl: equity }): CurvePoint => ({
      timeMs: Date.parse(ts),
      equity,
      cash: null,
      inUse: null,
    }),
  );
  const drawdown = withoutShares(drawdownOf(points, 0));
  const markets = marketBodies(result, context);
  const body: Omit<Report, 'warnings'> = {
    ...result,
    report_version: REPORT_VERSION,
    name: context.name,
    settings: { ...request },
    orders: { ...result.orders, outcomes: null, refusals: null },
    trades,
    markets,
    portfolio: {
      ...{ start_cash: null, end_equity: null, return_on_capital: null },
      max_drawdown_usd: drawdown.deepestUsd,
      max_drawdown_pct: null,
      peak_capital_used: peakCapital,
      return_on_peak_capital: peakCapital === null ? null : result.total_pnl / peakCapital,
      time_under_water: drawdown.timeUnderWater,
      longest_under_water_s: drawdown.longestMs === null ? null : drawdown.longestMs / 1_000,
    },
    ...curveBodies(points, drawdown, 'closed_trades'),
    ...{ taker: null, maker: null },
    ...breakdownsOf(trades),
    latency_curve: context.latencyCurve === null ? null : [...context.latencyCurve],
    queue_models: null,
    selection: selectionOf(
      markets.filter((market) => market.trades > 0).map(({ pnl }) => pnl / request.size_usd),
      context,
    ),
    ...{ log_lines_left_out: 0, log: [] },
  };
  return { ...body, warnings: warningsOf(body) };
}

function marketBodies(result: BacktestResultBody, { markets }: Pick<JobContext, 'markets'>): ReportMarket[] {
  const skips = new Map(result.markets_skipped.map(({ market_id: id, reason }) => [id, reason]));
  return markets.map(({ marketId, ticker, eventType, startTimeMs, endTimeMs }) => {
    const own = result.trades.filter((trade) => trade.market_id === marketId);
    return {
      market_id: marketId,
      ...{ ticker, event_type: eventType },
      ...{ start: formatTime(startTimeMs), end: formatTime(endTimeMs) },
      skipped: skips.get(marketId) ?? null,
      trades: own.length,
      pnl: sumUsd(own.map(({ net_pnl: pnl }) => pnl ?? 0)),
    };
  });
}
