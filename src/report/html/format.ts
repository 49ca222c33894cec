/** Numbers and times as a report prints them. A missing value is a dash. */
import { type Html, html } from '../../runtime/html.ts';

const NONE = '–';
const MINUS = '−';
const [MINUTE_S, HOUR_S, DAY_S] = [60, 3_600, 86_400];

export function fixed(value: number | null, digits = 2): string {
  if (value === null) return NONE;
  const text = Math.abs(value).toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // A negative value that rounds to zero has no sign.
  return value < 0 && /[1-9]/.test(text) ? `${MINUS}${text}` : text;
}

/** With a sign: results, not amounts. */
export function signed(value: number | null, digits = 2): string {
  const text = fixed(value, digits);
  return value !== null && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

export function percent(share: number | null, digits = 1): string {
  return share === null ? NONE : `${fixed(100 * share, digits)} %`;
}

export function whole(count: number | null): string {
  return fixed(count, 0);
}

/** `2026-11-20 12:00:01`. */
export function clock(ts: string): string {
  return `${ts.slice(0, 10)} ${ts.slice(11, 19)}`;
}

export function duration(seconds: number | null): string {
  if (seconds === null) return NONE;
  if (seconds < MINUTE_S) return `${fixed(seconds, seconds < 10 ? 1 : 0)} s`;
  if (seconds < HOUR_S) return `${fixed(seconds / MINUTE_S, 1)} min`;
  return seconds < DAY_S ? `${fixed(seconds / HOUR_S, 1)} h` : `${fixed(seconds / DAY_S, 1)} days`;
}

/** A result, coloured by its sign. */
export function result(value: number | null, text = signed(value)): Html {
  const sign = value === null || value === 0 ? '' : value > 0 ? 'gain' : 'loss';
  return html`<span class="${sign}">${text}</span>`;
}
