import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatTime, formatTimeOrNull } from './time.ts';

const DAY_MS = 86_400_000;
const END_OF_TIME_MS = 100_000_000 * DAY_MS;

it.each([
  ['the first millisecond of a day', Date.UTC(2026, 10, 20), '2026-11-20T00:00:00.000+00:00'],
  ['the last one', Date.UTC(2026, 10, 21) - 1, '2026-11-20T23:59:59.999+00:00'],
  ['one digit in each part', Date.UTC(2026, 0, 2, 3, 4, 5, 6), '2026-01-02T03:04:05.006+00:00'],
  ['a leap day', Date.UTC(2028, 1, 29, 12, 30, 10, 20), '2028-02-29T12:30:10.020+00:00'],
  ['a time before 1970', -1, '1969-12-31T23:59:59.999+00:00'],
  ['a year of six digits', END_OF_TIME_MS, '+275760-09-13T00:00:00.000+00:00'],
  ['a part of a millisecond', Date.UTC(2026, 10, 20) + 0.9, '2026-11-20T00:00:00.000+00:00'],
])('formats %s', (_, timeMs, text) => {
  expect(formatTime(timeMs)).toBe(text);
});

it('formats each time as `Date` does, whatever it formatted before', () => {
  const time = fc.oneof(
    fc.double({ min: -END_OF_TIME_MS, max: END_OF_TIME_MS, noNaN: true }),
    fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  );
  fc.assert(
    fc.property(fc.array(time), (times) => {
      const expected = times.map((timeMs) => new Date(timeMs).toISOString().replace('Z', '+00:00'));
      expect(times.map(formatTime)).toEqual(expected);
    }),
  );
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, END_OF_TIME_MS + DAY_MS])('refuses %d', (timeMs) => {
  expect(() => formatTime(timeMs)).toThrow(RangeError);
});

it('leaves out a missing time', () => {
  expect([formatTimeOrNull(null), formatTimeOrNull(0)]).toEqual([null, '1970-01-01T00:00:00.000+00:00']);
});
