/**
 * A report as one HTML file. It opens from disk without network: style and script are inline, and the content security
 * policy allows these two by their hashes and nothing else.
 */
import { createHash } from 'node:crypto';
import { countedSkips } from '../../backtest/report.ts';
import { Html, html } from '../../runtime/html.ts';
import type { Report } from '../../schema/report.ts';
import { breakdownTable } from './bars.ts';
import { curves } from './curves.ts';
import { executionTables } from './execution.ts';
import { whole } from './format.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';
import { tiles } from './tiles.ts';
import { tradeList } from './tradeList.ts';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

type Fact = readonly [name: string, value: string];

export function reportPage(report: Report): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Underround ${report.receipt.code_version}">
<title>${report.name} – backtest report</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<header><h1>${report.name}</h1><p class="subtitle">${subtitle(report)}</p></header>
${warningList(report)}
${tiles(report)}
<h2>Equity</h2>
${curves(report)}
<h2>Where the P&amp;L comes from</h2>
<div class="columns">${breakdowns(report)}</div>
<h2>Execution</h2>
<div class="columns">${executionTables(report)}</div>
<h2>Trades</h2>
${tradeList(report)}
${facts(report)}
</main>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`.text;
}

function subtitle({ markets, markets_total: total, markets_traded: traded, trades }: Report): string {
  const series = [...new Set((markets ?? trades).map(({ ticker, event_type: type }) => `${ticker} ${type}`))];
  const [first, last] = [markets?.[0], markets?.at(-1)];
  const range =
    first === undefined || last === undefined
      ? ''
      : `, ${first.start.slice(0, 16).replace('T', ' ')} to ${last.end.slice(0, 16).replace('T', ' ')} UTC`;
  return `${series.join(', ') || 'no market'}${range}: ${whole(total)} markets, ${whole(traded)} traded`;
}

function warningList({ warnings }: Report): Html | null {
  if (warnings.length === 0) return null;
  return html`<ul class="warnings" aria-label="Warnings">${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`;
}

function breakdowns(report: Report): Html[] {
  const tables = [
    ['By hour', 'UTC hour in which the position was opened', report.by_hour],
    ['By entry price', 'average price of the purchase, USDC per share', report.by_entry_price],
    ['By time left', 'from the decision to the end of the window', report.by_time_left],
    [
      'By volatility',
      'thirds of the trades by the underlying’s volatility at the decision, a year',
      report.by_volatility,
    ],
  ] as const;
  const shown = tables.flatMap(([title, note, rows]) =>
    rows === null ? [] : [breakdownTable(title, note, rows)],
  );
  return shown.length > 0 ? shown : [html`<p>No closed trades.</p>`];
}

/** The request, the markets that were left out, the strategy’s log, and the receipt. */
function facts(report: Report): Html {
  const { settings, receipt, log, log_lines_left_out: leftOut, selection, markets_skipped: skipped } = report;
  const { held_out: heldOut, trials_before: before } = selection;
  const chosen: Fact[] = [
    ['earlier trials', before === null ? 'not counted' : String(before)],
    ['held out', heldOut === null ? 'no window' : `${heldOut.start} to ${heldOut.end}`],
    ['markets left out', countedSkips(skipped.map(({ reason }) => reason)) || 'none'],
  ];
  return html`<h2>Settings</h2>
${factTable([...flattened(settings), ...chosen])}
${log.length === 0 ? null : html`<h2>Log</h2>${leftOut === 0 ? null : html`<p class="note">${leftOut} lines are left out.</p>`}<pre tabindex="0">${log.map(({ ts, text }) => `${ts.slice(0, 23)}  ${text}\n`)}</pre>`}
<h2>Receipt</h2>
<p class="note">Equal receipts guarantee equal results, byte for byte.</p>
${factTable(flattened(receipt))}`;
}

function factTable(rows: readonly Fact[]): Html {
  return html`<table class="facts"><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td><code>${value}</code></td></tr>
`,
  )}</tbody></table>`;
}

/** `{ a: { b: 1 } }` as `a.b` = `1`. */
function flattened(value: unknown, path = ''): Fact[] {
  if (typeof value !== 'object' || value === null) return [[path, value === null ? 'none' : String(value)]];
  return Object.entries(value).flatMap(([name, inner]) =>
    flattened(inner, path === '' ? name : `${path}.${name}`),
  );
}
