import { Button, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
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
  /** Trades to draw on the first line's scale. */
  readonly trades?: readonly DrawnTrade[];
  readonly ranges?: Ranges;
  readonly height?: number;
  /** Called with the clicked time, Unix seconds. */
  readonly onPick?: (time: number) => void;
}

const NO_BANDS: readonly Band[] = [];
const NO_TRADES: readonly DrawnTrade[] = [];
const FREE = {};
/** A mouse may move this far between press and release of one click. */
const CLICK_PX_MAX = 3;

/**
 * A chart over time; 10^5 points are drawn within a frame. Charts of one page share their cursor. A zoomed
 * chart stays zoomed when new values arrive.
 */
export function TimeChart(props: TimeChartProps): ReactNode {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const inner = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const zoom = useRef<Band | null>(null);
  const [isZoomed, setZoomed] = useState(false);
  const scheme = useComputedColorScheme('light');
  const picked = useRef(props.onPick);
  picked.current = props.onPick;
  const { times, lines, gaps = NO_BANDS, trades = NO_TRADES, span, mark, ranges = FREE } = props;
  const { counts, height = 260, label } = props;
  const group = counts ?? 'time';
  const drawn = useMemo<Drawn>(
    () => ({ times, lines, gaps, trades, span, mark, ranges }),
    [times, lines, gaps, trades, span, mark, ranges],
  );
  const latest = useRef(drawn);
  const held = useRef<Drawn | null>(null);
  latest.current = drawn;
  const shape = lines
    .map(({ label: name, scale, colour, kind }) => [name, scale, colour, kind].join())
    .join(';');
  const hasWidth = width > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: recreated only for other lines or colours; all else updates the existing chart
  useEffect(() => {
    const parent = inner.current;
    if (parent === null || !hasWidth) return;
    const style = getComputedStyle(parent);
    const colour = (text: string) => (text.startsWith('--') ? style.getPropertyValue(text).trim() : text);
    const onZoom = (shown: Band | null) => {
      zoom.current = shown;
      setZoomed(shown !== null);
    };
    const options = chartOptions(latest, { width, height, counts, group, colour, onZoom });
    const before = zoom.current;
    const made = new uPlot(options, dataOf(latest.current), parent);
    if (before !== null) made.setScale('x', { min: before.from, max: before.to });
    let pressedX = 0;
    made.over.addEventListener('mousedown', ({ clientX }) => {
      pressedX = clientX;
    });
    made.over.addEventListener('click', ({ clientX }) => {
      const at = made.cursor.left;
      // The end of a zoom is not a click on a time.
      if (Math.abs(clientX - pressedX) > CLICK_PX_MAX) return;
      if (at !== undefined && at >= 0) picked.current?.(made.posToVal(at, 'x'));
    });
    chart.current = made;
    held.current = latest.current;
    return () => {
      chart.current = null;
      made.destroy();
    };
  }, [shape, hasWidth, scheme, counts]);
  useEffect(() => {
    if (hasWidth) chart.current?.setSize({ width, height });
  }, [hasWidth, width, height]);
  useEffect(() => {
    const shown = chart.current;
    if (shown === null || held.current === drawn) return;
    held.current = drawn;
    const { from, to } = zoom.current ?? wholeOf(drawn);
    shown.batch(() => {
      shown.setData(dataOf(drawn), false);
      shown.setScale('x', { min: from, max: to });
    });
  }, [drawn]);
  return (
    <div className="chart">
      <div ref={ref} role="img" aria-label={label} style={{ minHeight: height }}>
        <div ref={inner} />
      </div>
      {isZoomed && (
        <Button size="compact-xs" variant="default" className="chart-reset" onClick={() => showAll(group)}>
          Show all
        </Button>
      )}
    </div>
  );
}

/** Charts that share their cursor are zoomed together. */
function showAll(group: string): void {
  for (const plot of uPlot.sync(group).plots) plot.setData(plot.data, true);
}

function dataOf({ times, lines }: Drawn): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}
