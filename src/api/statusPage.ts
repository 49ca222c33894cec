import { createHash } from 'node:crypto';
import { Html, html } from '../runtime/html.ts';
import type { StatusBody, StatusDay } from '../schema/api/statusResources.ts';

/** Below these shares a day is shown as imperfect, and as bad. */
const GOOD_SHARE = 0.999;
const FAIR_SHARE = 0.98;
const DAYS_IN_TABLE = 7;

const STYLE = `:root{color-scheme:light dark;--bg:#f7f8fa;--card:#fff;--text:#1a1d21;--soft:#5b6470;--line:#dde1e6;--good:#0b8457;--fair:#b7791f;--bad:#c53030;--none:#cfd5dc}
@media(prefers-color-scheme:dark){:root{--bg:#101418;--card:#181d23;--text:#e8ebee;--soft:#a2abb6;--line:#2b323a;--good:#34c38f;--fair:#e0a83c;--bad:#f26d6d;--none:#39424c}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:68rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}
p{margin:.25rem 0}.soft{color:var(--soft);font-size:.875rem}.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.875rem 1rem;margin:.75rem 0}
.state{border-left:6px solid var(--good)}.state.degraded{border-left-color:var(--fair)}.state.down{border-left-color:var(--bad)}.state strong{font-size:1.05rem}
.head{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;align-items:baseline}
.days{display:grid;grid-template-columns:repeat(30,minmax(0,1fr));gap:2px;margin:.5rem 0 .25rem;padding:0;list-style:none;height:2rem}
.days li{border-radius:2px;background:var(--none)}.days .good{background:var(--good)}.days .fair{background:var(--fair)}.days .bad{background:var(--bad)}
.ends{display:flex;justify-content:space-between}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);white-space:nowrap}th{color:var(--soft);font-weight:600}.num{text-align:right}
summary{cursor:pointer;color:var(--soft);font-size:.875rem}.good-text{color:var(--good)}.fair-text{color:var(--fair)}.bad-text{color:var(--bad)}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1rem}.key span::before{content:"";display:inline-block;width:.75rem;height:.75rem;border-radius:2px;margin-right:.35rem;background:var(--none);vertical-align:-1px}
.key .k-good::before{background:var(--good)}.key .k-fair::before{background:var(--fair)}.key .k-bad::before{background:var(--bad)}
`;

/** The page runs no script; its one style sheet is named by its hash. It reloads itself once a minute. */
export const STATUS_PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
} as const;

const STATES = {
  ok: 'Everything works',
  degraded: 'Works with faults',
  down: 'Does not work fully',
} as const;

export function renderStatus(body: StatusBody): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="60">
<title>Status: ${STATES[body.state]}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>Status</h1>
<p class="soft">At ${clockText(body.as_of)} UTC. Reloads every minute. As data: <a href="status.json">status.json</a></p>
<div class="card state ${body.state}"><strong>${STATES[body.state]}</strong>
${lagText(body)}
${historyText(body)}</div>
<h2>Feeds</h2>
<div class="card scroll">${feedTable(body.feeds)}</div>
<h2>Recording of the last 30 days</h2>
<p class="soft">Each bar is a UTC day. A window counts for the day on which it ends.</p>
<p class="soft key"><span class="k-good">recorded and proven at least 99.9 %</span><span class="k-fair">at least 98 %</span><span class="k-bad">less</span><span>nothing recorded</span></p>
${body.series.length === 0 ? html`<p class="card">No window has ended yet.</p>` : null}
${body.series.map(seriesCard)}
<h2>Incidents</h2>
<p class="soft">Gaps of one feed that began in the same minute. Signals, paper trading and backtests leave gaps out.</p>
<div class="card scroll">${incidentTable(body.incidents)}</div>
</main>
</body>
</html>
`.text;
}

function lagText({ store_lag_seconds: lag }: StatusBody): Html {
  if (lag < 2) return html`<p>Stored data is up to date.</p>`;
  return html`<p>Stored data is ${lag} s behind what is received. Nothing is lost; answers about the last moments may miss rows.</p>`;
}

function historyText({ history_as_of: readAt, history_is_old: isOld }: StatusBody): Html | null {
  if (readAt === null)
    return html`<p>${isOld ? 'The store does not answer: days and incidents are not known.' : 'Days and incidents are being read; reload in a moment.'}</p>`;
  if (isOld)
    return html`<p>The store does not answer in time: days and incidents are those of ${clockText(readAt)} UTC.</p>`;
  return null;
}

function feedTable(feeds: StatusBody['feeds']): Html {
  if (feeds.length === 0) return html`<p>This process has no connection to a venue.</p>`;
  const marks = { up: 'good-text', partly: 'fair-text', down: 'bad-text', idle: 'soft' } as const;
  return html`<table><thead><tr><th>Feed</th><th>Series</th><th>State</th><th class="num">Connections</th><th>Last message</th><th class="num">Open gaps</th></tr></thead><tbody>
