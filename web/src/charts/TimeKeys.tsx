import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import type { Band } from './band.ts';
import { type ChartGroup, useShared } from './chartGroup.ts';
import { type Drawn, wholeOf } from './chartOptions.ts';
import { momentText, type TimeZone } from './timeZone.ts';
import { useTimeZone } from './useTimeZone.ts';
import { movedTo, zoomAround } from './zoom.ts';

interface TimeKeysProps {
  readonly label: string;
  readonly plot: uPlot;
  readonly drawn: Drawn;
  readonly group: ChartGroup;
  readonly counts: string | undefined;
}

const ZOOM_STEP = 0.5;
/** Points that one step with Shift passes. */
const FAST_STEP = 10;

/**
 * The chosen time of a chart as a line, and the keys that move it: arrows to the next point, + and − to zoom, Escape to
 * show all. A slider, so that screen readers pass on the arrow keys and read the values.
 */
export function TimeKeys({ label, plot, drawn, group, counts }: TimeKeysProps): ReactNode {
  const moment = useShared(group.moment);
  const zoom = useShared(group.zoom);
  const [zone] = useTimeZone();
  const line = useRef<HTMLDivElement>(null);
  const whole = wholeOf(drawn);
  const place = useCallback(() => placeLine(plot, line.current, group.moment.get()), [plot, group]);
  // After every render and every draw: the place depends on the zoom and the size, too.
  useEffect(place);
  useEffect(() => {
    const draws = plot.hooks.draw ?? [];
    draws.push(place);
    return () => void draws.splice(draws.indexOf(place), 1);
  }, [plot, place]);
  const onKeyDown = (event: KeyboardEvent) => {
    const shown = zoom ?? whole;
    const next = keyed(event, { moment: moment ?? shown.to, shown, whole, times: drawn.times });
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (next.moment !== undefined) group.moment.set(next.moment);
    if (next.zoom !== undefined) group.zoom.set(next.zoom);
  };
  const value = moment ?? whole.to;
  return (
    <>
      <div ref={line} className="chart-moment" hidden={moment === null} />
      <div
        role="slider"
        tabIndex={0}
        className="chart-keys"
        aria-label={`Cursor: ${label}`}
        aria-valuemin={whole.from}
        aria-valuemax={whole.to}
        aria-valuenow={value}
        aria-valuetext={valuesAt(drawn, value, { counts, zone })}
        onKeyDown={onKeyDown}
      />
    </>
  );
}

/** Moves the line without a new layout. */
function placeLine(plot: uPlot, line: HTMLDivElement | null, moment: number | null): void {
  if (line === null || moment === null) return;
  const { min, max } = plot.scales.x ?? {};
  const isShown = min != null && max != null && moment >= min && moment <= max;
  line.hidden = !isShown;
  if (!isShown) return;
  const { left, top, height } = plot.bbox;
  const x = left / devicePixelRatio + plot.valToPos(moment, 'x');
  line.style.transform = `translateX(${x.toFixed(1)}px)`;
  line.style.top = `${top / devicePixelRatio}px`;
  line.style.height = `${height / devicePixelRatio}px`;
}

interface Place {
  readonly moment: number;
  readonly shown: Band;
  readonly whole: Band;
  readonly times: readonly number[];
}

/** What a key changes; null for a key without a meaning here. */
function keyed(
  { key, shiftKey }: KeyboardEvent,
  { moment, shown, whole, times }: Place,
): { moment?: number; zoom?: Band | null } | null {
  const follow = (time: number) => {
    const view = movedTo(time, shown, whole);
    return view === shown ? { moment: time } : { moment: time, zoom: view };
  };
  switch (key) {
    case 'ArrowLeft':
      return follow(stepped(times, moment, shiftKey ? -FAST_STEP : -1) ?? whole.from);
    case 'ArrowRight':
      return follow(stepped(times, moment, shiftKey ? FAST_STEP : 1) ?? whole.to);
    case 'Home':
      return follow(whole.from);
    case 'End':
      return follow(whole.to);
    case '+':
    case '=':
      return { zoom: zoomAround(moment, ZOOM_STEP, shown, whole) };
    case '-':
      return { zoom: zoomAround(moment, 1 / ZOOM_STEP, shown, whole) };
    case 'Escape':
      return { zoom: null };
    default:
      return null;
  }
}

/** The time so many points after the last one at or before `time`. */
function stepped(times: readonly number[], time: number, steps: number): number | undefined {
  const index = lastAt(times, time);
  // A time between two points: one step back is to the earlier point.
  const isBetween = index >= 0 && (times[index] as number) < time;
  return times[Math.max(index + steps + (steps < 0 && isBetween ? 1 : 0), 0)];
}

/** Index of the last time at or before `time`; -1 for none. */
function lastAt(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function valuesAt(
  { times, lines }: Drawn,
  time: number,
  { counts, zone }: { counts: string | undefined; zone: TimeZone },
): string {
  const index = lastAt(times, time);
  const when = counts === undefined ? momentText(time * 1000, zone) : `${time} ${counts}`;
  return [when, ...lines.map(({ label, values, print }) => `${label} ${print(values[index] ?? null)}`)].join(
    ', ',
  );
}
