import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seriesOf } from '../venues/polymarket/lifecycle/series.ts';
import { WantedWindows } from './wantedWindows.ts';

const SERIES = seriesOf(['BTC', 'ETH']);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The slugs of Bitcoin's 15m windows that are wanted at a time of 2026-11-20. */
function wantedAt(time: string): string[] {
  const wanted = new WantedWindows(SERIES).at(Date.parse(`2026-11-20T${time}Z`));
  const ofSeries = wanted.filter(({ ticker, eventType }) => ticker === 'BTC' && eventType === '15m');
  return ofSeries.map(({ window }) => new Date(window.startTimeMs).toISOString().slice(11, 16)).sort();
}

it.each([
  ['just after a start: the one before too', '12:00:00.000', ['11:45', '12:00', '12:15']],
  ['ten minutes later', '12:10:00.000', ['12:00', '12:15']],
  ['just before that', '12:09:59.999', ['11:45', '12:00', '12:15']],
  ['90 s before the end: the one after the next too', '12:13:30.000', ['12:00', '12:15', '12:30']],
  ['just before that', '12:13:29.999', ['12:00', '12:15']],
])('wants %s', (_, time, starts) => {
  expect(wantedAt(time)).toEqual(starts);
});

it('wants the same windows whatever it was asked before, also when the clock is set back', () => {
  // Two weeks around the end of summer time in New York.
  const time = fc.integer({ min: Date.UTC(2026, 9, 25), max: Date.UTC(2026, 9, 25) + 14 * DAY_MS });
  const step = fc.oneof(fc.integer({ min: -2 * MINUTE_MS, max: 20 * MINUTE_MS }), fc.constant(1_000));
  fc.assert(
    fc.property(time, fc.array(step, { minLength: 1, maxLength: 12 }), (startMs, steps) => {
      const wanted = new WantedWindows(SERIES);
      let nowMs = startMs;
      for (const stepMs of steps) {
        nowMs += stepMs;
        expect(wanted.at(nowMs)).toEqual(new WantedWindows(SERIES).at(nowMs));
      }
    }),
    { numRuns: 30 },
  );
});

it('computes nothing while nothing changes', () => {
  const wanted = new WantedWindows(SERIES);
  const startMs = Date.UTC(2026, 10, 20, 12, 2);
  const first = wanted.at(startMs);
  expect(wanted.at(startMs + MINUTE_MS)).toBe(first);
  expect(wanted.at(startMs + 2 * MINUTE_MS)).not.toBe(first);
});
