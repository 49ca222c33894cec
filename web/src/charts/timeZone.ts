/** The clock that pages show times on. */
export type TimeZone = 'UTC' | 'local';

const MINUTE_MS = 60_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Milliseconds that the zone's clock is ahead of UTC at a time, Unix ms. */
export function offsetMsOf(zone: TimeZone, timeMs: number): number {
  return zone === 'UTC' ? 0 : -new Date(timeMs).getTimezoneOffset() * MINUTE_MS;
}

/** `UTC`, `UTC+1` or `UTC+5:30`: the zone as an axis names it. */
export function zoneName(zone: TimeZone, timeMs: number): string {
  const minutes = offsetMsOf(zone, timeMs) / MINUTE_MS;
  if (minutes === 0) return 'UTC';
  const rest = Math.abs(minutes) % 60;
  const hours = Math.floor(Math.abs(minutes) / 60);
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${two(rest)}`}`;
}

/** `12:05:03` on the zone's clock. */
export function clockText(timeMs: number, zone: TimeZone): string {
  return clockParts(timeMs + offsetMsOf(zone, timeMs));
}

/** `23 Nov, 12:05:03 UTC`. */
export function momentText(timeMs: number, zone: TimeZone): string {
  const shown = timeMs + offsetMsOf(zone, timeMs);
  return `${dayText(shown)}, ${clockParts(shown)} ${zoneName(zone, timeMs)}`;
}

function clockParts(shownMs: number): string {
  return new Date(shownMs).toISOString().slice(11, 19);
}

/** `23 Nov`. @param shownMs Unix ms plus the zone's offset. */
export function dayText(shownMs: number): string {
  const day = new Date(shownMs);
  return `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
