import { expect, test } from 'vitest';
import { cancelledAt, refusedAt, restartOf } from './outage.ts';

const RESTART = restartOf({ fromMs: 1_000, untilMs: 31_000 });

test('a restart is followed by two minutes in which only post-only orders are accepted', () => {
  expect(RESTART).toEqual([
    { refusal: 'venue_restarting', fromMs: 1_000, untilMs: 31_000 },
    { refusal: 'venue_post_only', fromMs: 31_000, untilMs: 151_000 },
  ]);
});

test.each([
  [999, null, null],
  [1_000, 'venue_restarting', 'venue_restarting'],
  [30_999, 'venue_restarting', 'venue_restarting'],
  [31_000, 'venue_post_only', null],
  [150_999, 'venue_post_only', null],
  [151_000, null, null],
])('an order that arrives at %i ms is refused: %s; a post-only one: %s', (timeMs, plain, postOnly) => {
  expect(refusedAt(RESTART, timeMs, { postOnly: false })).toBe(plain);
  expect(refusedAt(RESTART, timeMs, { postOnly: true })).toBe(postOnly);
});

test.each([
  [999, 999],
  [1_000, 31_000],
  [30_999, 31_000],
  [31_000, 31_000],
  [100_000, 100_000],
])('a cancel that arrives at %i ms takes effect at %i', (timeMs, effectiveMs) => {
  expect(cancelledAt(RESTART, timeMs)).toBe(effectiveMs);
});

test('a cancel in two restarts that follow each other takes effect after the second', () => {
  const again = restartOf({ fromMs: 31_000, untilMs: 40_000 });
  expect(cancelledAt([...RESTART, ...again], 5_000)).toBe(40_000);
});
