/** Formats of numbers and times on pages; a missing value is a dash, never 0. */
const MISSING = '–';
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 8 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const date = new Intl.DateTimeFormat('en-GB', {
  ...{ day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  ...{ hourCycle: 'h23', timeZone: 'UTC' },
});

type Maybe = number | null | undefined;

/** A share's price in cents, e.g. `53.5¢`. */
export function cents(price: Maybe): string {
  return price === null || price === undefined ? MISSING : `${plain.format(price * 100)}¢`;
}

export function percent(share: Maybe, digits = 1): string {
  return share === null || share === undefined ? MISSING : `${(share * 100).toFixed(digits)}\u00a0%`;
}

/** Money. */
export function usd(value: Maybe, digits = 2): string {
  if (value === null || value === undefined) return MISSING;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value < 0 ? '−' : ''}$${Math.abs(value).toLocaleString('en', options)}`;
}

/** The price of an underlying; some cost cents. */
export function assetPrice(value: Maybe): string {
  if (value === null || value === undefined || value >= 10) return usd(value);
  return usd(value, value < 1 ? 5 : 4);
}

export function number(value: Maybe, digits?: number): string {
  if (value === null || value === undefined) return MISSING;
  return digits === undefined ? plain.format(value) : value.toFixed(digits);
}

/** A number with all of its decimals, such as a size in coins. */
export function decimal(value: Maybe): string {
  return value === null || value === undefined ? MISSING : exact.format(value);
}

export function shares(value: Maybe): string {
  return value === null || value === undefined ? MISSING : compact.format(value);
}

export function tradeCount(count: number): string {
  return count === 1 ? 'one trade' : `${plain.format(count)} trades`;
}

/** Day and time in UTC. */
export function moment(time: string | number | null | undefined): string {
  return time === null || time === undefined ? MISSING : `${date.format(new Date(time))}`;
}

/** `0.4 s`, `12 s`, `3 min`, `2 h`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
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
