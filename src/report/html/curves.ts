/** The panes of equity and of its falls from earlier peaks, with one range of time. */

import { type Html, html } from '../../runtime/html.ts';
import type { Report } from '../../schema/report.ts';
import { fixed } from './format.ts';
import { lineChart } from './lineChart.ts';

const [EQUITY_HEIGHT, UNDERWATER_HEIGHT] = [300, 150];
/** On either side of a single point, so that the axis has a length. */
const SINGLE_POINT_MS = 60_000;

export function curves({ equity, underwater, portfolio }: Report): Html {
  const points = equity.points.map(({ ts, equity: value }) => ({ timeMs: Date.parse(ts), value }));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return html`<p>No trade was closed.</p>`;
  const isSingle = first.timeMs === last.timeMs;
  const range = isSingle
    ? ([first.timeMs - SINGLE_POINT_MS, first.timeMs + SINGLE_POINT_MS] as const)
    : ([first.timeMs, last.timeMs] as const);
  const inPercent = underwater.points.every(({ pct }) => pct !== null);
  const falls = underwater.points.map(({ ts, usd, pct }) => ({
    timeMs: Date.parse(ts),
    value: inPercent ? (pct ?? 0) : usd,
  }));
  const isStepped = equity.basis === 'closed_trades';
  const unit = inPercent ? ' %' : '';
  const fall = inPercent ? 'Fall from the peak, %' : 'Fall from the peak, USD';
  const title = isStepped ? 'P&L of closed trades, USD' : 'Equity, positions at the best bid, USD';
  return html`<h3>${title}</h3>
<div class="wide">${lineChart({
    ...{ title, points, range, isStepped, height: EQUITY_HEIGHT, kind: 'equity' },
    ...{ base: portfolio.start_cash ?? 0, print: (value) => fixed(value, decimalsOf(points)) },
  })}</div>
<h3>${fall}</h3>
<div class="wide">${lineChart({
    ...{
      title: fall,
      points: falls,
      range,
      isStepped,
      height: UNDERWATER_HEIGHT,
      kind: 'underwater',
      base: 0,
    },
    print: (value) => `${fixed(value, decimalsOf(falls))}${unit}`,
  })}</div>
<p class="note">Times are UTC. Drawn: ${equity.thinning}.</p>`;
}

/** Cents only where the whole range is small. */
function decimalsOf(points: readonly { readonly value: number }[]): number {
  const values = points.map(({ value }) => value);
  const range =
    values.reduce((high, value) => Math.max(high, value)) -
    values.reduce((low, value) => Math.min(low, value));
  return range < 20 ? 2 : range < 200 ? 1 : 0;
}
