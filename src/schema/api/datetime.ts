import { Invalid, type Type } from './types.ts';

/** Numbers beyond this are milliseconds, not seconds (the year 2603 in seconds, August 1970 in milliseconds). */
const SECONDS_MAX = 2e10;
const YEAR_0_MS = -62_167_219_200_000;
const YEAR_1_MS = -62_135_596_800_000;
const YEAR_10000_MS = 253_402_300_800_000;
const INT64_MAX = 9_223_372_036_854_775_807n;

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|([+\-−])(\d\d):?(\d\d))?$/;
const WHOLE_NUMBER = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** `+02:00` whose plus sign the query string decoded to a space; only after a time of day. */
const LOST_PLUS = /^(.{10}[Tt _]\d\d:\d\d\S*) (\d\d:?\d\d)$/;

const yearZero = new Invalid({
  type: 'datetime_parsing',
  msg: 'Input should be a valid datetime, year 0 is out of range',
  ctx: { error: 'year 0 is out of range' },
});

/**
 * A time as Unix milliseconds, with microseconds as the fraction. Accepts ISO 8601 with any offset or `Z` (UTC without
 * one), a bare date (midnight), and a number of Unix seconds (above 2e10: milliseconds). A space before a trailing
 * offset is a decoded `+`; Pydantic alone would refuse it.
 */
export const datetime: Type<number> = {
  schema: { type: 'string', format: 'date-time' },
  parse(given) {
    const text = given.replace(LOST_PLUS, '$1+$2');
    return isoMilliseconds(text) ?? timestampMilliseconds(text) ?? dateMilliseconds(text);
  },
};

function isoMilliseconds(text: string): number | Invalid | null {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second = '0', fraction = '', , sign, zoneHour, zoneMinute] = match;
  const midnight = midnightSeconds(Number(year), Number(month), Number(day));
  if (typeof midnight === 'string') return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  let offsetSeconds = 0;
  if (sign !== undefined) {
    if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
    offsetSeconds = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60 * (sign === '+' ? 1 : -1);
  }
  if (year === '0000') return yearZero;
  const seconds = midnight + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offsetSeconds;
  return seconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0')) / 1000;
}

function timestampMilliseconds(text: string): number | Invalid | null {
  const whole = WHOLE_NUMBER.test(text);
  if (!whole && !DECIMAL.test(text)) return null;
  if (whole && beyondInt64(text)) return null;
  const value = Number(text);
  const scale = Math.abs(value) > SECONDS_MAX ? 1 : 1000;
  const floor = Math.floor(value);
  const milliseconds = floor * scale + Math.round((value - floor) * scale * 1000) / 1000;
  if (milliseconds >= YEAR_10000_MS || milliseconds < YEAR_0_MS) return null;
  return milliseconds < YEAR_1_MS ? yearZero : milliseconds;
}

/** The last attempt, and the one whose failure Pydantic reports: a bare date. */
function dateMilliseconds(text: string): number | Invalid {
  if (WHOLE_NUMBER.test(text) && !beyondInt64(text)) {
    const side = text.startsWith('-') ? 'before 0000' : 'after 9999';
    return refused(`dates ${side} are not supported as unix timestamps`);
  }
  // Checked byte by byte, because the message names the first wrong one.
  if (Buffer.byteLength(text) < 10) return refused('input is too short');
  if (!/^\d{4}/.test(text)) return refused('invalid character in year');
  if (text[4] !== '-') return refused('invalid date separator, expected `-`');
  if (!/^\d\d$/.test(text.slice(5, 7))) return refused('invalid character in month');
  if (text[7] !== '-') return refused('invalid date separator, expected `-`');
  if (!/^\d\d$/.test(text.slice(8, 10))) return refused('invalid character in day');
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)];
  const seconds = midnightSeconds(Number(year), Number(month), Number(day));
  if (typeof seconds === 'string') return refused(seconds);
  if (text.length > 10) return refused('unexpected extra characters at the end of the input');
  if (text.startsWith('0000')) return yearZero;
  return seconds * 1000;
}

/** Unix seconds of a day's start, or the problem with the day. */
function midnightSeconds(year: number, month: number, day: number): number | string {
  if (month < 1 || month > 12) return 'month value is outside expected range of 1-12';
  // Day 0 of the next month is the last of this one. Date.UTC would read years below 100 as 19xx.
  const probe = new Date(0);
  probe.setUTCFullYear(year, month, 0);
  if (day < 1 || day > probe.getUTCDate()) return 'day value is outside expected range';
  probe.setUTCFullYear(year, month - 1, day);
  return probe.getTime() / 1000;
}

function beyondInt64(text: string): boolean {
  if (text.length < 19) return false;
  const value = BigInt(text.replace('+', ''));
  return value > INT64_MAX || value < -INT64_MAX;
}

function refused(error: string): Invalid {
  return new Invalid({
    type: 'datetime_from_date_parsing',
    msg: `Input should be a valid datetime or date, ${error}`,
    ctx: { error },
  });
}
