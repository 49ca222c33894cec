import { Button, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import type { Deal } from './chartDeals.ts';
import {
  type Band,
  chartOptions,
  type Drawn,
  type Line,
  type Mark,
  type Ranges,
  wholeOf,
} from './chartOptions.ts';

export interface TimeChartProps {
  /** What the chart shows, for who does not see it. */
  readonly label: string;
  /** Unix seconds, ascending; or whole numbers that count something, where `counts` says what. */
  readonly times: readonly number[];
  /** What is counted along the chart in place of time. */
  readonly counts?: string;
  readonly lines: readonly Line[];
  /** Stretches to shade, Unix seconds. */
  readonly gaps?: readonly Band[];
  /** What the axis of time spans, Unix seconds; the times where it is left out. */
  readonly span?: Band;
  readonly mark?: Mark;
  /** What was bought and given up, drawn over the first line's scale. */
  readonly deals?: readonly Deal[];
  readonly ranges?: Ranges;
  readonly height?: number;
  /** A moment was clicked, Unix seconds. */
  readonly onPick?: (time: number) => void;
}

const NO_BANDS: readonly Band[] = [];
const NO_DEALS: readonly Deal[] = [];
const FREE = {};
/** A mouse may move so far between press and release of one click. */
const CLICK_PX_MAX = 3;

/**
 * A chart over time; 10^5 points are drawn within a frame. Charts of one page share their cursor. What the reader drew
 * larger stays so when newer values come.
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
  const { times, lines, gaps = NO_BANDS, deals = NO_DEALS, span, mark, ranges = FREE } = props;
  const { counts, height = 260, label } = props;
  const group = counts ?? 'time';
  const drawn = useMemo<Drawn>(
    () => ({ times, lines, gaps, deals, span, mark, ranges }),
    [times, lines, gaps, deals, span, mark, ranges],
  );
  const latest = useRef(drawn);
  const held = useRef<Drawn | null>(null);
  latest.current = drawn;
  const shape = lines
    .map(({ label: name, scale, colour, kind }) => [name, scale, colour, kind].join())
    .join(';');
  const hasWidth = width > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: made anew only for other lines or colours; all else is given to the chart there is
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
      // A part drawn larger is no moment picked.
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

/** Charts that share their cursor were drawn larger together. */
function showAll(group: string): void {
  for (const plot of uPlot.sync(group).plots) plot.setData(plot.data, true);
}

function dataOf({ times, lines }: Drawn): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}
