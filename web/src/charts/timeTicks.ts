import { dayText, offsetMsOf, type TimeZone, zoneName } from './timeZone.ts';

/** One label of a time axis. */
export interface TimeTick {
  /** Unix seconds. */
  readonly time: number;
  readonly text: string;
  /** Text of the second row: the zone under the first label, the day under the first label of each day. */
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
/** Least room between two labels, pixels. */
const APART_PX = 22;
/** Room for `UTC+5:30` under the first label beside a day under the second one. */
const LABEL_PX_MIN = 34;

/**
 * The labels of a time axis: as many as fit beside each other, on round times of the zone's clock.
 * @param width Width of the axis in pixels.
 */
export function timeTicks(
  { from, to }: { from: number; to: number },
  { width, fontPx, zone }: { width: number; fontPx: number; zone: TimeZone },
): TimeTick[] {
  const perSecond = width / Math.max(to - from, Number.EPSILON);
  const room = (step: number) => Math.max(textOf(0, step).length * fontPx * CHARACTER_SHARE, LABEL_PX_MIN);
  const step = STEPS.find((one) => one * perSecond >= room(one) + APART_PX) ?? (STEPS.at(-1) as number);
  const found: TimeTick[] = [];
  let lastDay = '';
  for (const time of roundTimes({ from, to }, step, zone)) {
    const shownMs = Math.round(time * 1000) + offsetMsOf(zone, time * 1000);
    const day = dayText(shownMs);
    const isFirst = found.length === 0;
    const isNewDay = !isFirst && step < DAY && day !== lastDay;
    const first = step < DAY ? `${day}, ${zoneName(zone, time * 1000)}` : zoneName(zone, time * 1000);
    found.push({ time, text: textOf(shownMs, step), below: isFirst ? first : isNewDay ? day : null });
    lastDay = day;
  }
  const [start, second] = found;
  // The first label's day would meet the second one's.
  if (start !== undefined && second?.below != null)
    found[0] = { ...start, below: zoneName(zone, start.time * 1000) };
  return found;
}

/** Times at which the zone's clock shows a multiple of the step, Unix seconds. */
function roundTimes({ from, to }: { from: number; to: number }, step: number, zone: TimeZone): number[] {
  const offset = offsetMsOf(zone, from * 1000) / 1000;
  const times: number[] = [];
  const first = Math.ceil((from + offset) / step - 1e-9);
  for (let index = first; ; index++) {
    const local = index * step;
    const guess = local - offset;
    // Another offset applies after a change of the clocks.
    const time = local - offsetMsOf(zone, guess * 1000) / 1000;
    if (guess > to + DAY) return times;
    if (time > to + step * 1e-6) return times;
    const last = times.at(-1);
    if (time >= from - step * 1e-6 && (last === undefined || time - last > step * 0.9)) times.push(time);
  }
}

function textOf(shownMs: number, step: number): string {
  if (step >= DAY) return dayText(shownMs);
  const text = new Date(shownMs).toISOString();
  if (step >= 60) return text.slice(11, 16);
  if (step >= 1) return text.slice(11, 19);
  return text.slice(11, step >= 0.1 ? 21 : 23);
}
