import uPlot from 'uplot';
import { number } from '../ui/format.ts';
import type { Band } from './band.ts';
import type { DrawnTrade } from './drawnTrades.ts';
import { drawTrades } from './drawnTrades.ts';
import type { TimeMark } from './layers.ts';
import { gapLayer, type Layer, type Mark, markLayer, STRIP_PX, type Style, timeMarkLayer } from './layers.ts';
import { rangeAround } from './rangeAround.ts';
import { timeTicks } from './timeTicks.ts';
import { clockText, type TimeZone } from './timeZone.ts';

export type { Band } from './band.ts';
export type { Mark } from './layers.ts';

/** One line, or one set of points, over the chart's times. */
export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Lines of one scale share an axis; the axis of the second scale is on the right. */
  readonly scale: string;
  /** A CSS colour or variable. */
  readonly colour: string;
  /** `none` draws nothing: a layer draws the values, and the legend names them. */
  readonly kind?: 'line' | 'step' | 'points' | 'none';
  readonly print: (value: number | null) => string;
  /** True for values that the legend shows and nothing draws. */
  readonly isAxisHidden?: boolean;
  /** Text of an axis label; by default as printed. */
  readonly printAxis?: (value: number) => string;
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
  readonly timeMarks: readonly TimeMark[];
  readonly ranges: Ranges;
  /** Drawn below the lines. */
  readonly under: readonly Layer[];
  /** Drawn above the lines. */
  readonly over: readonly Layer[];
}

interface ChartSetup {
  readonly width: number;
  readonly height: number;
  readonly counts: string | undefined;
  /** Charts of one group share their cursor. */
  readonly group: string;
  readonly zone: TimeZone;
  readonly hasTimeAxis: boolean;
  /** Value of a CSS variable. */
  readonly colour: (text: string) => string;
  /** Reports the part that the reader selected. */
  readonly onSelect: (part: Band) => void;
}

const FONT_PX = 12;
const FONT_FAMILY = 'system-ui, sans-serif';
/** Room for `$100,000` left, and for half a time label right; pixels. */
const [LEFT_AXIS, RIGHT_AXIS, RIGHT_EDGE] = [76, 88, 34];
const TIME_AXIS = 46;
const DIGIT_WIDTH = 8;
/** Counts go up by whole numbers. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
/** A shorter drag is a click. */
const SELECT_PX_MIN = 4;

/** @param latest Content for every draw; its values may change, its set of lines may not. */
export function chartOptions(latest: { readonly current: Drawn }, setup: ChartSetup): uPlot.Options {
  const { width, height, counts, group, zone, colour } = setup;
  const { lines } = latest.current;
  const scales = scalesOf(lines);
  const axes = scalesOf(lines.filter(({ isAxisHidden = false }) => !isAxisHidden));
  const hasStrip = latest.current.timeMarks.length > 0;
  return {
    ...{ width, height },
    padding: [hasStrip ? STRIP_PX : 10, axes.length === 1 ? RIGHT_EDGE : 0, 0, 0],
    cursor: {
      sync: { key: group, scales: ['x', null], filters: { pub: isMove, sub: () => true } },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => null },
    },
    scales: {
      x: { time: false, auto: false, range: (_chart, low, high) => [low, high] },
      ...Object.fromEntries(scales.map((scale) => [scale, rangeOf(latest, scale)])),
    },
    axes: axesOf(latest, setup, axes),
    series: [
      counts === undefined
        ? { label: 'Time', value: (_chart, value) => (value === null ? '–' : clockText(value * 1000, zone)) }
        : { label: counts, value: (_chart, value) => number(value) },
      ...lines.map((line) => seriesOf(line, colour(line.colour))),
    ],
    hooks: hooksOf(latest, setup, scales[0] ?? ''),
  };
}

function scalesOf(lines: readonly Line[]): string[] {
  return [...new Set(lines.map(({ scale }) => scale))];
}

/** A press and a release concern their own chart alone; the zoom is shared by the group. */
function isMove(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave';
}

