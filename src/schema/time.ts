const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** The day of the last formatted time, and its spelling: nearly all times of one answer are of one day. */
let last = { day: Number.NaN, text: '' };

/**
 * Formats Unix milliseconds as the API writes times: UTC, milliseconds, explicit offset. A record has up to seven times
 * and a page thousands, so only the day is left to `Date`.
 * @throws {RangeError} For a time that `Date` does not know.
 */
export function formatTime(timeMs: number): string {
  const wholeMs = Math.trunc(timeMs);
  const day = Math.floor(wholeMs / DAY_MS);
  if (day !== last.day)
    last = { day, text: new Date(wholeMs).toISOString().slice(0, -'00:00:00.000Z'.length) };
  const inDayMs = wholeMs - day * DAY_MS;
  const seconds = Math.floor(inDayMs / 1000);
  const minutes = Math.floor(seconds / 60);
  const hour = TWO_DIGITS[Math.floor(minutes / 60)];
  const rest = `${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${threeDigits(inDayMs % 1000)}`;
  return `${last.text}${hour}:${rest}+00:00`;
}

function threeDigits(value: number): string {
  return value < 10 ? `00${value}` : value < 100 ? `0${value}` : `${value}`;
}

/** The same for an optional time. */
export function formatTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTime(timeMs);
}
