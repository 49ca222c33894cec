import { afterEach, expect, it, vi } from 'vitest';
import { PricedVenue } from '../support/pricedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2026, 10, 2, 12);
const START_MS = NOON_MS - 15.5 * MINUTE_MS;
const V2_FROM_MS = NOON_MS + 5 * MINUTE_MS;
const RUN_MINUTES = 45;

let priced: PricedVenue;
afterEach(() => priced?.stop());

it('a day on which RTDS dies at noon and windows move to protocol V2 loses nothing', async () => {
  priced = await PricedVenue.start({
    ...{ seed: 'switch-day', startMs: START_MS, v2FromMs: V2_FROM_MS },
    ...{ polybolt: true, cryptoPrice: true },
  });
  priced.removeRtds(NOON_MS);
  const { venue } = priced;
  const wrong = new Set<string>();
  /** Versions of the markets with proven books, by minute. */
  const versions: string[] = [];
  for (let minute = 0; minute < RUN_MINUTES; minute++) {
    await venue.clock.advance(MINUTE_MS);
    // An action may be in progress at this moment; a little later it is complete.
    await venue.clock.advance(50);
    const nowMs = venue.clock.now();
    const open = venue.entered.filter(({ facts }) => facts.window.endTimeMs > nowMs);
    for (const market of open) if (!venue.isRight(market)) wrong.add(market.facts.slug);
    const proven = open.filter((market) => venue.bookOf(market).recipeProven);
    versions.push([...new Set(proven.map(({ facts }) => facts.version))].sort().join(' and '));
  }
  // The 15-minute window that opened at noon runs on V1 beside the V2 windows from 12:05.
  expect(versions[10]).toBe('v1');
  expect(versions[22]).toBe('v1 and v2');
  expect(versions.at(-1)).toBe('v2');
  expect([...wrong]).toEqual([]);
  expect([...venue.sink.gaps.values()]).toEqual([]);
  expect(venue.sink.books).toBeGreaterThan(1_000);
  expect(venue.sink.trustedBooks).toBe(venue.sink.books);
  const opened = venue.entered.filter(({ facts: { window } }) => {
    return window.startTimeMs > START_MS && window.startTimeMs < venue.clock.now() - MINUTE_MS;
  });
  expect(opened.length).toBeGreaterThanOrEqual(10);
  for (const { facts, fate } of opened) {
    const found = priced.strikes.get(facts.slug);
    expect(['official', 'relayed'], facts.slug).toContain(found?.market.strikeSource);
    expect(found?.market.strikePrice, facts.slug).toBe(fate.strike);
  }
});
