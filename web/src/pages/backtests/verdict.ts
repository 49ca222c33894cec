import type { BacktestResult, SweepResult } from '../../api/schema.ts';
import { number, percent, usd } from '../../ui/format.ts';

/** One sentence on a result, and cautions that belong to it. */
export interface Verdict {
  readonly tone: 'good' | 'bad' | 'open';
  readonly text: string;
  readonly cautions: readonly string[];
}

/** Below this number of traded markets the service computes no interval. */
const MARKETS_MIN = 30;
/** One trade with more than this share of the P&L carries the result. */
const LARGEST_SHARE_MAX = 0.5;
/** Probability from which the best cell of a sweep is taken for more than luck. */
const DEFLATED_MIN = 0.95;
const PBO_MAX = 0.5;

/** @param isAtMid The job filled orders at the mid. */
export function verdictOf(result: BacktestResult, isAtMid: boolean): Verdict {
  const { trades_total: trades, markets_traded: markets, total_pnl: pnl, largest_trade_share } = result;
  if (trades === 0) {
    return { tone: 'open', text: 'Nothing was traded: the entry condition was never met.', cautions: [] };
  }
  const cautions = [
    ...(largest_trade_share !== null && largest_trade_share > LARGEST_SHARE_MAX
      ? [`One trade made ${percent(largest_trade_share, 0)} of the P&L.`]
      : []),
    ...(isAtMid ? ['Orders filled at the mid: real ones pay the spread.'] : []),
  ];
  const interval = result.intervals?.total_pnl ?? null;
  if (interval === null) {
    const text = `Too little data for a verdict: ${number(markets)} traded markets are fewer than ${MARKETS_MIN}.`;
    return { tone: 'open', text, cautions };
  }
  const range = `95\u00a0% interval ${usd(interval[0])} to ${usd(interval[1])}`;
  if (interval[0] > 0) {
    return { tone: 'good', text: `It earned ${usd(pnl)}, more than chance explains: ${range}.`, cautions };
  }
  if (interval[1] < 0) {
    return { tone: 'bad', text: `It lost ${usd(-pnl)}, more than chance explains: ${range}.`, cautions };
  }
  return { tone: 'open', text: `Neither a profit nor a loss is proven: ${range}.`, cautions };
}

export function sweepVerdictOf({ best, deflated_sharpe, pbo, ...result }: SweepResult): Verdict {
  const trials = result.n_trials + result.n_trials_before;
  if (best === null) return { tone: 'open', text: 'No cell has a result to rank.', cautions: [] };
  if (deflated_sharpe === null) {
    return { tone: 'open', text: 'Too little data for a verdict on the best cell.', cautions: [] };
  }
  const cautions =
    pbo !== null && pbo > PBO_MAX
      ? [`In ${percent(pbo, 0)} of the splits the best cell of one half was below the median of the other.`]
      : [];
  if (deflated_sharpe >= DEFLATED_MIN && cautions.length === 0) {
    return {
      tone: 'good',
      text: `The best result is better than luck explains, given ${number(trials)} trials (deflated Sharpe ${percent(deflated_sharpe)}).`,
      cautions,
    };
  }
  return {
    tone: 'bad',
    text: `The best result is no better than you would expect from ${number(trials)} random strategies (deflated Sharpe ${percent(deflated_sharpe)}).`,
    cautions,
  };
}
