import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import { CONNECTION_FAULTS, TWIN_FAULTS } from '../support/faults/connections.ts';
import { FRAME_FAULTS } from '../support/faults/frames.ts';
import { LATE_FAULTS } from '../support/faults/lateness.ts';
import type { ScriptedFault } from '../support/faults/script.ts';
import { ANSWER_FAULTS, CLOCK_FAULTS } from '../support/faults/surroundings.ts';
import { WatchedVenue } from '../support/watchedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

const SCRIPTED_FAULTS = [
  ...CONNECTION_FAULTS,
  ...TWIN_FAULTS,
  ...FRAME_FAULTS,
  ...ANSWER_FAULTS,
  ...CLOCK_FAULTS,
  ...LATE_FAULTS,
];
const STEP_MS = 20;
const RIGHT_WITHIN_MS = 1_000;
/** Long enough for the frame rates to be known. */
const WARM_UP_MS = 12_000;

let venue: WatchedVenue;
afterEach(() => venue?.stop());

/** The current and next markets that are being recorded. */
const live = () => venue.entered.filter(({ facts }) => facts.window.endTimeMs > venue.clock.now());

/** Plays the whole fault; returns when each market's gap was first seen, since the start of the fault. */
async function play(fault: ScriptedFault): Promise<Map<SimulatedMarket, number>> {
  const seen = new Map<SimulatedMarket, number>();
  const until = Math.max(fault.lastsMs, fault.gap?.withinMs ?? 0);
  const before = new Set(venue.sink.gaps.keys());
  fault.begin(venue);
  let isOver = false;
  for (let afterMs = 0; afterMs <= until; afterMs += STEP_MS) {
    if (afterMs >= fault.lastsMs && !isOver) {
      isOver = true;
      fault.end?.(venue);
      await rightAgain(fault);
    }
    for (const market of venue.entered) {
      const isNew = venue.gapsOf(market).some(({ gapId }) => !before.has(gapId));
      if (isNew && !seen.has(market)) seen.set(market, afterMs);
    }
    await venue.clock.advance(STEP_MS);
  }
  return seen;
}

/** Checks that every market is right at some time within a second from now, or within the fault's own limit. */
async function rightAgain({ rightWithinMs = RIGHT_WITHIN_MS }: ScriptedFault): Promise<void> {
  const wrong = new Set(live());
  for (let leftMs = rightWithinMs; leftMs >= 0 && wrong.size > 0; leftMs -= STEP_MS) {
    await venue.clock.advance(STEP_MS);
    for (const market of wrong) if (venue.isRight(market)) wrong.delete(market);
  }
  expect([...wrong].map(({ facts }) => facts.slug)).toEqual([]);
}

describe('scripted faults', () => {
  it('are at least thirty', () => expect(SCRIPTED_FAULTS.length).toBeGreaterThanOrEqual(30));

  it.each(SCRIPTED_FAULTS)('$name', async (fault) => {
    venue = new WatchedVenue();
    await venue.settle();
    await venue.clock.advance(WARM_UP_MS);
    expect([...venue.sink.gaps.values()]).toEqual([]);
    const begunMs = venue.clock.now();
    const seen = await play(fault);
    await venue.clock.advance(2_000);
    await rightAgain(fault);
    const gaps = [...venue.sink.gaps.values()];
    if (fault.gap === undefined) {
      expect(gaps).toEqual([]);
      return;
    }
    const { causes, on, withinMs } = fault.gap;
    for (const eventType of on) {
      const market = venue.market(eventType);
      const [gap] = venue.gapsOf(market);
      expect(gap, `${eventType}: ${JSON.stringify(gaps.map(({ cause }) => cause))}`).toBeDefined();
      expect(causes).toContain(gap?.cause);
      expect(seen.get(market), eventType).toBeLessThanOrEqual(withinMs);
      // The gap starts before the loss was noticed, and is closed once the book is right.
      expect(gap?.startTimeMs).toBeLessThanOrEqual(begunMs + (seen.get(market) ?? 0));
      // The gap became known during this fault, however early it starts.
      if (gap?.cause !== 'clock_step') expect(gap?.knownTimeMs).toBeGreaterThanOrEqual(begunMs);
    }
    for (const gap of gaps) {
      expect(gap.endTimeMs).not.toBeNull();
      expect(gap.repairedBy).not.toBeNull();
      expect(gap.endTimeMs ?? 0).toBeGreaterThanOrEqual(gap.startTimeMs);
      expect(gap.knownTimeMs).toBeGreaterThanOrEqual(gap.startTimeMs);
    }
  });
});
