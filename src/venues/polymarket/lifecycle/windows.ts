/**
 * The windows and slugs of the crypto up/down series. A slug names the window's START. The label of an hour or
 * a day is in New York time, so every boundary outside a plain UTC grid is computed from the time-zone data.
 */
import { DateTime } from 'luxon';
import { InvalidInputError } from '../../../runtime/errors.ts';
import type { EventType, Ticker } from '../../../schema/market.ts';
import { tickerNamed } from '../../symbols.ts';
import { FULL_NAMES, SHORT_NAMES, seriesSlugOf } from './series.ts';

const VENUE_ZONE = 'America/New_York';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MONTHS: readonly string[] = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** The period whose first and last prices decide the outcome. Unix milliseconds, half open. */
export interface Window {
  readonly startTimeMs: number;
  readonly endTimeMs: number;
}

interface ParsedSlug {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  /**
   * The windows the slug can mean: one, except around a change of the clocks. The repeated hour has one label
   * for two hours, and nobody has seen yet whether a 4h window then lasts 4 hours or keeps to the grid.
   */
  readonly windows: readonly Window[];
  /** The label has no year (as before 2026): the same slug exists once a year. */
  readonly yearless: boolean;
}

/** The window of a kind that contains a time. */
export function windowAt(eventType: EventType, timeMs: number): Window {
  switch (eventType) {
    case '5m':
      return gridWindow(timeMs, 5 * MINUTE_MS);
    case '15m':
      return gridWindow(timeMs, 15 * MINUTE_MS);
    case '1h':
      // New York is a whole number of hours from UTC, also across a change of the clocks.
      return gridWindow(timeMs, HOUR_MS);
    case '4h':
      return fourHourWindow(timeMs);
    case 'daily_up_down':
      return dailyWindow(timeMs);
  }
}

/** The window of the same kind that opens when `window` ends. */
export function nextWindow(eventType: EventType, window: Window): Window {
  return windowAt(eventType, window.endTimeMs);
}

/**
 * The slug that the venue uses today for a window (hours and days with the year).
 * @throws {InvalidInputError} If the venue has no such series.
 */
export function slugOf(ticker: Ticker, eventType: EventType, window: Window): string {
  if (eventType === '1h') {
    const start = inVenueZone(window.startTimeMs);
    const hour = start.hour % 12 === 0 ? 12 : start.hour % 12;
    const half = start.hour < 12 ? 'am' : 'pm';
    return `${named(FULL_NAMES[ticker], ticker, eventType)}-up-or-down-${dayLabel(start)}-${hour}${half}-et`;
  }
  if (eventType === 'daily_up_down') {
    const day = dayLabel(inVenueZone(window.endTimeMs));
    return `${named(FULL_NAMES[ticker], ticker, eventType)}-up-or-down-on-${day}`;
  }
  return `${SHORT_NAMES[ticker]}-updown-${eventType}-${window.startTimeMs / 1000}`;
}

/**
 * The slug of the series that lists every window of a ticker and kind.
 * @throws {InvalidInputError} If the venue has no such series.
 */
export function seriesSlug(ticker: Ticker, eventType: EventType): string {
  return named(seriesSlugOf(ticker, eventType), ticker, eventType);
}

function named(name: string | null, ticker: Ticker, eventType: EventType): string {
  if (name === null) throw new InvalidInputError(`the venue has no ${eventType} windows of ${ticker}`);
  return name;
}

/**
 * Parses a slug.
 * @param yearNearMs A label without a year gets the year nearest to this time.
 * @returns Null when the slug is not of our series, names an impossible time, or lacks a year and none was given.
 */
export function parseSlug(slug: string, yearNearMs?: number): ParsedSlug | null {
  return parseEpochSlug(slug) ?? parseHourSlug(slug, yearNearMs) ?? parseDaySlug(slug, yearNearMs);
}

function parseEpochSlug(slug: string): ParsedSlug | null {
  const match = /^([a-z]+)-updown-(5m|15m|4h)-(\d{9,11})$/.exec(slug);
  const [, name, kind, epoch] = match ?? [];
  const ticker = tickerNamed(SHORT_NAMES, name);
  if (!ticker || epoch === undefined) return null;
  const startTimeMs = Number(epoch) * 1000;
  if (kind === '4h') {
    if (startTimeMs % HOUR_MS !== 0) return null;
    const plain = { startTimeMs, endTimeMs: startTimeMs + 4 * HOUR_MS };
    const onGrid = fourHourWindow(startTimeMs);
    const differs = onGrid.startTimeMs === startTimeMs && onGrid.endTimeMs !== plain.endTimeMs;
    return { ticker, eventType: '4h', windows: differs ? [onGrid, plain] : [plain], yearless: false };
  }
  const eventType = kind === '5m' ? '5m' : '15m';
  const window = windowAt(eventType, startTimeMs);
  if (window.startTimeMs !== startTimeMs) return null;
  return { ticker, eventType, windows: [window], yearless: false };
}

