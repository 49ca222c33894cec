import { Button, useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { joinGroup, useChartGroup, useShared } from './chartGroup.ts';
import {
  type Band,
  chartOptions,
  type Drawn,
  type Line,
  type Mark,
  type Ranges,
  wholeOf,
} from './chartOptions.ts';
import type { DrawnTrade } from './drawnTrades.ts';
import type { Layer, TimeMark } from './layers.ts';
import { TimeKeys } from './TimeKeys.tsx';
import { useTimeZone } from './useTimeZone.ts';
import { useWidth } from './useWidth.ts';
import { zoomAround } from './zoom.ts';

interface TimeChartProps {
  /** Description of the chart for screen readers. */
  readonly label: string;
  /** Unix seconds, ascending; or, with `counts`, whole numbers. */
  readonly times: readonly number[];
  /** Unit of the axis if it counts something instead of time. */
  readonly counts?: string;
  readonly lines: readonly Line[];
  /** Time ranges to shade, Unix seconds. */
  readonly gaps?: readonly Band[];
  /** Range of the time axis, Unix seconds; by default that of the times. */
  readonly span?: Band;
  readonly mark?: Mark;
  /** Times to mark by lines with labels above the plot. */
  readonly timeMarks?: readonly TimeMark[];
  /** Trades to draw on the first line's scale. */
  readonly trades?: readonly DrawnTrade[];
  readonly ranges?: Ranges;
  readonly under?: readonly Layer[];
  readonly over?: readonly Layer[];
  /** False for a chart directly above another one with the same axis. */
  readonly hasTimeAxis?: boolean;
  readonly height?: number;
  /** Called with the clicked time, Unix seconds. */
  readonly onPick?: (time: number) => void;
}

const NONE: readonly never[] = [];
const FREE = {};
/** A mouse may move this far between press and release of one click. */
const CLICK_PX_MAX = 3;

/**
 * A chart over time; 10^5 points are drawn within a frame. Charts of one group share their cursor, zoom and chosen
 * time. A zoomed chart stays zoomed when new values arrive.
 */
export function TimeChart(props: TimeChartProps): ReactNode {
  const { ref, width } = useWidth();
  const inner = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  const scheme = useComputedColorScheme('light');
  const [zone] = useTimeZone();
  const picked = useRef(props.onPick);
  picked.current = props.onPick;
  const { times, lines, gaps = NONE, trades = NONE, timeMarks = NONE, span, mark, ranges = FREE } = props;
  const { counts, height = 260, label, under = NONE, over = NONE, hasTimeAxis = true } = props;
  const group = useChartGroup(counts ?? 'time');
  const zoom = useShared(group.zoom);
  const drawn = useMemo<Drawn>(
    () => ({ times, lines, gaps, trades, span, mark, timeMarks, ranges, under, over }),
    [times, lines, gaps, trades, span, mark, timeMarks, ranges, under, over],
  );
  const latest = useRef(drawn);
  const held = useRef<Drawn | null>(null);
  latest.current = drawn;
  const shape = lines
    .map(({ label: name, scale, colour, kind }) => [name, scale, colour, kind].join())
    .join(';');
  const hasWidth = width > 0;
  const hasStrip = timeMarks.length > 0;
  useEffect(() => joinGroup(group), [group]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: recreated only for other lines, colours or clocks; all else updates the existing chart
  useEffect(() => {
    const parent = inner.current;
    if (parent === null || !hasWidth) return;
    const style = getComputedStyle(parent);
    const colour = (text: string) => (text.startsWith('--') ? style.getPropertyValue(text).trim() : text);
    const setup = { width, height, counts, group: group.key, zone, hasTimeAxis, colour };
    const options = chartOptions(latest, { ...setup, onSelect: (part) => group.zoom.set(part) });
    const made = new uPlot(options, dataOf(latest.current), parent);
    const { from, to } = group.zoom.get() ?? wholeOf(latest.current);
    made.setScale('x', { min: from, max: to });
    listen(made, {
      onClick: (time) => picked.current?.(time),
      onWheel: (time, share) =>
        group.zoom.set(zoomAround(time, share, shownBy(made), wholeOf(latest.current))),
      onShowAll: () => group.zoom.set(null),
    });
    chart.current = made;
    held.current = latest.current;
    setPlot(made);
    return () => {
      chart.current = null;
      setPlot(null);
      made.destroy();
    };
  }, [shape, hasWidth, hasStrip, scheme, counts, zone, hasTimeAxis, group]);
  useEffect(() => {
    if (hasWidth) chart.current?.setSize({ width, height });
  }, [hasWidth, width, height]);
  useEffect(() => {
    const shown = chart.current;
    if (shown === null) return;
    const { from, to } = zoom ?? wholeOf(drawn);
    shown.batch(() => {
      if (held.current !== drawn) shown.setData(dataOf(drawn), false);
      held.current = drawn;
      shown.setScale('x', { min: from, max: to });
    });
  }, [drawn, zoom]);
  return (
    <div className="chart">
      <div ref={ref} role="img" aria-label={label} style={{ minHeight: height }}>
        <div ref={inner} />
      </div>
      {plot !== null && <TimeKeys label={label} plot={plot} drawn={drawn} group={group} counts={counts} />}
      {zoom !== null && (
        <Button
          size="compact-xs"
          variant="default"
          className="chart-reset"
          onClick={() => group.zoom.set(null)}
        >
          Show all
        </Button>
      )}
    </div>
  );
}

function shownBy(plot: uPlot): Band {
  return { from: plot.scales.x?.min ?? 0, to: plot.scales.x?.max ?? 1 };
}

interface Listener {
  readonly onClick: (time: number) => void;
  /** @param share New length of the displayed part relative to the old one. */
  readonly onWheel: (time: number, share: number) => void;
  readonly onShowAll: () => void;
}

function listen(plot: uPlot, { onClick, onWheel, onShowAll }: Listener): void {
  const { over } = plot;
  let pressedX = 0;
  over.addEventListener('mousedown', ({ clientX }) => {
    pressedX = clientX;
  });
  over.addEventListener('click', ({ clientX }) => {
    const at = plot.cursor.left;
    // The end of a zoom is not a click on a time.
    if (Math.abs(clientX - pressedX) > CLICK_PX_MAX) return;
    if (at !== undefined && at >= 0) onClick(plot.posToVal(at, 'x'));
  });
  over.addEventListener('dblclick', onShowAll);
  over.addEventListener(
    'wheel',
    (event) => {
      const at = plot.cursor.left;
      // The wheel alone scrolls the page; a pinch on a touchpad has this key, too.
      if (!(event.ctrlKey || event.metaKey) || at === undefined || at < 0) return;
      event.preventDefault();
      onWheel(plot.posToVal(at, 'x'), event.deltaY < 0 ? 0.8 : 1.25);
    },
    { passive: false },
  );
}

function dataOf({ times, lines }: Drawn): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}
