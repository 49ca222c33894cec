/** The figures of a backtest, from the trades of its markets. */

import type { MissReason } from '../desk/report.ts';
import { MICRO_PER_USDC } from '../fees.ts';
import type { TradedMarket } from '../statistics/bootstrap.ts';
import { extentOf } from '../statistics/extent.ts';
import {
  maxDrawdownOfResults,
  profitFactor,
  RETURNS_MIN,
  sharpeRatio,
  sortinoRatio,
} from '../statistics/returns.ts';
import { scaledSharpe } from '../statistics/serialCorrelation.ts';
import type { CostChange, Trade } from './position.ts';
import type { MarketReplay } from './replay.ts';
import type { OrderCounts } from './sessionEvents.ts';
import type { TapeMarket } from './tape.ts';

const YEAR_MS = 365 * 86_400_000;

export interface MarketResult {
  readonly market: Pick<TapeMarket, 'marketId' | 'startTimeMs' | 'endTimeMs'>;
  /** Reasons for exits do not change figures, so trades may have reasons of their own. */
  readonly replay: Pick<MarketReplay, 'skipped' | 'orders'> & { readonly trades: readonly Trade<string>[] };
  /** `coverageOf` the market. */
  readonly coverage: number;
}

/** Figures that depend only on the results of trades. Money is USD; an undefined ratio is null. */
interface TradeFigures {
  readonly tradesTotal: number;
  readonly tradesWon: number;
  readonly winRate: number | null;
  readonly totalPnl: number;
  readonly profitFactor: number | null;
  /** <= 0, USD, of the P&L accumulated trade by trade. */
  readonly maxDrawdown: number;
}

/** Money is USD; an undefined ratio is null. */
interface Summary extends TradeFigures {
  readonly marketsTotal: number;
  readonly marketsTraded: number;
  readonly marketsSkipped: readonly { readonly marketId: string; readonly reason: string }[];
  readonly totalFees: number;
  readonly avgPnlPerTrade: number | null;
  /** Over all purchases and sales of the closed trades, USDC per share; positive is worse. */
  readonly avgSlippage: number | null;
  readonly orders: OrderCounts;
  /** Share of the placed orders that filled and were not reversed. */
  readonly fillRate: number | null;
  /** Mean over sample deviation of the traded markets' returns on size. */
  readonly sharpePerMarket: number | null;
  /** The same for a year's traded markets together, corrected for serial correlation; null below 30 markets. */
  readonly sharpeRatio: number | null;
  /** Mean return over downside deviation, times the root of the markets traded in a year; null below two markets. */
  readonly sortinoRatio: number | null;
  /**
   * P&L of the best trade over the total P&L: above 1 all other trades lost together. Null unless the total is a gain.
   */
  readonly largestTradeShare: number | null;
  /** Total P&L over the maximum drawdown, both in USD. */
  readonly calmarRatio: number | null;
  /** Mean share of the windows in which the book was proven; includes skipped markets. */
  readonly coverage: number | null;
  readonly equityCurve: readonly {
    readonly marketId: string;
    readonly timeMs: number;
    readonly cumulativePnl: number;
  }[];
}

interface ClosedTrade {
  readonly marketId: string;
  readonly closedMs: number;
  /** Whole micro-USD, like the trade's: they sum exactly, and are divided last. */
  readonly pnl: number;
  readonly trade: Trade<string>;
}

/**
 * @param markets In order of their windows.
 * @param sizeUsd Maximum cost of one purchase: the return of a market is its P&L over it.
 */
export function summarize(markets: readonly MarketResult[], sizeUsd: number): Summary {
  const closed = closedTrades(markets);
  const pnls = closed.map(({ pnl }) => pnl);
  const traded = markets.filter(({ replay }) => isTraded(replay.trades));
  const returns = traded.map((market) => pnlOf(market) / sizeUsd);
  const perYear = returns.length < 2 ? null : marketsPerYear(markets, traded.length);
  const figures = tradeFigures(pnls);
  const orders = ordersOf(markets);
  const { totalPnl, maxDrawdown } = figures;
  const fees = sum(closed.map(({ trade }) => trade.fees)) / MICRO_PER_USDC;
  return {
    marketsTotal: markets.length,
    marketsTraded: traded.length,
    marketsSkipped: markets.flatMap(({ market: { marketId }, replay: { skipped } }) =>
      skipped === null ? [] : [{ marketId, reason: skipped }],
    ),
    ...figures,
    totalFees: fees,
    avgPnlPerTrade: mean(closed.length, totalPnl),
    avgSlippage: avgSlippage(closed.map(({ trade }) => trade)),
    orders,
    fillRate: mean(orders.placed, orders.filled),
    sharpePerMarket: sharpeRatio(returns),
    sharpeRatio: perYear === null || returns.length < RETURNS_MIN ? null : scaledSharpe(returns, perYear),
    sortinoRatio: perYear === null ? null : sortinoRatio(returns, perYear),
    largestTradeShare: largestShare(pnls),
    calmarRatio: maxDrawdown === 0 ? null : totalPnl / -maxDrawdown,
    coverage: mean(markets.length, sum(markets.map(({ coverage }) => coverage))),
    equityCurve: equityCurve(closed),
  };
}

