/** The figures of a backtest under its stress. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import { type MarketResult, summarize } from '../core/session/summary.ts';
import type { StressedBody } from '../schema/api/backtests.ts';
import type { MarketOutcome } from './marketReplay.ts';
import type { StressKind } from './stress.ts';

/** A market's result, with the one under the job's stress if that changes its resolution. */
export type StressableResult = MarketResult & Pick<MarketOutcome, 'stressed'>;

/** @param markets All markets of the job with their outcomes, in order of their windows. */
export function stressedBody(markets: readonly StressableResult[], sizeUsd: number): StressedBody {
  const summary = summarize(
    markets.map(({ market, replay, stressed, coverage }) => ({
      ...{ market, coverage, replay: stressed?.replay ?? replay },
    })),
    sizeUsd,
  );
  const count = (kind: StressKind) => markets.filter(({ stressed }) => stressed?.kind === kind).length;
  return {
    ...{ void_markets: count('void'), disputed_markets: count('disputed') },
    ...{ trades_total: summary.tradesTotal, trades_won: summary.tradesWon, win_rate: summary.winRate },
    ...{ total_pnl: summary.totalPnl, total_fees: summary.totalFees, profit_factor: summary.profitFactor },
    ...{ sharpe_per_market: summary.sharpePerMarket, max_drawdown: summary.maxDrawdown },
    late_usd_max: lateUsdMax(markets),
  };
}

/** The most money that waits for late payouts at one time, at the cost of the shares that the venue paid out. */
function lateUsdMax(markets: readonly StressableResult[]): number {
  const changes = markets.flatMap(({ replay, stressed }) => {
    if (stressed?.kind !== 'disputed') return [];
    const { trades, paidOutCost: micro } = stressed.replay;
    // Only a payout has another time: all shares held at the end wait from the plain one to the late one.
    const at = replay.trades.findIndex(({ closedMs }, n) => closedMs !== trades[n]?.closedMs);
    const [timeMs, lateMs] = [replay.trades[at]?.closedMs ?? null, trades[at]?.closedMs ?? null];
    if (timeMs === null || lateMs === null) return [];
    return [
      { timeMs, micro },
      { timeMs: lateMs, micro: -micro },
    ];
  });
  // At equal times the money that arrives counts first.
  changes.sort((a, b) => a.timeMs - b.timeMs || a.micro - b.micro);
  let [waiting, most] = [0, 0];
  for (const { micro } of changes) {
    waiting += micro;
    most = Math.max(most, waiting);
  }
  return most / MICRO_PER_USDC;
}
