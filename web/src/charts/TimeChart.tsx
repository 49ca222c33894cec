import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { chartOptions } from './chartOptions.ts';

/** One line or row of points over the chart's times. */
export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Lines of one scale share an axis; the second scale's stands on the right. */
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

export interface TimeChartProps {
  /** What the chart shows, for who does not see it. */
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Stretches to shade, Unix seconds. */
  readonly gaps?: readonly Band[];
  /** What the axis of time spans, Unix seconds; the times where it is left out. */
  readonly span?: Band;
  /** A level of one scale to mark, such as a strike. */
  readonly mark?: { readonly scale: string; readonly value: number; readonly label: string };
  /** Bounds of a scale; others fit their values. */
  readonly ranges?: Readonly<Record<string, readonly [number, number]>>;
  readonly height?: number;
  /** A moment was clicked, Unix seconds. */
  readonly onPick?: (time: number) => void;
}

const NONE: readonly Band[] = [];
const FREE = {};

/** A chart over time; 10^5 points are drawn within a frame. Charts of one page share their cursor. */
export function TimeChart(props: TimeChartProps): ReactNode {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const inner = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const picked = useRef(props.onPick);
  picked.current = props.onPick;
  const { times, lines, gaps = NONE, span, mark, ranges = FREE, height = 260, label } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read anew in another scheme
  useEffect(() => {
    const parent = inner.current;
    if (parent === null || width === 0) return;
    const style = getComputedStyle(parent);
    const colour = (text: string) => (text.startsWith('--') ? style.getPropertyValue(text).trim() : text);
    const options = chartOptions({ times, lines, gaps, span, mark, ranges, width, height }, colour);
    const data = [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
    const chart = new uPlot(options, data, parent);
    const pick = () => {
      const at = chart.cursor.left;
      if (at !== undefined && at >= 0) picked.current?.(chart.posToVal(at, 'x'));
    };
    chart.over.addEventListener('click', pick);
    return () => chart.destroy();
  }, [times, lines, gaps, span, mark, ranges, width, height, scheme]);
  return (
    <div ref={ref} role="img" aria-label={label} style={{ minHeight: height }}>
      <div ref={inner} />
    </div>
  );
}