/** Each purchase and each position's sales count once; payouts by the venue have no slippage. */
export function avgSlippage(trades: readonly Pick<Trade, 'entrySlippage' | 'exitSlippage'>[]): number | null {
  const sides = trades.flatMap(({ entrySlippage, exitSlippage }) =>
    exitSlippage === null ? [entrySlippage] : [entrySlippage, exitSlippage],
  );
  return mean(sides.length, sum(sides));
}

function ordersOf(markets: readonly Pick<MarketResult, 'replay'>[]): OrderCounts {
  const all = markets.map(({ replay }) => replay.orders);
  const total = (of: (orders: OrderCounts) => number) => sum(all.map(of));
  const missed = (reason: MissReason) => total((orders) => orders.missed[reason]);
  return {
    placed: total(({ placed }) => placed),
    filled: total(({ filled }) => filled),
    missed: {
      ...{ no_depth: missed('no_depth'), price: missed('price') },
      ...{ untrusted: missed('untrusted'), unconfirmed: missed('unconfirmed') },
    },
    takenBack: total(({ takenBack }) => takenBack),
    ...(all.some(({ resting }) => resting !== undefined) && {
      resting: {
        refused: total(({ resting }) => resting?.refused ?? 0),
        notReached: total(({ resting }) => resting?.notReached ?? 0),
      },
    }),
  };
}

/** @param pnls Of closed trades in closing order, whole micro-USD. */
export function tradeFigures(pnls: readonly number[]): TradeFigures {
  const won = pnls.filter((pnl) => pnl > 0).length;
  return {
    tradesTotal: pnls.length,
    tradesWon: won,
    winRate: mean(pnls.length, won),
    totalPnl: sum(pnls) / MICRO_PER_USDC,
    profitFactor: profitFactor(pnls),
    maxDrawdown: maxDrawdownOfResults(pnls) / MICRO_PER_USDC,
  };
}

/** Share of the sum that the highest result contributes; null if the sum is not a gain. */
function largestShare(pnls: readonly number[]): number | null {
  const total = sum(pnls);
  return total > 0 ? pnls.reduce((highest, pnl) => Math.max(highest, pnl), 0) / total : null;
}

/**
 * The contribution of each traded market to the figures, in order of the windows: the P&L in USD, and its closed
 * trades.
 */
export function tradedMarkets(markets: readonly MarketResult[]): TradedMarket[] {
  return markets
    .filter(({ replay }) => isTraded(replay.trades))
    .map((market) => {
      const closed = market.replay.trades.filter(({ closedMs, pnl }) => closedMs !== null && pnl !== null);
      const won = closed.filter(({ pnl }) => (pnl ?? 0) > 0).length;
      return { pnl: pnlOf(market), trades: closed.length, won };
    });
}

/** Whether a market has a result: it was traded, and no position is open. Until then its P&L is unknown, and not 0. */
export function isTraded(trades: readonly Pick<Trade, 'pnl'>[]): boolean {
  return trades.length > 0 && trades.every(({ pnl }) => pnl !== null);
}

/** P&L of one market in USD, 0 if it was not traded. */
function pnlOf({ replay }: Pick<MarketResult, 'replay'>): number {
  return sum(replay.trades.map(({ pnl }) => pnl ?? 0)) / MICRO_PER_USDC;
}

/** In closing order; open positions have no result yet. */
function closedTrades(markets: readonly MarketResult[]): ClosedTrade[] {
  return markets
    .flatMap(({ market: { marketId }, replay }) =>
      replay.trades.flatMap((trade): ClosedTrade[] => {
        const { closedMs, pnl } = trade;
        return closedMs === null || pnl === null ? [] : [{ marketId, closedMs, pnl, trade }];
      }),
    )
    .sort((a, b) => a.closedMs - b.closedMs);
}

function equityCurve(closed: readonly ClosedTrade[]): Summary['equityCurve'] {
  let total = 0;
  return closed.map(({ marketId, closedMs, pnl }) => {
    total += pnl;
    return { marketId, timeMs: closedMs, cumulativePnl: total / MICRO_PER_USDC };
  });
}

/**
 * Traded markets over the time of all replayed ones, from the first window's start to the last one's end: a strategy
 * that waits for a busy hour does not find one every hour.
 */
function marketsPerYear(markets: readonly MarketResult[], traded: number): number {
  const replayed = markets.filter(({ replay }) => replay.skipped === null);
  const [firstMs] = extentOf(replayed.map(({ market }) => market.startTimeMs));
  const [, lastMs] = extentOf(replayed.map(({ market }) => market.endTimeMs));
  return (traded * YEAR_MS) / (lastMs - firstMs);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(count: number, total: number): number | null {
  return count === 0 ? null : total / count;
}

/** Most cost of the shares that were held at one time, whole micro-USD; null without a purchase. */
export function peakCost(changes: readonly CostChange[]): number | null {
  if (changes.length === 0) return null;
  const inOrder = changes.toSorted((a, b) => a.timeMs - b.timeMs || a.rank - b.rank);
  let [held, most] = [0, 0];
  for (const { change } of inOrder) {
    held += change;
    most = Math.max(most, held);
  }
  return most;
}
