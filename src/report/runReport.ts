/** The report of a run of a user's strategy, or of a backtest job: one body for the page, the files and `compare`. */
import { resultBody } from '../backtest/report.ts';
import { tradeBody } from '../backtest/tradeBody.ts';
import type { MissReason } from '../core/desk/report.ts';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../core/money.ts';
import {
  countedTrades,
  type EquityPoint,
  type RunFill,
  type RunMarket,
  type RunOrder,
  type RunResult,
  type RunTrade,
} from '../core/run/result.ts';
import type { RunTerms } from '../core/run/terms.ts';
import type { OrderCounts } from '../core/session/sessionEvents.ts';
import { isTraded, type MarketResult } from '../core/session/summary.ts';
import type { Outcome } from '../schema/market.ts';
import {
  type LatencyPoint,
  type LiquidityFigures,
  type QueueModelResult,
  REPORT_VERSION,
  type Report,
  type ReportMarket,
  type ReportReceipt,
  type ReportTrade,
} from '../schema/report.ts';
import { formatTime } from '../schema/time.ts';
import { breakdownsOf, sumUsd } from './breakdowns.ts';
import { type CurvePoint, curveBodies, drawdownOf } from './equity.ts';
import { type SelectionFacts, selectionOf } from './selection.ts';
import { warningsOf } from './warnings.ts';

/** Lines of the strategy's log that a report keeps, the newest. */
const LOG_LINES_MAX = 1_000;

export interface RunContext extends SelectionFacts {
  readonly name: string;
  readonly params: Readonly<Record<string, number | boolean | string>>;
  readonly terms: RunTerms;
  readonly receipt: ReportReceipt;
  /** The venue's outcomes; a market that is absent has none. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The same run with other order latencies; null: not run. */
  readonly latencyCurve: readonly LatencyPoint[] | null;
  /** The same run with each queue model; null: not run. */
  readonly queueModels: readonly QueueModelResult[] | null;
}

/**
 * @returns Equal bytes for equal runs: it contains no time of its own. The return of a market is its P&L in USD, so
 * the Sharpe ratio is per market and USD.
 */
export function reportOf(result: RunResult, context: RunContext): Report {
  const windows = [...result.markets].sort(byWindow);
  const counted = countedTrades(result);
  const markets = marketResults(windows, { ...result, trades: counted });
  const reported = (trades: RunResult['trades']) =>
    trades.map((trade) => reportTrade(trade, context.outcomes));
  const base = resultBody(markets, { sizeUsd: 1, receipt: context.receipt, trades: [] });
  const points = result.equity.map(curvePoint);
  const startCash = context.terms.cashUsd;
  const drawdown = drawdownOf(points, startCash ?? 0);
  const endEquity = startCash === null ? null : (points.at(-1)?.equity ?? startCash);
  const peakCapital = points.reduce((most, { inUse }) => Math.max(most, inUse ?? 0), 0);
  const body: Omit<Report, 'warnings'> = {
    ...base,
    report_version: REPORT_VERSION,
    name: context.name,
    settings: { params: context.params, ...termsBody(context.terms) },
    orders: { ...base.orders, ...orderCounts(result.orders) },
    trades: reported(result.trades),
    markets: marketBodies(windows, { all: byMarket(result.trades), counted: byMarket(counted) }),
    portfolio: {
      start_cash: startCash,
      end_equity: endEquity,
      return_on_capital: endEquity === null || !startCash ? null : (endEquity - startCash) / startCash,
      max_drawdown_usd: drawdown.deepestUsd,
      max_drawdown_pct: startCash === null ? null : percentOf(drawdown.deepestShare),
      peak_capital_used: points.length === 0 ? null : peakCapital,
      return_on_peak_capital: peakCapital === 0 ? null : base.total_pnl / peakCapital,
      time_under_water: drawdown.timeUnderWater,
      longest_under_water_s: drawdown.longestMs === null ? null : drawdown.longestMs / 1_000,
    },
    ...curveBodies(points, startCash === null ? withoutShares(drawdown) : drawdown, 'mark_to_market'),
    taker: liquidityOf(result.fills, 'taker'),
    maker: liquidityOf(result.fills, 'maker'),
    ...breakdownsOf(reported(counted)),
    latency_curve: context.latencyCurve === null ? null : [...context.latencyCurve],
    queue_models: context.queueModels === null ? null : [...context.queueModels],
    selection: selectionOf(returnsOnStake(markets), context),
    log_lines_left_out: result.logLinesLeftOut + Math.max(0, result.log.length - LOG_LINES_MAX),
    log: result.log.slice(-LOG_LINES_MAX).map(({ timeMs, text }) => ({ ts: formatTime(timeMs), text })),
    receipt: context.receipt,
  };
  return { ...body, warnings: warningsOf(body) };
}

/** Without a known capital a fall has no share of it. */
export function withoutShares<D extends ReturnType<typeof drawdownOf>>(drawdown: D): D {
  return { ...drawdown, falls: drawdown.falls.map((fall) => ({ ...fall, share: null })) };
}

function percentOf(share: number | null): number | null {
  return share === null ? null : 100 * share;
}

