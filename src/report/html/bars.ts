/** Breakdowns as tables with a bar for each P&L: the numbers are beside the bars. */

import { type Html, html } from '../../runtime/html.ts';
import type { BreakdownRow } from '../../schema/report.ts';
import { percent, result, whole } from './format.ts';

const [WIDTH, HEIGHT] = [150, 14];

interface BarRow {
  readonly label: string;
  readonly pnl: number;
  /** Cells between the label and the P&L. */
  readonly cells: readonly string[];
}

export function breakdownTable(title: string, note: string, rows: readonly BreakdownRow[]): Html {
  const bars = rows.map(({ label, trades, win_rate: rate, pnl }) => ({
    ...{ label, pnl },
    cells: [whole(trades), percent(rate, 0)],
  }));
  return barTable({ title, note, headings: ['', 'trades', 'won'], rows: bars });
}

export function barTable({
  title,
  note,
  headings,
  rows,
}: {
  title: string;
  note: string;
  headings: readonly string[];
  rows: readonly BarRow[];
}): Html {
  const largest = rows.reduce((most, { pnl }) => Math.max(most, Math.abs(pnl)), 0);
  return html`<section class="breakdown"><h3>${title}</h3><p class="note">${note}</p>
<table><thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}<th scope="col">P&amp;L, USD</th><th></th></tr></thead>
<tbody>${rows.map((row) => barRow(row, largest))}</tbody></table></section>
`;
}

function barRow({ label, pnl, cells }: BarRow, largest: number): Html {
  const length = largest === 0 ? 0 : (Math.abs(pnl) / largest) * (WIDTH / 2);
  const x = pnl < 0 ? WIDTH / 2 - length : WIDTH / 2;
  return html`<tr><th scope="row">${label}</th>${cells.map((cell) => html`<td>${cell}</td>`)}<td>${result(pnl)}</td><td class="bar"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" aria-hidden="true"><path class="middle" d="M${WIDTH / 2},0V${HEIGHT}"/><rect class="${pnl < 0 ? 'loss' : 'gain'}" x="${x.toFixed(1)}" y="2" width="${length.toFixed(1)}" height="${HEIGHT - 4}"/></svg></td></tr>
`;
}