function parseHourSlug(slug: string, yearNearMs: number | undefined): ParsedSlug | null {
  const match = /^([a-z]+)-up-or-down-([a-z]+)-(\d{1,2})(?:-(\d{4}))?-(\d{1,2})(am|pm)-et$/.exec(slug);
  const [, name, month, day, year, hour12, half] = match ?? [];
  const ticker = tickerNamed(FULL_NAMES, name);
  if (!ticker || Number(hour12) < 1 || Number(hour12) > 12) return null;
  const hour = (Number(hour12) % 12) + (half === 'pm' ? 12 : 0);
  const start = labelledTime({ month, day, year, hour, yearNearMs });
  if (!start) return null;
  // The library chooses one of a repeated hour's two times on its own, so ask for both.
  const windows = start.getPossibleOffsets().map((moment) => gridWindow(moment.toMillis(), HOUR_MS));
  return { ticker, eventType: '1h', windows, yearless: year === undefined };
}

function parseDaySlug(slug: string, yearNearMs: number | undefined): ParsedSlug | null {
  const match = /^([a-z]+)-up-or-down-on-([a-z]+)-(\d{1,2})(?:-(\d{4}))?$/.exec(slug);
  const [, name, month, day, year] = match ?? [];
  const ticker = tickerNamed(FULL_NAMES, name);
  const end = ticker && labelledTime({ month, day, year, hour: 12, yearNearMs });
  if (!ticker || !end) return null;
  const window = { startTimeMs: end.minus({ days: 1 }).toMillis(), endTimeMs: end.toMillis() };
  return { ticker, eventType: 'daily_up_down', windows: [window], yearless: year === undefined };
}

function gridWindow(timeMs: number, lengthMs: number): Window {
  const startTimeMs = Math.floor(timeMs / lengthMs) * lengthMs;
  return { startTimeMs, endTimeMs: startTimeMs + lengthMs };
}

/** Starts at 0, 4, 8, 12, 16 and 20 o'clock in New York; a window with a clock change lasts 3 or 5 hours. */
function fourHourWindow(timeMs: number): Window {
  const time = inVenueZone(timeMs);
  const hour = time.hour - (time.hour % 4);
  const start = time.startOf('day').set({ hour });
  const end = hour === 20 ? start.startOf('day').plus({ days: 1 }) : start.set({ hour: hour + 4 });
  return { startTimeMs: start.toMillis(), endTimeMs: end.toMillis() };
}

/** Noon to noon in New York; 23 or 25 hours across a change of the clocks. */
function dailyWindow(timeMs: number): Window {
  const time = inVenueZone(timeMs);
  const noon = time.startOf('day').set({ hour: 12 });
  const end = timeMs < noon.toMillis() ? noon : noon.plus({ days: 1 });
  return { startTimeMs: end.minus({ days: 1 }).toMillis(), endTimeMs: end.toMillis() };
}

function dayLabel(time: DateTime): string {
  return `${MONTHS[time.month - 1]}-${time.day}-${time.year}`;
}

function inVenueZone(timeMs: number): DateTime {
  const time = DateTime.fromMillis(timeMs, { zone: VENUE_ZONE });
  if (!time.isValid) throw new InvalidInputError(`not a time: ${timeMs}`);
  return time;
}

interface Label {
  month: string | undefined;
  day: string | undefined;
  year: string | undefined;
  hour: number;
  yearNearMs: number | undefined;
}

/** The time that a label names; null for a date that does not exist or an hour that the clocks skip. */
function labelledTime({ month, day, year, hour, yearNearMs }: Label): DateTime | null {
  const monthNumber = MONTHS.indexOf(month ?? '') + 1;
  if (monthNumber === 0) return null;
  const at = (ofYear: number) =>
    DateTime.fromObject({ year: ofYear, month: monthNumber, day: Number(day), hour }, { zone: VENUE_ZONE });
  const real = (time: DateTime) => time.isValid && time.hour === hour;
  if (year !== undefined) return real(at(Number(year))) ? at(Number(year)) : null;
  if (yearNearMs === undefined) return null;
  const near = inVenueZone(yearNearMs).year;
  const distance = (time: DateTime) => Math.abs(time.toMillis() - yearNearMs);
  const candidates = [near - 1, near, near + 1].map(at).filter(real);
  candidates.sort((a, b) => distance(a) - distance(b));
  return candidates[0] ?? null;
}
