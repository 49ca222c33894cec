/** Prints backtest results as text tables. */
import type { BacktestResultBody, SweepCellBody, SweepResultBody } from '../schema/api/backtests.ts';
import { formatTable } from './table.ts';

const TRADES_SHOWN = 20;

export function printBacktest(result: BacktestResultBody): string {
  const skipped = new Map<string, number>();
  for (const { reason } of result.markets_skipped) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  const reasons = [...skipped].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const rows: [string, string | null][] = [
    ['markets', `${result.markets_total}, traded in ${result.markets_traded}`],
    ['left out', reasons || 'none'],
    ['coverage', percent(result.coverage)],
    ['trades', `${result.trades_total}, won ${result.trades_won}`],
    ['win rate', withInterval(result.win_rate, result.intervals?.win_rate, percent)],
    ['total P&L', withInterval(result.total_pnl, result.intervals?.total_pnl, usd)],
    ['largest trade', shareText(result.largest_trade_share)],
    ['fees', usd(result.total_fees)],
    ['P&L a trade', usd(result.avg_pnl_per_trade)],
    ['slippage a share', fixed(result.avg_slippage, 5)],
    ['orders filled', `${result.orders.filled} of ${result.orders.placed}`],
    ['not filled', missedText(result)],
    ['profit factor', fixed(result.profit_factor)],
    [
      'Sharpe a market',
      withInterval(result.sharpe_per_market, result.intervals?.sharpe_per_market, (value) => fixed(value, 4)),
    ],
    ['Sharpe a year', fixed(result.sharpe_ratio)],
    ['Sortino a year', fixed(result.sortino_ratio)],
    ['P&L / max drawdown', fixed(result.calmar_ratio)],
    ['max drawdown', usd(result.max_drawdown)],
    ['data', result.receipt.data_hash.slice(0, 16)],
  ];
  return `${formatTable(['RESULT', ''], rows)}\n\n${tradesTable(result)}`;
}

function shareText(share: number | null): string | null {
  return share === null ? null : `${percent(share)} of the P&L`;
}

function missedText({ orders }: BacktestResultBody): string {
  const reasons = Object.entries({ ...orders.missed, taken_back: orders.taken_back });
  const counted = reasons
    .filter(([, count]) => count !== undefined && count > 0)
    .map(([reason, count]) => `${count} ${reason}`);
  return counted.join(', ') || 'none';
}

function tradesTable({ trades }: BacktestResultBody): string {
  const shown = trades.slice(-TRADES_SHOWN);
  const headings = ['MARKET', 'SIDE', 'OPENED', 'ENTRY', 'EXIT', 'SHARES', 'FEES', 'P&L', 'WHY'];
  const rows = shown.map((trade) => [
    `${trade.market_id.slice(0, 10)}..`,
    trade.side,
    trade.opened_at,
    fixed(trade.entry_price, 4),
    fixed(trade.exit_price, 4),
    fixed(trade.shares),
    fixed(trade.fees_usd),
    fixed(trade.net_pnl),
    trade.exit_reason,
  ]);
  if (trades.length === 0)
    return 'No trades: the strategy’s condition was never met, or nothing was for sale.';
  const more = trades.length > shown.length ? `\n(the last ${shown.length} of ${trades.length} trades)` : '';
  return formatTable(headings, rows) + more;
}

/**
 * The P&L grid; rows are the y axis.
 * @param trialsFile Where earlier trials were counted; null: nowhere.
 */
export function printSweep(result: SweepResultBody, trialsFile: string | null = null): string {
  const { x_axis: x, y_axis: y, best } = result;
  const bestCell = best === null ? undefined : result.cells[best.y]?.[best.x];
  const headings = [`${y === null ? '' : `${y.param} \\ `}${x.param}`, ...x.values.map(String)];
  const rows = result.cells.map((cells, at) => [
    y === null ? 'total P&L' : String(y.values[at]),
    ...cells.map((cell, column) => cellText(cell, best?.x === column && best.y === at)),
  ]);
  const judged: [string, string | null][] = [
    ['trials', String(result.n_trials)],
    ['trials before', trialsFile === null ? 'not counted' : `${result.n_trials_before}, by ${trialsFile}`],
    ['effective trials', fixed(result.n_trials_effective, 1)],
    ['variance of their Sharpe ratios', fixed(result.sharpe_variance, 4)],
    ['best Sharpe a market', fixed(bestCell?.sharpe_per_market ?? null, 4)],
    ['deflated Sharpe', fixed(result.deflated_sharpe, 4)],
    ['PBO', fixed(result.pbo, 4)],
    [
      'markets needed',
      result.min_track_record_markets === null ? null : String(result.min_track_record_markets),
    ],
  ];
  const warnings = result.warnings.map((warning) => `warning: ${warning}`).join('\n');
  return [formatTable(headings, rows), formatTable(['SWEEP', ''], judged), warnings]
    .filter((part) => part !== '')
    .join('\n\n');
}

function cellText({ error, total_pnl: pnl }: SweepCellBody, isBest: boolean): string {
  return error === null ? `${pnl.toFixed(2)}${isBest ? ' *' : ''}` : 'error';
}

function fixed(value: number | null, digits = 2): string | null {
  return value === null ? null : value.toFixed(digits);
}

/** `14.82 USD (95 %: -3.10 USD to 31.00 USD)`. */
function withInterval(
  value: number | null,
  interval: readonly [number, number] | null | undefined,
  print: (value: number | null) => string | null,
): string | null {
  const printed = print(value);
  return interval ? `${printed} (95 %: ${print(interval[0])} to ${print(interval[1])})` : printed;
}

function usd(value: number | null): string | null {
  return value === null ? null : `${value.toFixed(2)} USD`;
}

function percent(value: number | null): string | null {
  return value === null ? null : `${(value * 100).toFixed(1)} %`;
}
