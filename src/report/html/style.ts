/** The page's style: light and dark by the reader's preference, black on white in print. */
export const STYLE = `
:root { color-scheme: light dark; --page: #ffffff; --panel: #f6f7f9; --text: #16191d; --quiet: #5b6470; --rule: #d9dde3;
  --line: #1f5fbf; --gain: #0b7a4b; --loss: #b8322a; --warn: #fff6e0; --warn-rule: #d99a1c; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --panel: #1c2026; --text: #e6e9ed; --quiet: #9aa4b1;
  --rule: #333a44; --line: #6ea8ff; --gain: #4cc38a; --loss: #ff8077; --warn: #2e2614; --warn-rule: #b98a2a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1140px; padding: 28px 24px 60px; background: var(--page); color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0; font-size: 24px; overflow-wrap: anywhere; }
h2 { margin: 34px 0 10px; padding-bottom: 5px; border-bottom: 1px solid var(--rule); font-size: 17px; }
h3 { margin: 0; font-size: 14px; }
p { margin: 4px 0; }
.subtitle, .note { color: var(--quiet); }
.note { font-size: 12px; }
code { font: 12px/1.4 ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.warnings { margin: 18px 0 0; padding: 10px 14px 10px 32px; border-left: 4px solid var(--warn-rule); background: var(--warn); }
.warnings li { margin: 3px 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); gap: 10px; margin: 18px 0 0; padding: 0; }
.tiles div { padding: 10px 12px; border-radius: 6px; background: var(--panel); }
.tiles dt { color: var(--quiet); font-size: 12px; }
.tiles dd { margin: 2px 0 0; font-size: 20px; font-weight: 600; }
.tiles dd small { display: block; color: var(--quiet); font-size: 12px; font-weight: 400; }
.gain { color: var(--gain); fill: var(--gain); }
.loss { color: var(--loss); fill: var(--loss); }
.wide { overflow-x: auto; }
svg.chart { display: block; width: 100%; min-width: 640px; height: auto; margin: 4px 0 14px; }
svg text { font: 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: var(--quiet); }
.grid path, .times path { stroke: var(--rule); stroke-width: 1; fill: none; }
.times path { stroke-dasharray: 1 4; }
.base { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 4 4; fill: none; }
.line { stroke: var(--line); stroke-width: 1.6; stroke-linejoin: round; fill: none; }
.area { fill: var(--line); opacity: .12; }
.underwater .line { stroke: var(--loss); }
.underwater .area { fill: var(--loss); opacity: .2; }
.mark path { stroke: var(--quiet); } .mark circle { fill: var(--text); }
.mark text { fill: var(--text); font-size: 12px; font-weight: 600; paint-order: stroke; stroke: var(--page); stroke-width: 4px; }
.middle { stroke: var(--rule); }
.columns { columns: 440px 2; column-gap: 36px; }
.breakdown { break-inside: avoid; margin: 0 0 22px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 8px; text-align: right; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--rule); }
thead th { color: var(--quiet); font-size: 12px; vertical-align: bottom; }
th[scope=row], .text, table.facts td { text-align: left; }
td.bar { width: 160px; padding: 0 4px; vertical-align: middle; }
td.bar svg { display: block; }
table.trades { font-size: 12.5px; }
table.trades tbody tr:hover { background: var(--panel); }
thead button { padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; }
thead button:hover, thead button:focus-visible { color: var(--text); text-decoration: underline; }
th[aria-sort=ascending] button::after { content: ' \\2191'; }
th[aria-sort=descending] button::after { content: ' \\2193'; }
table.facts th { width: 220px; color: var(--quiet); vertical-align: top; }
table.facts td { white-space: normal; overflow-wrap: anywhere; }
pre { max-height: 320px; overflow: auto; padding: 10px; background: var(--panel); font-size: 12px; white-space: pre-wrap; }
@media (max-width: 600px) { body { padding: 16px 12px 40px; } table.facts th { width: 130px; white-space: normal; overflow-wrap: anywhere; } }
@media print { :root { --page: #fff; --panel: #f2f2f2; --text: #000; --quiet: #444; --rule: #bbb; --line: #1f5fbf;
    --gain: #0b7a4b; --loss: #b8322a; --warn: #fff; --warn-rule: #777; }
  @page { size: A4 landscape; margin: 12mm; }
  body { max-width: none; padding: 0; font-size: 11px; } h2 { break-after: avoid; }
  .wide, pre { overflow: visible; max-height: none; } svg.chart { min-width: 0; break-inside: avoid; }
  table.trades { font-size: 8.5px; } table.trades th, table.trades td { padding: 2px 3px; }
  thead { display: table-header-group; } tr { break-inside: avoid; } .tiles dd { font-size: 15px; } }
`;
