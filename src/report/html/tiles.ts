/** The figures at the top of a report. */

import { counted } from '../../runtime/counted.ts';
import { type Html, html } from '../../runtime/html.ts';
import type { Report } from '../../schema/report.ts';
import { duration, fixed, percent, result, signed, whole } from './format.ts';

interface Tile {
  readonly name: string;
  readonly value: string | Html;
  readonly note: string | null;
}

export function tiles(report: Report): Html {
  const shown = [...resultTiles(report), ...ratioTiles(report), ...riskTiles(report)];
  return html`<dl class="tiles">${shown.map(
    ({
      name,
      value,
      note,
    }) => html`<div><dt>${name}</dt><dd>${value}${note === null ? null : html`<small>${note}</small>`}</dd></div>
`,
  )}</dl>`;
}

function resultTiles({ intervals, portfolio, ...report }: Report): Tile[] {
  const [pnl, rate] = [intervals?.total_pnl, intervals?.win_rate];
  return [
    {
      name: 'P&L after fees, USD',
      value: result(report.total_pnl),
      note: pnl ? `95 %: ${signed(pnl[0])} to ${signed(pnl[1])}` : 'no interval: too few markets',
    },
    {
      name: 'Return on capital',
      value: percentResult(portfolio.return_on_capital),
      note: portfolio.start_cash === null ? 'unlimited cash' : `of ${fixed(portfolio.start_cash)} USD`,
    },
    {
      name: 'Trades',
      value: whole(report.trades_total),
      note: `${signed(report.avg_pnl_per_trade)} USD each`,
    },
    {
      name: 'Win rate',
      value: percent(report.win_rate),
      note: rate ? `95 %: ${percent(rate[0])} to ${percent(rate[1])}` : null,
    },
    {
      name: 'Fees, USD',
      value: fixed(report.total_fees),
      note: report.avg_slippage === null ? null : `slippage ${signed(report.avg_slippage, 4)} a share`,
    },
  ];
}

function ratioTiles({ intervals, selection, ...report }: Report): Tile[] {
  const sharpe = intervals?.sharpe_per_market ?? null;
  const { trials_before: before } = selection;
  return [
    {
      name: 'Sharpe ratio a market',
      value: fixed(report.sharpe_per_market, 3),
      note: sharpe === null ? null : `95 %: ${fixed(sharpe[0], 3)} to ${fixed(sharpe[1], 3)}`,
    },
    {
      name: 'Sharpe ratio a year',
      value: fixed(report.sharpe_ratio, 1),
      note: `Sortino ${fixed(report.sortino_ratio, 1)}`,
    },
    {
      name: 'Deflated Sharpe ratio',
      value: fixed(selection.deflated_sharpe, 3),
      note: before === null ? 'earlier trials not counted' : `after ${counted(before, 'earlier trial')}`,
    },
    {
      name: 'Profit factor',
      value: fixed(report.profit_factor),
      note: `best trade: ${percent(report.largest_trade_share, 0)}`,
    },
  ];
}

function riskTiles({ portfolio, coverage, fill_rate: rate, orders }: Report): Tile[] {
  const pct = portfolio.max_drawdown_pct;
  return [
    {
      name: 'Max drawdown, USD',
      value: fixed(portfolio.max_drawdown_usd),
      note: pct === null ? null : `${fixed(pct, 1)} % of the peak`,
    },
    {
      name: 'Time under water',
      value: percent(portfolio.time_under_water, 0),
      note: `longest ${duration(portfolio.longest_under_water_s)}`,
    },
    {
      name: 'Peak capital in use, USD',
      value: fixed(portfolio.peak_capital_used),
      note: `P&L ${percent(portfolio.return_on_peak_capital)} of it`,
    },
    {
      name: 'Orders filled',
      value: percent(rate, 0),
      note: `${whole(orders.filled)} of ${whole(orders.placed)}`,
    },
    { name: 'Book proven', value: percent(coverage), note: 'of the time' },
  ];
}

function percentResult(share: number | null): Html {
  return result(share, share === null ? '–' : `${signed(100 * share, 1)} %`);
}
