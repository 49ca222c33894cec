/** Compares two results outside the page's thread: the bootstrap of the interval takes seconds. */
import { comparedRun } from '../../../../src/report/comparedResult.ts';
import { type Comparison, compareRuns } from '../../../../src/report/comparison.ts';
import type { BacktestResult } from '../../api/schema.ts';

type Compared = Pick<BacktestResult, 'receipt' | 'trades' | 'markets_skipped'>;

export interface ToCompare {
  readonly own: Compared;
  readonly other: Compared;
}

function runOf({ receipt, markets_skipped, ...result }: Compared, name: string) {
  const trades = result.trades.map(({ market_id, decided_at, net_pnl }) => ({
    ...{ market_id, decided_at: Date.parse(decided_at), net_pnl },
  }));
  return comparedRun({ receipt, markets_skipped, trades }, name);
}

addEventListener('message', ({ data: { own, other } }: MessageEvent<ToCompare>) => {
  const found: Comparison = compareRuns(runOf(own, 'this run'), runOf(other, 'the other run'));
  postMessage(found);
});
