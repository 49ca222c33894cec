import type { BacktestResult, SweepResult } from '../../api/schema.ts';
import { number, percent, tradeCount, usd } from '../../ui/format.ts';

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

/**
 * A cell cannot trade more markets than it makes trades, so a best cell with few trades is judged like a backtest with
 * few markets. Only a best cell that beats luck and is confirmed by the splits is good.
 */
export function sweepVerdictOf(result: SweepResult): Verdict {
  const { best, cells, deflated_sharpe: deflated, pbo } = result;
  if (best === null) return { tone: 'open', text: 'No cell has a result to rank.', cautions: [] };
  const trades = cells[best.y]?.[best.x]?.trades_total ?? 0;
  if (trades < MARKETS_MIN) {
    const text = `Too little data for a verdict: the best cell made ${tradeCount(trades)}, in fewer than ${MARKETS_MIN} markets.`;
    return { tone: 'open', text, cautions: [] };
  }
  if (deflated === null) {
    return { tone: 'open', text: 'Too little data for a verdict on the best cell.', cautions: [] };
  }
  const isOverfit = pbo !== null && pbo > PBO_MAX;
  const cautions = isOverfit
    ? [`In ${percent(pbo, 0)} of the splits the best cell of one half was below the median of the other.`]
    : [];
  const trials = trialsText(result);
  if (deflated < DEFLATED_MIN) {
    const text = `The best cell is no better than you would expect from the best of ${trials} without skill.`;
    return { tone: 'bad', text, cautions };
  }
  return isOverfit
    ? { tone: 'bad', text: 'The best cell beats luck, but would probably not stay the best.', cautions }
    : { tone: 'good', text: `The best cell is better than luck explains after ${trials}.`, cautions };
}

/** E.g. `21 trials (20 cells and 1 earlier trial on this series)`. */
function trialsText({ n_trials: cells, n_trials_before: before }: SweepResult): string {
  const sum = `${number(cells + before)} trials`;
  return before === 0 ? sum : `${sum} (${number(cells)} cells and ${earlierText(before)})`;
}

/** E.g. `1 earlier trial on this series`. */
export function earlierText(count: number): string {
  return `${number(count)} earlier ${count === 1 ? 'trial' : 'trials'} on this series`;
}