function marketResults(windows: readonly RunMarket[], { trades, orders }: RunResult): MarketResult[] {
  const tradesOf = byMarket(trades);
  const ordersOf = byMarket(orders);
  return windows.map((market) => ({
    market,
    replay: {
      skipped: market.skipped,
      trades: tradesOf.get(market.marketId) ?? [],
      orders: countsOf(ordersOf.get(market.marketId) ?? []),
    },
    coverage: market.coverage,
  }));
}

function byMarket<T extends { readonly marketId: string }>(items: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const known = found.get(item.marketId);
    if (known === undefined) found.set(item.marketId, [item]);
    else known.push(item);
  }
  return found;
}

function byWindow(a: RunMarket, b: RunMarket): number {
  return a.endTimeMs - b.endTimeMs || (a.marketId < b.marketId ? -1 : 1);
}

function countsOf(orders: readonly RunOrder[]): OrderCounts {
  const missed = (reason: MissReason) =>
    orders.filter((order) => order.outcome === 'missed' && order.reason === reason).length;
  return {
    placed: orders.length,
    filled: orders.filter(({ filledSize, outcome }) => filledSize > 0 && outcome !== 'taken_back').length,
    missed: {
      no_depth: missed('no_depth'),
      price: missed('price'),
      untrusted: missed('untrusted'),
      unconfirmed: missed('unconfirmed'),
    },
    takenBack: orders.filter(({ outcome }) => outcome === 'taken_back').length,
  };
}

function orderCounts(orders: readonly RunOrder[]): Pick<Report['orders'], 'outcomes' | 'refusals'> {
  const refused = orders.flatMap(({ outcome, reason }) => (outcome === 'refused' && reason ? [reason] : []));
  return { outcomes: tally(orders.map(({ outcome }) => outcome)), refusals: tally(refused) };
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function reportTrade(trade: RunTrade, outcomes: RunContext['outcomes']): ReportTrade {
  const { marketId, ticker, eventType, atEntry, liquidity } = trade;
  return {
    ...tradeBody({ marketId, outcome: outcomes.get(marketId) ?? null }, { ...trade, exitReason: null }),
    exit_reason: trade.exitReason,
    ...{ ticker, event_type: eventType },
    seconds_to_end: atEntry.secondsToEnd,
    volatility: atEntry.volatility,
    model_probability: atEntry.modelProbability,
    liquidity,
  };
}

function curvePoint({ timeMs, cash, reserved, locked, marked }: EquityPoint): CurvePoint {
  const inUse = reserved + locked + marked;
  return {
    timeMs,
    equity: (cash + inUse) / MICRO_PER_USDC,
    cash: cash / MICRO_PER_USDC,
    inUse: inUse / MICRO_PER_USDC,
  };
}

function marketBodies(
  windows: readonly RunMarket[],
  trades: Readonly<Record<'all' | 'counted', ReadonlyMap<string, readonly RunTrade[]>>>,
): ReportMarket[] {
  return windows.map((market) => ({
    market_id: market.marketId,
    ticker: market.ticker,
    event_type: market.eventType,
    start: formatTime(market.startTimeMs),
    end: formatTime(market.endTimeMs),
    skipped: market.skipped,
    trades: trades.all.get(market.marketId)?.length ?? 0,
    pnl: pnlUsd(trades.counted.get(market.marketId) ?? []),
  }));
}

/** P&L of each traded market over the average cost of a market's purchases. */
function returnsOnStake(markets: readonly MarketResult[]): number[] {
  const traded = markets.map(({ replay }) => replay.trades).filter(isTraded);
  const cost = traded.flat().reduce((sum, { principal }) => sum + principal, 0) / MICRO_PER_USDC;
  return traded.map((trades) => (pnlUsd(trades) * traded.length) / cost);
}

function pnlUsd(trades: readonly { readonly pnl: number | null }[]): number {
  return trades.reduce((sum, { pnl }) => sum + (pnl ?? 0), 0) / MICRO_PER_USDC;
}

function liquidityOf(fills: readonly RunFill[], liquidity: RunFill['liquidity']): LiquidityFigures {
  const own = fills.filter((fill) => fill.liquidity === liquidity);
  const total = (of: (fill: RunFill) => number) => own.reduce((sum, fill) => sum + of(fill), 0);
  return {
    fills: own.length,
    shares: total(({ size }) => size) / UNITS_PER_SHARE,
    volume: sumUsd(own.map(({ price, size }) => (price / TICKS_PER_USDC) * (size / UNITS_PER_SHARE))),
    fees: total(({ fee }) => Math.max(0, fee)) / MICRO_PER_USDC,
    rebates: total(({ fee }) => Math.max(0, -fee)) / MICRO_PER_USDC,
  };
}

function termsBody(terms: RunTerms) {
  const { exposure } = terms;
  return {
    order_latency: terms.orderLatency,
    queue_model: terms.queueModel,
    cash_usd: terms.cashUsd,
    exposure_per_market_usd: exposure.perMarketUsd,
    exposure_per_ticker_usd: exposure.perTickerUsd,
    exposure_total_usd: exposure.totalUsd,
    redemption_delay_s: terms.redemptionDelayMs / 1_000,
    seed: terms.seed,
  };
}
