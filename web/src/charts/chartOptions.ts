import uPlot from 'uplot';
import type { Band, Line, TimeChartProps } from './TimeChart.tsx';

interface Asked {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly gaps: readonly Band[];
  readonly span: Band | undefined;
  readonly mark: TimeChartProps['mark'];
  readonly ranges: NonNullable<TimeChartProps['ranges']>;
  readonly width: number;
  readonly height: number;
}

/** @param colour What a CSS variable is here. */
export function chartOptions(asked: Asked, colour: (text: string) => string): uPlot.Options {
  const { times, lines, gaps, span, mark, ranges, width, height } = asked;
  const [ink, rule] = [colour('--mantine-color-dimmed'), colour('--line')];
  const scales = [...new Set(lines.map(({ scale }) => scale))];
  return {
    ...{ width, height },
    // Charts under each other share their left and right edge.
    padding: [10, scales.length === 1 ? RIGHT_AXIS : 0, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    cursor: { sync: { key: 'market' }, drag: { x: true, y: false } },
    scales: {
      x: span === undefined ? {} : { range: wholeOrZoomed(times, span) },
      ...Object.fromEntries(scales.map((scale) => [scale, rangeOf(ranges[scale])])),
    },
    axes: [
      { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule }, values: CLOCK_TIMES },
      ...scales.map((scale, index) => ({
        ...{ scale, stroke: ink, size: index === 0 ? LEFT_AXIS : RIGHT_AXIS, ticks: { stroke: rule } },
        ...{ side: index === 0 ? 3 : 1, grid: { show: index === 0, stroke: rule, width: 1 } },
        values: (_chart: uPlot, values: number[]) => {
          const print = lines.find((line) => line.scale === scale)?.print ?? String;
          return values.map((value) => print(value));
        },
      })),
    ],
    series: [{ value: '{HH}:{mm}:{ss}' }, ...lines.map((line) => seriesOf(line, colour(line.colour)))],
    hooks: {
      drawClear: [(chart) => shade(chart, gaps)],
      draw: [(chart) => drawMark(chart, mark, { ink, ground: colour('--surface') })],
    },
  };
}

/** Room for `100¢` and for `$100,000.00`. */
const [LEFT_AXIS, RIGHT_AXIS] = [60, 88];
/** By the distance of two marks in seconds: how a time is written, and how where a new day begins. */
const CLOCK_TIMES: uPlot.Axis.Values = [
  [86_400, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', null, '\n{DD} {MMM}', null, null, null, null, 1],
  [0.001, '{HH}:{mm}:{ss}', null, '\n{DD} {MMM}', null, null, null, null, 1],
];

/** All of the span, unless the reader has drawn a part of it larger. */
function wholeOrZoomed(times: readonly number[], { from, to }: Band): uPlot.Range.Function {
  const [first, last] = [times[0] ?? from, times.at(-1) ?? to];
  return (_chart, low, high) => (low <= first && high >= last ? [from, to] : [low, high]);
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
  mark: TimeChartProps['mark'],
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
