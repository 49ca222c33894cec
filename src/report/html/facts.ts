/** What was asked for, what was left out, the strategy's log, and the receipt. */
import { countedSkips } from '../../backtest/report.ts';
import { type Html, html } from '../../runtime/html.ts';
import type { Report } from '../../schema/report.ts';

export function facts(report: Report): Html {
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

type Fact = readonly [name: string, value: string];

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
