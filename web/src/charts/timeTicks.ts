import { dayText, offsetMsOf, type TimeZone, zoneName } from './timeZone.ts';

/** One label of a time axis. */
export interface TimeTick {
  /** Unix seconds. */
  readonly time: number;
  readonly text: string;
  /** Text of the second row: the zone under the first label and where it changes, the day under the first one of each day. */
  readonly below: string | null;
}

const DAY = 86_400;
const STEPS = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200],
  ...[DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 364 * DAY],
];
/** Widest character of `system-ui` at the charts' font size, in shares of that size. */
const CHARACTER_SHARE = 0.64;
/** Times at which the offset of a zone is read: enough for both changes of a year. */
const OFFSET_PROBES = 8;
/** Rounding of a time in steps. */
const SLACK = 1e-9;
/** Least room between two labels, pixels. */
const APART_PX = 22;
/** Room for `UTC+5:30` under the first label beside a day under the second one. */
const LABEL_PX_MIN = 34;

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The labels of a time axis: as many as fit beside each other, on round times of the zone's clock.
 * @param width Width of the axis in pixels.
 */
export function timeTicks(
  { from, to }: Range,
  { width, fontPx, zone }: { width: number; fontPx: number; zone: TimeZone },
): TimeTick[] {
  const perSecond = width / Math.max(to - from, Number.EPSILON);
  const room = (step: number) => Math.max(textOf(0, step).length * fontPx * CHARACTER_SHARE, LABEL_PX_MIN);
  const step = STEPS.find((one) => one * perSecond >= room(one) + APART_PX) ?? (STEPS.at(-1) as number);
  const found: TimeTick[] = [];
  const last = { day: '', name: '' };
  for (const time of roundTimes({ from, to }, step, zone)) {
    const shownMs = Math.round(time * 1000) + offsetMsOf(zone, time * 1000);
    const day = step < DAY ? dayText(shownMs) : '';
    const name = zoneName(zone, time * 1000);
    const news = [day !== last.day && day, name !== last.name && name].filter(Boolean);
    found.push({ time, text: textOf(shownMs, step), below: news.length === 0 ? null : news.join(', ') });
    Object.assign(last, { day, name });
  }
  const [start, second] = found;
  if (start?.below != null && second?.below != null) {
    const wide = ((start.below.length + second.below.length) / 2) * fontPx * CHARACTER_SHARE;
    // Without its day where that would meet the text under the second label.
    if (wide >= (second.time - start.time) * perSecond) {
      found[0] = { ...start, below: zoneName(zone, start.time * 1000) };
    }
  }
  return found;
}

/** Times at which the zone's clock shows a multiple of the step, Unix seconds, ascending. */
function roundTimes({ from, to }: Range, step: number, zone: TimeZone): number[] {
  const found = offsetsOf({ from, to }, zone).flatMap((offset) => {
    const times: number[] = [];
    const last = Math.floor((to + offset) / step + SLACK);
    for (let index = Math.ceil((from + offset) / step - SLACK); index <= last; index++) {
      const time = index * step - offset;
      if (offsetMsOf(zone, time * 1000) === offset * 1000) times.push(time);
    }
    return times;
  });
  const times: number[] = [];
  for (const time of found.sort((a, b) => a - b)) {
    const before = times.at(-1);
    // Clocks that were put forward skip a part of a step.
    if (before === undefined || time - before > step * 0.9) times.push(time);
  }
  return times;
}

/** Every offset of the zone's clock within a range, in seconds: more than one where the clocks change. */
function offsetsOf({ from, to }: Range, zone: TimeZone): number[] {
  const probes = Array.from(
    { length: OFFSET_PROBES + 1 },
    (_, index) => from + ((to - from) * index) / OFFSET_PROBES,
  );
  return [...new Set(probes.map((time) => offsetMsOf(zone, time * 1000) / 1000))];
}

function textOf(shownMs: number, step: number): string {
  if (step >= DAY) return dayText(shownMs);
  const text = new Date(shownMs).toISOString();
  if (step >= 60) return text.slice(11, 16);
  if (step >= 1) return text.slice(11, 19);
  return text.slice(11, step >= 0.1 ? 21 : 23);
}