${feeds.map(
  ({ feed, group, state, up, connections, last_message_at: last, gaps_open: gaps }) =>
    html`<tr><td>${feed}</td><td>${group ?? ''}</td><td class="${marks[state]}">${state === 'idle' ? 'not needed yet' : state}</td><td class="num">${up} of ${connections}</td><td>${last === null ? 'none' : clockText(last)}</td><td class="num">${gaps}</td></tr>`,
)}
</tbody></table>`;
}

function seriesCard({ ticker, event_type, days }: StatusBody['series'][number]): Html {
  const [first, today] = [days[0], days.at(-1)];
  return html`<section class="card" aria-label="${ticker} ${event_type}">
<div class="head"><h3>${ticker} ${event_type.replaceAll('_', ' ')}</h3><span class="soft">Today: ${today === undefined ? 'nothing' : summary(today)}</span></div>
<ol class="days" aria-label="Recording by day">${days.map((day) => html`<li class="${colourOf(day)}" title="${day.day}: ${summary(day)}"></li>`)}</ol>
<p class="soft ends"><span>${first?.day ?? ''}</span><span>today</span></p>
<details><summary>By day</summary><div class="scroll">${dayTable(days)}</div></details>
</section>`;
}

function dayTable(days: readonly StatusDay[]): Html {
  const shown = days.toReversed().filter(({ windows }, index) => windows > 0 || index < DAYS_IN_TABLE);
  return html`<table><thead><tr><th>Day</th><th class="num">Windows</th><th class="num">Coverage</th><th class="num">Proven</th><th class="num">Gaps</th><th class="num">Longest gap</th><th class="num">Lag, median</th><th class="num">Lag, 99 %</th></tr></thead><tbody>
${shown.map(
  (day) =>
    html`<tr><td>${day.day}</td><td class="num">${day.windows} of ${day.windows_expected}</td><td class="num">${percent(day.coverage)}</td><td class="num">${percent(day.proven_share)}</td><td class="num">${day.gaps}</td><td class="num">${day.gaps === 0 ? '' : `${day.longest_gap_seconds} s`}</td><td class="num">${milliseconds(day.lag_median_ms)}</td><td class="num">${milliseconds(day.lag_p99_ms)}</td></tr>`,
)}
</tbody></table>`;
}

function incidentTable(incidents: StatusBody['incidents']): Html {
  if (incidents.length === 0) return html`<p>No gap in the last 30 days.</p>`;
  return html`<table><thead><tr><th>Began</th><th>Ended</th><th class="num">Lasted</th><th>Feed</th><th>Cause</th><th class="num">Markets</th></tr></thead><tbody>
${incidents.map(
  ({ start, end, feed, cause, markets }) =>
    html`<tr><td>${clockText(start)}</td><td class="${end === null ? 'bad-text' : ''}">${end === null ? 'open' : clockText(end)}</td><td class="num">${end === null ? '' : lasted(start, end)}</td><td>${feed}</td><td>${cause.replaceAll('_', ' ')}</td><td class="num">${markets}</td></tr>`,
)}
</tbody></table>`;
}

function colourOf({ coverage, proven_share: proven }: StatusDay): string {
  if (coverage === null || coverage === 0) return 'none';
  const worst = Math.min(coverage, proven ?? 0);
  return worst >= GOOD_SHARE ? 'good' : worst >= FAIR_SHARE ? 'fair' : 'bad';
}

function summary({ windows, coverage, proven_share: proven, gaps }: StatusDay): string {
  if (windows === 0) return 'nothing recorded';
  return `${percent(coverage)} recorded, ${percent(proven)} of it proven, ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
}

/** Rounded down, so that an imperfect day never shows 100 %. */
function percent(share: number | null): string {
  return share === null ? 'none' : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;
}

function milliseconds(value: number | null): string {
  return value === null ? 'none' : `${value} ms`;
}

/** `2026-11-20 12:00:00` of a time in UTC. */
function clockText(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}

function lasted(start: string, end: string): string {
  const seconds = Math.round((Date.parse(end) - Date.parse(start)) / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
