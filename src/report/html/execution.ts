/** How orders ended, what liquidity they used, and how the P&L depends on latency and on the queue model. */

import { type Html, html } from '../../runtime/html.ts';
import type { LiquidityFigures, Report } from '../../schema/report.ts';
import { barTable } from './bars.ts';
import { fixed, percent, whole } from './format.ts';

export function executionTables(report: Report): Html[] {
  return [orderTable(report), liquidityTable(report), latencyTable(report), queueTable(report)].filter(
    (table) => table !== null,
  );
}

function orderTable({ orders, fill_rate: rate }: Report): Html {
  const missed = Object.entries(orders.missed).map(
    ([reason, count]) => [`missed: ${words(reason)}`, count] as const,
  );
  const refused = Object.entries(orders.refusals ?? {}).map(
    ([reason, count]) => [`refused: ${words(reason)}`, count] as const,
  );
  const outcomes = Object.entries(
    orders.outcomes ?? { filled: orders.filled, taken_back: orders.taken_back },
  );
  const counted = ['missed', 'refused'];
  const ends = outcomes
    .filter(([outcome]) => !counted.includes(outcome))
    .map(([name, count]) => [words(name), count] as const);
  const rows = [['placed', orders.placed] as const, ...ends, ...missed, ...refused].flatMap(
    ([name, count = 0]) => (count > 0 || name === 'placed' ? [[name, count] as const] : []),
  );
  const placedNote = orders.outcomes && '. Refused, cancelled and replaced orders count as placed';
  return html`<section class="breakdown"><h3>Orders</h3><p class="note">${percent(rate)} of the placed orders filled at least in part${placedNote}</p>
<table><thead><tr><th></th><th scope="col">orders</th><th scope="col">share</th></tr></thead>
<tbody>${rows.map(
    ([name, count]) =>
      html`<tr><th scope="row">${name}</th><td>${whole(count)}</td><td>${percent(orders.placed === 0 ? null : count / orders.placed)}</td></tr>
`,
  )}</tbody></table></section>
`;
}

function liquidityTable({ taker, maker }: Report): Html | null {
  if (taker === null || maker === null) return null;
  const row = (name: string, { fills, shares, volume, fees, rebates }: LiquidityFigures) =>
    html`<tr><th scope="row">${name}</th><td>${whole(fills)}</td><td>${fixed(shares)}</td><td>${fixed(volume)}</td><td>${fixed(fees)}</td><td>${fixed(rebates)}</td></tr>
`;
  return html`<section class="breakdown"><h3>Taker and maker fills</h3><p class="note">money in USD</p>
<table><thead><tr><th></th>${['fills', 'shares', 'volume', 'fees', 'rebates'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${row('taker', taker)}${row('maker', maker)}</tbody></table></section>
`;
}

function latencyTable({ latency_curve: curve }: Report): Html | null {
  if (curve === null) return null;
  return barTable({
    title: 'Order latency',
    note: 'the same run with this constant delay before every order; the venue’s own hold comes on top',
    headings: ['', 'trades', 'filled'],
    rows: curve.map((point) => ({
      label: `${point.latency_ms} ms`,
      pnl: point.total_pnl,
      cells: [whole(point.trades_total), percent(point.fill_rate, 0)],
    })),
  });
}

function queueTable({ queue_models: models }: Report): Html | null {
  if (models === null) return null;
  return barTable({
    title: 'Queue model',
    note: 'the same run with each assumption about the size ahead of our resting orders',
    headings: ['', 'trades'],
    rows: models.map(({ model, total_pnl: pnl, trades_total: trades }) => ({
      ...{ label: model, pnl },
      cells: [whole(trades)],
    })),
  });
}

const words = (name: string) => name.replaceAll('_', ' ');
