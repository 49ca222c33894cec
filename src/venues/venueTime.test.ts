import { expect, test } from 'vitest';
import { PERP_SAMPLES, SAMPLE_TIME_MS } from '../../test/support/perpSamples.ts';
import { VenueMessageError } from '../runtime/errors.ts';
import { mapHyperliquidBook } from './hyperliquid/mapper.ts';
import { isVenueTime, notAhead, TIME_MS_MAX, TIME_MS_MIN, venueTimeMs } from './venueTime.ts';

test('a time is whole milliseconds from 2000 until before 2100', () => {
  const times = [TIME_MS_MIN - 1, TIME_MS_MIN, TIME_MS_MAX - 1, TIME_MS_MAX, Number.NaN];
  expect(times.map(isVenueTime)).toEqual([false, true, true, false, false]);
  expect([...times, TIME_MS_MIN + 0.5].map((time) => venueTimeMs.safeParse(time).success)).toEqual([
    ...[false, true, true, false, false, false],
  ]);
});

test('a time may be a day ahead of its receipt, because our own clock may be wrong by hours', () => {
  const event = { eventTimeMs: SAMPLE_TIME_MS + 86_400_000, receivedTimeMs: SAMPLE_TIME_MS };
  expect(notAhead(event)).toBe(event);
  expect(() => notAhead({ ...event, receivedTimeMs: SAMPLE_TIME_MS - 1 })).toThrow(VenueMessageError);
});

test('a book of Hyperliquid in microseconds is refused: its time is its number', () => {
  const book = PERP_SAMPLES.hyperliquid.book('BTC', 0) as { time: number };
  const times = { receivedTimeMs: SAMPLE_TIME_MS, roundTripMs: null };
  expect(mapHyperliquidBook(book, times).updateId).toBe(SAMPLE_TIME_MS);
  expect(() => mapHyperliquidBook({ ...book, time: book.time * 1_000 }, times)).toThrow(VenueMessageError);
});
