/** The list of trades, with decision and fill. A click on a heading sorts it. */

import { type Html, html } from '../../runtime/html.ts';
import type { Report, ReportTrade } from '../../schema/report.ts';
import { clock, duration, fixed, result, signed, whole } from './format.ts';

/** The newest; a page of more rows is slow to open and to sort. */
const TRADES_SHOWN_MAX = 2_000;

interface Column {
  readonly heading: string;
  readonly hint: string;
  readonly sort: (trade: ReportTrade) => number | string | null;
  readonly cell: (trade: ReportTrade) => string | Html;
  readonly isText?: boolean;
}

const fillDelayMs = (trade: ReportTrade) => Date.parse(trade.opened_at) - Date.parse(trade.decided_at);

const COLUMNS: readonly Column[] = [
  {
    ...{
      heading: 'Decided, UTC',
      hint: 'Receive time of the event at which the strategy decided',
      isText: true,
    },
    ...{ sort: (trade) => Date.parse(trade.decided_at), cell: (trade) => clock(trade.decided_at) },
  },
  {
    ...{ heading: 'Market', hint: 'Asset, window and market id', isText: true },
    sort: (trade) => `${trade.ticker} ${trade.event_type} ${trade.market_id}`,
    cell: (trade) =>
      html`${trade.ticker} ${trade.event_type} <code title="${trade.market_id}">${shortId(trade.market_id)}</code>`,
  },
  {
    ...{ heading: 'Buys', hint: 'The token bought', isText: true },
    ...{ sort: (trade) => trade.side, cell: (trade) => (trade.side === 'buy_yes' ? 'YES' : 'NO') },
  },
  {
    ...{ heading: 'As', hint: 'Taker or maker', isText: true },
    ...{ sort: (trade) => trade.liquidity ?? '', cell: (trade) => trade.liquidity ?? '–' },
  },
  {
    ...{ heading: 'Left', hint: 'Time from the decision to the end of the window' },
    ...{ sort: (trade) => trade.seconds_to_end, cell: (trade) => duration(trade.seconds_to_end) },
  },
  {
    ...{ heading: 'Decision', hint: 'Best ask at the decision, averaged over the purchases by shares' },
    ...{ sort: (trade) => trade.decision_price, cell: (trade) => fixed(trade.decision_price, 4) },
  },
  {
    ...{ heading: 'Fill', hint: 'Average price of the purchase' },
    ...{ sort: (trade) => trade.entry_price, cell: (trade) => fixed(trade.entry_price, 4) },
  },
  {
    ...{ heading: 'Slippage', hint: 'Fill minus decision; positive is worse' },
    ...{ sort: (trade) => trade.entry_slippage, cell: (trade) => signed(trade.entry_slippage, 4) },
  },
  {
    ...{ heading: 'Delay', hint: 'From the decision to the first fill' },
    ...{ sort: fillDelayMs, cell: (trade) => `${whole(fillDelayMs(trade))} ms` },
  },
  {
    ...{ heading: 'Shares', hint: 'Shares bought' },
    ...{ sort: (trade) => trade.shares, cell: (trade) => fixed(trade.shares) },
  },
  {
    ...{ heading: 'Cost', hint: 'USD spent on shares' },
    ...{ sort: (trade) => trade.size_usd, cell: (trade) => fixed(trade.size_usd) },
  },
  {
    ...{ heading: 'Fees', hint: 'USD; negative: rebates' },
    ...{ sort: (trade) => trade.fees_usd, cell: (trade) => fixed(trade.fees_usd) },
  },
  {
    ...{ heading: 'Exit', hint: 'Average price of sales and payout' },
    ...{ sort: (trade) => trade.exit_price, cell: (trade) => fixed(trade.exit_price, 4) },
  },
  {
    ...{ heading: 'By', hint: 'How the position ended', isText: true },
    ...{ sort: (trade) => trade.exit_reason ?? '', cell: exitText },
  },
  {
    ...{ heading: 'P&L', hint: 'USD after all fees' },
    ...{ sort: (trade) => trade.net_pnl, cell: (trade) => result(trade.net_pnl) },
  },
];

export function tradeList({ trades }: Report): Html {
  if (trades.length === 0) return html`<p>No trades.</p>`;
  const byTime = [...trades].sort((a, b) => Date.parse(a.decided_at) - Date.parse(b.decided_at));
  const shown = byTime.slice(-TRADES_SHOWN_MAX);
  const note =
    shown.length < trades.length
      ? html`<p class="note">The newest ${whole(shown.length)} of ${whole(trades.length)} trades; trades.parquet has all.</p>`
      : null;
  return html`${note}<div class="wide"><table class="trades"><thead><tr>${COLUMNS.map(heading)}</tr></thead>
<tbody>${shown.map(row)}</tbody></table></div>`;
}

function heading({ heading: text, hint, isText = false }: Column): Html {
  return html`<th scope="col" class="${isText ? 'text' : ''}"><button type="button" title="${hint}">${text}</button></th>`;
}

function row(trade: ReportTrade): Html {
  const cells = COLUMNS.map(
    ({ sort, cell, isText = false }) =>
      html`<td class="${isText ? 'text' : ''}" data-v="${sort(trade) ?? ''}">${cell(trade)}</td>`,
  );
  return html`<tr>${cells}</tr>
`;
}

function exitText({ exit_reason: reason, outcome }: ReportTrade): string {
  if (reason === null) return 'open';
  return reason === 'resolved' && outcome !== null ? `resolved ${outcome}` : reason.replaceAll('_', ' ');
}

function shortId(id: string): string {
  return id.length > 10 ? `${id.slice(0, 4)}…${id.slice(-4)}` : id;
}
