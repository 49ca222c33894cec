import { expect, test } from 'vitest';
import { setUpLifecycle } from '../../test/support/lifecycle.ts';

/** The label of two windows: the hour that New York repeats when its clocks are set back. */
const SLUG = 'bitcoin-up-or-down-november-1-2026-1am-et';
const FIRST = Date.UTC(2026, 10, 1, 5);

test('the second window of the repeated hour is asked for with growing pauses, like any window that is not listed', async () => {
  const at = setUpLifecycle({ startMs: FIRST, tickers: ['BTC'] });
  at.lifecycle.start([]);
  await at.clock.advance(1_000);
  expect(at.latest(SLUG)).toMatchObject({ startTimeMs: FIRST, status: 'open' });
  at.listings.asked.length = 0;
  await at.clock.advance(600_000);
  const asked = at.listings.asked.filter((slugs) => slugs.includes(SLUG)).length;
  // After 4 s, 8 s and so on up to a minute, and nine times for the strike of the first window.
  expect(asked).toBeGreaterThan(15);
  expect(asked).toBeLessThan(30);
  expect(at.listings.asked.every((slugs) => new Set(slugs).size === slugs.length)).toBe(true);
});
