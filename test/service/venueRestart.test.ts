import { afterEach, expect, test, vi } from 'vitest';
import { WatchedVenue } from '../support/watchedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

/** Long enough for the frame rates to be known. */
const WARM_UP_MS = 12_000;
const DOWN_MS = 40_000;

let venue: WatchedVenue;
afterEach(() => venue?.stop());

/** The current and next markets that are being recorded. */
const live = () => venue.entered.filter(({ facts }) => facts.window.endTimeMs > venue.clock.now());

async function begin(hasRest: boolean): Promise<void> {
  venue = new WatchedVenue({ hasRest, eventTypes: ['5m', '15m', '1h'] });
  await venue.settle();
  await venue.clock.advance(WARM_UP_MS);
}

test('a restart of the venue’s engine is one gap of each market, named for its cause', async () => {
  await begin(true);
  const followed = live();
  venue.restart(DOWN_MS);
  await venue.clock.advance(6_000);
  for (const market of followed) {
    expect(venue.gapsOf(market)).toMatchObject([{ cause: 'venue_restart', endTimeMs: null }]);
  }
  await venue.clock.advance(DOWN_MS + 10_000);
  for (const market of followed) {
    const [gap, ...others] = venue.gapsOf(market);
    expect(others).toEqual([]);
    expect(gap).toMatchObject({ cause: 'venue_restart', feed: 'polymarket.clob', repairedBy: 'snapshot' });
    expect(venue.isRight(market)).toBe(true);
  }
  expect(await venue.metrics.registry.metrics()).toContain('underround_venue_restarts_total 1');
});

test('a connection dropped in the two minutes after a restart belongs to it', async () => {
  await begin(true);
  venue.restart(DOWN_MS);
  await venue.clock.advance(DOWN_MS + 30_000);
  const before = new Set(venue.sink.gaps.keys());
  venue.closeAll(1006);
  await venue.clock.advance(5_000);
  const later = [...venue.sink.gaps.values()].filter(({ gapId }) => !before.has(gapId));
  expect(later.length).toBeGreaterThan(2);
  expect(new Set(later.map(({ cause }) => cause))).toEqual(new Set(['venue_restart']));
});

test.each([
  ['without a sign in any answer', true],
  ['without requests to the venue', false],
])('connections dropped %s are a gap by disconnection', async (_, hasRest) => {
  await begin(hasRest);
  if (hasRest) venue.closeAll(1006);
  else venue.restart(DOWN_MS);
  await venue.clock.advance(20_000);
  const causes = [...venue.sink.gaps.values()].map(({ cause }) => cause);
  expect(causes.length).toBeGreaterThan(2);
  expect(new Set(causes)).toEqual(new Set(['disconnected']));
});
