import { EVENT_TYPES } from '../../../src/schema/market.ts';

/** Formats of numbers and times on pages; a missing value is a dash, never 0, and every minus sign is `−`. */
const MISSING = '–';
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 8 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const DATE: Intl.DateTimeFormatOptions = {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
};
const date = new Intl.DateTimeFormat('en-GB', DATE);
const dateOfYear = new Intl.DateTimeFormat('en-GB', { ...DATE, year: 'numeric' });

export type Maybe = number | null | undefined;

/** The text of a number's size with the sign before it; a rounded zero has none. */
function negated(value: number, format: (size: number) => string): string {
  const text = format(Math.abs(value));
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** A text of `format` with `+` before a positive value. */
export function withSign(value: Maybe, format: (value: Maybe) => string): string {
  const text = format(value);
  return value !== null && value !== undefined && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/**
 * A share's price in cents, e.g. `53.0¢`: the decimals of a column are aligned.
 * @param digits One is the venue's smallest tick; averages may have more.
 */
export function cents(price: Maybe, digits = 1): string {
  if (price === null || price === undefined) return MISSING;
  return negated(price, (size) => `${(size * 100).toFixed(digits)}¢`);
}

export function percent(share: Maybe, digits = 1): string {
  if (share === null || share === undefined) return MISSING;
  return negated(share, (size) => `${(size * 100).toFixed(digits)}\u00a0%`);
}

/** Money. */
export function usd(value: Maybe, digits = 2): string {
  if (value === null || value === undefined) return MISSING;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return negated(value, (size) => `$${size.toLocaleString('en', options)}`);
}

/** The price of an underlying; some cost cents. */
export function assetPrice(value: Maybe): string {
  if (value === null || value === undefined || Math.abs(value) >= 10) return usd(value);
  return usd(value, Math.abs(value) < 1 ? 5 : 4);
}

export function number(value: Maybe, digits?: number): string {
  if (value === null || value === undefined) return MISSING;
  return negated(value, (size) => (digits === undefined ? plain.format(size) : size.toFixed(digits)));
}

/** Money with all of its decimals, such as a price of a perpetual. */
export function exactUsd(value: Maybe): string {
  return value === null || value === undefined ? MISSING : negated(value, (size) => `$${exact.format(size)}`);
}

/** A size alone, such as `1.1K`; of several below each other, `sizeFormat` makes one format. */
export function shares(value: Maybe): string {
  return value === null || value === undefined ? MISSING : negated(value, compact.format);
}

/** From this size on, the sizes of a column are whole: a decimal would not fit beside so many digits. */
const WHOLE_SIZES_FROM = 10_000;

/** The one format of a column of sizes, by its largest, so that decimals are aligned: `0.4`, `1,085.3`; or `<1`, `12,345`. */
export function sizeFormat(sizes: readonly number[]): (size: number) => string {
  const digits = Math.max(0, ...sizes) < WHOLE_SIZES_FROM ? 1 : 0;
  const format = new Intl.NumberFormat('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const smallest = 10 ** -digits;
  return (size) => (size > 0 && size < smallest / 2 ? `<${smallest}` : format.format(size));
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `0 B`, `1.5 GB`: decimal units, as disks are sold. */
export function bytes(value: Maybe): string {
  if (value === null || value === undefined) return MISSING;
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${(value / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}

export function tradeCount(count: number): string {
  return count === 1 ? 'one trade' : `${plain.format(count)} trades`;
}

/** The name that a user chose, or the id where a reader would see, and could click, nothing. */
export function visibleName(name: string, id: string): string {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(name) ? name : id;
}

/**
 * Day and time in UTC; the text beside it, or the title of its column, says so. A time of another year than `nowMs` has
 * its year: a recording lasts for years.
 */
export function moment(time: string | number | null | undefined, nowMs: number = Date.now()): string {
  if (time === null || time === undefined) return MISSING;
  const at = new Date(time);
  const isOfThisYear = at.getUTCFullYear() === new Date(nowMs).getUTCFullYear();
  return (isOfThisYear ? date : dateOfYear).format(at);
}

/** `0.4 s`, `12 s`, `3 min`, `2 h`, `4 days`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** Time from `time` to `asOf`, e.g. `12 s ago`; both are on the service's clock. */
export function age(time: string | null, asOf: string): string {
  if (time === null) return 'never';
  return `${duration(Math.max(0, (Date.parse(asOf) - Date.parse(time)) / 1000))} ago`;
}

/** `1:05` or `2:03:04`; negative is 0:00. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export const WINDOW_NAMES: Readonly<Record<string, string>> = {
  '5m': '5 min',
  '15m': '15 min',
  '1h': '1 hour',
  '4h': '4 hours',
  daily_up_down: 'Daily',
  unknown: 'unknown',
};

/** Every length of a window, for lists to choose from. */
export const WINDOW_CHOICES = EVENT_TYPES.map((value) => ({ value, label: WINDOW_NAMES[value] ?? value }));
