/** Curves over time as inline SVG: equity, and below it the falls from earlier peaks. */

import { type Html, html } from '../../runtime/html.ts';
import { CHARACTER_WIDTH, timeTicks, valueTicks } from './axes.ts';

const WIDTH = 1060;
const MARGIN = { left: 76, right: 14, top: 10, bottom: 26 };
const PLOT_WIDTH = WIDTH - MARGIN.left - MARGIN.right;

interface Point {
  readonly timeMs: number;
  readonly value: number;
}

interface Curve {
  readonly title: string;
  readonly points: readonly Point[];
  /** Both panes of a report have the same range of time. */
  readonly range: readonly [startMs: number, endMs: number];
  readonly height: number;
  readonly kind: 'equity' | 'underwater';
  /** Values hold until the next point; else they are joined by lines. */
  readonly isStepped: boolean;
  /** A line across: the equity at the start. */
  readonly base: number;
  readonly print: (value: number) => string;
}

export function lineChart(curve: Curve): Html {
  const { points, height, kind, base, title, print } = curve;
  const [startMs, endMs] = curve.range;
  const values = points.map(({ value }) => value);
  const ticks = valueTicks(lowest([...values, base]), highest([...values, base]), kind === 'equity' ? 5 : 3);
  const [low, high] = [ticks[0] as number, ticks.at(-1) as number];
  const plotHeight = height - MARGIN.top - MARGIN.bottom;
  const x = (timeMs: number) =>
    MARGIN.left + ((timeMs - startMs) / Math.max(1, endMs - startMs)) * PLOT_WIDTH;
  const y = (value: number) => MARGIN.top + ((high - value) / (high - low)) * plotHeight;
  const line = pathOf(
    points.map(({ timeMs, value }) => [x(timeMs), y(value)]),
    curve.isStepped,
  );
  const [first, last] = [points[0], points.at(-1)];
  const floor = y(base).toFixed(1);
  const area =
    first === undefined || last === undefined
      ? ''
      : `${line}L${x(last.timeMs).toFixed(1)},${floor}L${x(first.timeMs).toFixed(1)},${floor}Z`;
  return html`<svg class="chart ${kind}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}"
 data-points="${JSON.stringify(points.map(({ timeMs, value }) => [round(x(timeMs)), round(y(value)), timeMs, print(value)]))}">
<g class="grid">${ticks.map((value) => valueLine(y(value), print(value)))}</g>
<g class="times">${timeTicks(startMs, endMs, PLOT_WIDTH).map(({ value, label }) => timeLine(x(value), label, height))}</g>
<path class="area" d="${area}"/>
<path class="base" d="M${MARGIN.left},${floor}H${WIDTH - MARGIN.right}"/>
<path class="line" d="${line}"/>
</svg>
`;
}

function valueLine(y: number, label: string): Html {
  return html`<path d="M${MARGIN.left},${y.toFixed(1)}H${WIDTH - MARGIN.right}"/>
<text x="${MARGIN.left - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${label}</text>
`;
}

/** A label that would leave the drawing is left out; its line stays. */
function timeLine(x: number, label: string, height: number): Html {
  const fits = x + (label.length * CHARACTER_WIDTH) / 2 <= WIDTH;
  const bottom = height - MARGIN.bottom;
  return html`<path d="M${x.toFixed(1)},${MARGIN.top}V${bottom}"/>
${fits ? html`<text x="${x.toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${label}</text>` : null}
`;
}

function pathOf(places: readonly (readonly [number, number])[], isStepped: boolean): string {
  return places
    .map(([x, y], at) => {
      if (at === 0) return `M${x.toFixed(1)},${y.toFixed(1)}`;
      return isStepped ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `L${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join('');
}

const round = (value: number) => Math.round(value * 10) / 10;
const lowest = (values: readonly number[]) =>
  values.reduce((low, value) => Math.min(low, value), values[0] ?? 0);
const highest = (values: readonly number[]) =>
  values.reduce((high, value) => Math.max(high, value), values[0] ?? 0);