function axesOf(
  latest: { readonly current: Drawn },
  setup: ChartSetup,
  scales: readonly string[],
): uPlot.Axis[] {
  const { counts, colour, zone, hasTimeAxis } = setup;
  const [ink, rule] = [colour('--mantine-color-dimmed'), colour('--line')];
  const look = { stroke: ink, font: `${FONT_PX}px ${FONT_FAMILY}`, ticks: { stroke: rule, width: 1 } };
  const ticksOf = (chart: uPlot) => {
    const { min, max } = chart.scales.x ?? {};
    const room = { width: chart.bbox.width / devicePixelRatio, fontPx: FONT_PX, zone };
    return timeTicks({ from: min ?? 0, to: max ?? 1 }, room);
  };
  const timeAxis: uPlot.Axis = {
    ...{ ...look, grid: { stroke: rule, width: 1 }, size: hasTimeAxis ? TIME_AXIS : 8 },
    ticks: { ...look.ticks, show: hasTimeAxis },
    splits: (chart) => ticksOf(chart).map(({ time }) => time),
    values: (chart) =>
      ticksOf(chart).map(({ text, below }) =>
        hasTimeAxis ? (below === null ? text : `${text}\n${below}`) : '',
      ),
  };
  const countAxis: uPlot.Axis = {
    ...{ ...look, grid: { stroke: rule, width: 1 }, label: counts ?? '', labelSize: 18, incrs: WHOLE_STEPS },
  };
  const valueAxes = scales.map((scale, index): uPlot.Axis => {
    const line = latest.current.lines.find((one) => one.scale === scale);
    const print = line?.printAxis ?? line?.print ?? String;
    return {
      ...{ ...look, scale, side: index === 0 ? 3 : 1, size: index === 0 ? roomFor : RIGHT_AXIS },
      grid: { show: index === 0, stroke: rule, width: 1 },
      values: (_chart, values) => values.map((value) => print(value)),
    };
  });
  return [counts === undefined ? timeAxis : countAxis, ...valueAxes];
}

function hooksOf(latest: { readonly current: Drawn }, setup: ChartSetup, scale: string): uPlot.Hooks.Arrays {
  const { colour, onSelect } = setup;
  const ink = colour('--mantine-color-dimmed');
  const style: Style = {
    ...{ ink: colour('--mantine-color-text'), ground: colour('--surface'), colour },
    font: `${(FONT_PX - 1) * devicePixelRatio}px ${FONT_FAMILY}`,
  };
  const tradeStyle = { scale, won: colour('--up'), lost: colour('--down'), ink };
  return {
    drawClear: [
      (chart) => {
        for (const layer of latest.current.under) layer(chart, style);
        gapLayer(latest.current.gaps)(chart, style);
      },
    ],
    draw: [
      (chart) => {
        const { over, mark, timeMarks, trades } = latest.current;
        for (const layer of over) layer(chart, style);
        if (mark !== undefined) markLayer(mark)(chart, style);
        timeMarkLayer(timeMarks)(chart, style);
        drawTrades(chart, trades, tradeStyle);
      },
    ],
    setSelect: [
      (chart) => {
        const { left, width } = chart.select;
        if (width < SELECT_PX_MIN) return;
        onSelect({ from: chart.posToVal(left, 'x'), to: chart.posToVal(left + width, 'x') });
        chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      },
    ],
  };
}

/** The whole range of a chart's axis. */
export function wholeOf({ times, span }: Pick<Drawn, 'times' | 'span'>): Band {
  const first = times[0] ?? 0;
  // A single point still has an axis.
  return span ?? { from: first, to: Math.max(times.at(-1) ?? 0, first + 1) };
}

/** More room than usual where the axis has long texts. */
function roomFor(_chart: uPlot, texts: readonly string[] | null): number {
  const longest = Math.max(0, ...(texts ?? []).map(({ length }) => length));
  return Math.max(LEFT_AXIS, longest * DIGIT_WIDTH + 18);
}

/** Fixed bounds, or the values with a marked level and some room around both. */
function rangeOf(latest: { readonly current: Drawn }, scale: string): uPlot.Scale {
  return {
    range: (_chart, low, high) => {
      const { ranges, mark } = latest.current;
      const fixed = ranges[scale];
      if (fixed !== undefined) return [fixed[0], fixed[1]];
      if (low == null || high == null) return [null, null];
      const level = mark?.scale === scale ? mark.value : low;
      const [from, to] = [Math.min(low, level), Math.max(high, level)];
      return from === to ? rangeAround(from) : uPlot.rangeNum(from, to, 0.1, true);
    },
  };
}

function seriesOf({ label, scale, kind = 'line', print }: Line, colour: string): uPlot.Series {
  const stepped = kind === 'step' ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  const isDrawn = kind === 'line' || kind === 'step';
  return {
    ...{ label, scale, stroke: colour, width: isDrawn ? 1.5 : 0, spanGaps: false },
    ...(stepped === undefined ? {} : { paths: stepped }),
    ...(isDrawn ? {} : { paths: () => null }),
    points: { show: kind === 'points', size: 4, fill: colour, stroke: colour },
    value: (_chart, value) => print(value),
  };
}
