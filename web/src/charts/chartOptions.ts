import uPlot from 'uplot';
import { CLOCK_TIME_SPACE, CLOCK_TIMES } from './clockTimes.ts';
import { type DrawnTrade, drawTrades } from './drawnTrades.ts';

/** One line, or one set of points, over the chart's times. */
export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Lines of one scale share an axis; the axis of the second scale is on the right. */
  readonly scale: string;
  /** A CSS colour or variable. */
  readonly colour: string;
  readonly kind?: 'line' | 'step' | 'points';
  readonly print: (value: number | null) => string;
}

export interface Band {
  readonly from: number;
  readonly to: number;
}

/** A level of one scale to mark, such as a strike. */
export interface Mark {
  readonly scale: string;
  readonly value: number;
  readonly label: string;
}

/** Fixed bounds of a scale; other scales fit their values. */
export type Ranges = Readonly<Record<string, readonly [number, number]>>;

/** Content of a chart, which may change while it is displayed. */
export interface Drawn {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly gaps: readonly Band[];
  readonly trades: readonly DrawnTrade[];
  readonly span: Band | undefined;
  readonly mark: Mark | undefined;
  readonly ranges: Ranges;
}

interface Made {
  readonly width: number;
  readonly height: number;
  readonly counts: string | undefined;
  /** Charts of one group share their cursor and zoom. */
  readonly group: string;
  /** Value of a CSS variable. */
  readonly colour: (text: string) => string;
  /** Reports the zoomed part; null: the whole chart. */
  readonly onZoom: (shown: Band | null) => void;
}

/** @param latest Content for every draw; its values may change, its set of lines may not. */
export function chartOptions(latest: { readonly current: Drawn }, made: Made): uPlot.Options {
  const { width, height, counts, group, colour, onZoom } = made;
  const { lines, ranges } = latest.current;
  const [ink, rule] = [colour('--mantine-color-dimmed'), colour('--line')];
  const scales = [...new Set(lines.map(({ scale }) => scale))];
  const tradeStyle = { scale: scales[0] ?? '', won: colour('--up'), lost: colour('--down'), ink };
  return {
    ...{ width, height },
    // Charts below each other share their left and right edge.
    padding: [10, scales.length === 1 ? RIGHT_AXIS : 0, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    cursor: { sync: { key: group }, drag: { x: true, y: false } },
    scales: {
      x: { time: counts === undefined, range: (_chart, low, high) => wholeOrPart(latest.current, low, high) },
      ...Object.fromEntries(scales.map((scale) => [scale, rangeOf(ranges[scale])])),
    },
    axes: [
      {
        ...{ stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule } },
        ...(counts === undefined
          ? { values: CLOCK_TIMES.map((row) => [...row]), space: CLOCK_TIME_SPACE }
          : { label: counts, labelSize: 18, incrs: WHOLE_STEPS }),
      },
      ...scales.map((scale, index) => ({
        ...{ scale, stroke: ink, size: index === 0 ? roomFor : RIGHT_AXIS, ticks: { stroke: rule } },
        ...{ side: index === 0 ? 3 : 1, grid: { show: index === 0, stroke: rule, width: 1 } },
        values: (_chart: uPlot, values: number[]) => {
          const print = lines.find((line) => line.scale === scale)?.print ?? String;
          return values.map((value) => print(value));
        },
      })),
    ],
    series: [
      counts === undefined ? { value: '{HH}:{mm}:{ss}' } : { label: counts },
      ...lines.map((line) => seriesOf(line, colour(line.colour))),
    ],
    hooks: {
      drawClear: [(chart) => shade(chart, latest.current.gaps)],
      draw: [
        (chart) => drawMark(chart, latest.current.mark, { ink, ground: colour('--surface') }),
        (chart) => drawTrades(chart, latest.current.trades, tradeStyle),
      ],
      setScale: [(chart, key) => key === 'x' && onZoom(partOf(chart, latest.current))],
    },
  };
}

/** The whole range of a chart's axis. */
export function wholeOf({ times, span }: Pick<Drawn, 'times' | 'span'>): Band {
  const first = times[0] ?? 0;
  // A single point still has an axis.
  return span ?? { from: first, to: Math.max(times.at(-1) ?? 0, first + 1) };
}

/** The displayed part of the axis; null for all of it. */
function partOf(chart: uPlot, drawn: Drawn): Band | null {
  const { min, max } = chart.scales.x ?? {};
  const { from, to } = wholeOf(drawn);
  if (min == null || max == null || (min <= from && max >= to)) return null;
  return { from: min, to: max };
}

/** Counts go up by whole numbers. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
/** Room for `100¢` and for `$100,000.00`, pixels. */
const [LEFT_AXIS, RIGHT_AXIS] = [60, 88];
const DIGIT_WIDTH = 8;

/** More room than usual where the axis has long texts. */
function roomFor(_chart: uPlot, texts: readonly string[] | null): number {
  const longest = Math.max(0, ...(texts ?? []).map(({ length }) => length));
  return Math.max(LEFT_AXIS, longest * DIGIT_WIDTH + 18);
}

/** The whole range, unless the reader has zoomed in. */
function wholeOrPart(drawn: Drawn, low: number, high: number): [number, number] {
  const { times } = drawn;
  const { from, to } = wholeOf(drawn);
  const [first, last] = [times[0] ?? from, times.at(-1) ?? to];
  return low <= first && high >= last ? [from, to] : [low, high];
}

function rangeOf(range: readonly [number, number] | undefined): uPlot.Scale {
  return range === undefined ? {} : { range: [range[0], range[1]] };
}

function seriesOf({ label, scale, kind = 'line', print }: Line, colour: string): uPlot.Series {
  const stepped = kind === 'step' ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    ...{ label, scale, stroke: colour, width: kind === 'points' ? 0 : 1.5, spanGaps: false },
    ...(stepped === undefined ? {} : { paths: stepped }),
    ...(kind === 'points' ? { paths: () => null } : {}),
    points: { show: kind === 'points', size: 4, fill: colour, stroke: colour },
    value: (_chart, value) => print(value),
  };
}

function shade(chart: uPlot, gaps: readonly Band[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = 'rgba(224, 49, 49, 0.16)';
  for (const { from, to } of gaps) {
    const left = Math.max(chart.valToPos(from, 'x', true), bbox.left);
    const right = Math.min(chart.valToPos(to, 'x', true), bbox.left + bbox.width);
    if (right > left) ctx.fillRect(left, bbox.top, Math.max(right - left, 2), bbox.height);
  }
  ctx.restore();
}

function drawMark(
  chart: uPlot,
  mark: Mark | undefined,
  { ink, ground }: { ink: string; ground: string },
): void {
  if (mark === undefined) return;
  const { ctx, bbox } = chart;
  const y = chart.valToPos(mark.value, mark.scale, true);
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.setLineDash([6, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  const wide = ctx.measureText(mark.label).width + 8;
  ctx.fillStyle = ground;
  ctx.fillRect(bbox.left + 2, y - 16, wide, 13);
  ctx.fillStyle = ink;
  ctx.textAlign = 'left';
  ctx.fillText(mark.label, bbox.left + 6, y - 6);
  ctx.restore();
}
