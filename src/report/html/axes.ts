/** Axes of charts: round steps, and labels that never overlap. */

/** Width of a character of a label, in units of the drawing; digits of the page's fonts are narrower. */
export const CHARACTER_WIDTH = 6.6;
const LABEL_GAP = 14;

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const STEPS_MS = [
  ...[1, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10].map((count) => count * DAY),
];
/** Steps of whole months; the last one serves centuries. */
const STEPS_MONTHS = [1, 3, 6, 12, 24, 60, 120, 600];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Tick {
  readonly value: number;
  readonly label: string;
}

/**
 * Times with labels for an axis. Steps shorter than a day carry the time of day, and the date at midnight.
 * @param width Of the axis, in units of the drawing.
 */
export function timeTicks(startMs: number, endMs: number, width: number): Tick[] {
  const perMs = width / Math.max(1, endMs - startMs);
  const fits = (ticks: readonly Tick[]) =>
    ticks.every(({ value, label }, at) => {
      const next = ticks[at + 1];
      return next === undefined || (next.value - value) * perMs >= widthOf(label, next.label);
    });
  for (const step of STEPS_MS) {
    // More ticks than characters can never fit.
    if ((endMs - startMs) / step > width / CHARACTER_WIDTH) continue;
    const ticks = stepTicks(startMs, endMs, step);
    if (fits(ticks)) return ticks;
  }
  for (const months of STEPS_MONTHS) {
    const ticks = monthTicks(startMs, endMs, months);
    if (fits(ticks)) return ticks;
  }
  return [];
}

/** Distance of the centres of two labels that do not touch. */
function widthOf(label: string, next: string): number {
  return ((label.length + next.length) / 2) * CHARACTER_WIDTH + LABEL_GAP;
}

function stepTicks(startMs: number, endMs: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  for (let value = Math.ceil(startMs / step) * step; value <= endMs; value += step) {
    ticks.push({ value, label: timeLabel(value, step) });
  }
  return ticks;
}

function timeLabel(timeMs: number, step: number): string {
  const date = new Date(timeMs);
  if (step >= DAY || timeMs % DAY === 0) return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return date.toISOString().slice(11, step < MINUTE ? 19 : 16);
}

function monthTicks(startMs: number, endMs: number, months: number): Tick[] {
  const start = new Date(startMs);
  const first = start.getUTCFullYear() * 12 + start.getUTCMonth();
  const ticks: Tick[] = [];
  for (let month = Math.floor(first / months) * months; ; month += months) {
    const [year, index] = [Math.floor(month / 12), month % 12];
    const value = Date.UTC(year, index);
    if (value > endMs) return ticks;
    if (value >= startMs)
      ticks.push({ value, label: months < 12 ? `${MONTHS[index]} ${year}` : String(year) });
  }
}

/** About `count` round values that cover a range; 0 is among them if the range contains it. */
export function valueTicks(low: number, high: number, count = 5): number[] {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}
