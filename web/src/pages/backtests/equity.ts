import type { BacktestResult } from '../../api/schema.ts';

/** The P&L after each market and how far it is below its highest value so far, from 0 at the first purchase. */
interface Equity {
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly pnl: readonly number[];
  /** Zero or negative. */
  readonly drawdown: readonly number[];
}

export function equityOf({
  equity_curve: points,
  trades,
}: Pick<BacktestResult, 'equity_curve' | 'trades'>): Equity {
  const first = points[0];
  if (first === undefined) return { times: [], pnl: [], drawdown: [] };
  const begin = trades.reduce(
    (earliest, { opened_at }) => Math.min(earliest, Date.parse(opened_at)),
    Date.parse(first.ts),
  );
  let highest = 0;
  const drawdown = points.map(({ cumulative_pnl }) => {
    highest = Math.max(highest, cumulative_pnl);
    return cumulative_pnl - highest;
  });
  return {
    times: [begin / 1000, ...points.map(({ ts }) => Date.parse(ts) / 1000)],
    pnl: [0, ...points.map(({ cumulative_pnl }) => cumulative_pnl)],
    drawdown: [0, ...drawdown],
  };
}
