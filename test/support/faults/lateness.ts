import { every } from '../../../src/runtime/clock.ts';
import type { WatchedVenue } from '../watchedVenue.ts';
import { ALL, BUSY, type ScriptedFault } from './script.ts';

const GROWS_EVERY_MS = 100;
const GROWS_BY_MS = 70;
/** Two seconds without lateness, one verification, and the venue's time to send it. */
const RIGHT_WITHIN_MS = 5_000;

/** Delays every connection by a further 0.4 s per second, so that frames keep arriving. */
function fallBehind(venue: WatchedVenue, toMs: number): void {
  const timer = every(venue.clock, GROWS_EVERY_MS, () => {
    venue.faults.lateMs.clob = Math.min(toMs, venue.faults.lateMs.clob + GROWS_BY_MS);
    if (venue.faults.lateMs.clob === toMs) timer.cancel();
  });
}

function catchUp(venue: WatchedVenue): void {
  venue.faults.lateMs.clob = 0;
}

/** Prices of the underlying, one per second, each received `lagMs` after its own time. */
function prices(venue: WatchedVenue, { lagMs, seconds }: { lagMs: number; seconds: number }): void {
  for (let second = 0; second < seconds; second++) {
    venue.clock.after(second * 1_000, () => {
      const receivedTimeMs = venue.clock.now();
      const point = { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 97_000 } as const;
      venue.recorder.underlying({ ...point, receivedTimeMs, eventTimeMs: receivedTimeMs - lagMs });
    });
  }
}

export const LATE_FAULTS: readonly ScriptedFault[] = [
  {
    name: 'every connection falls seven seconds behind',
    begin: (v) => fallBehind(v, 7_000),
    end: catchUp,
    lastsMs: 16_000,
    rightWithinMs: RIGHT_WITHIN_MS,
    gap: { causes: ['late_feed'], on: BUSY, withinMs: 13_500 },
  },
  {
    name: 'every connection falls 0.8 seconds behind',
    begin: (v) => fallBehind(v, 800),
    end: catchUp,
    lastsMs: 12_000,
    rightWithinMs: RIGHT_WITHIN_MS,
  },
  {
    name: 'prices of the underlying arrive seven seconds late',
    begin: (v) => prices(v, { lagMs: 7_000, seconds: 5 }),
    end: (v) => prices(v, { lagMs: 1_500, seconds: 3 }),
    lastsMs: 5_000,
    rightWithinMs: RIGHT_WITHIN_MS,
    gap: { causes: ['late_feed'], on: ALL, withinMs: 1_200 },
  },
  {
    name: 'prices of the underlying arrive four seconds late',
    begin: (v) => prices(v, { lagMs: 4_000, seconds: 5 }),
    lastsMs: 5_000,
  },
  {
    name: 'the recorder’s clock steps forward by 7 s, and back',
    begin: (v) => v.clock.stepWall(7_000),
    end: (v) => v.clock.stepWall(-7_000),
    lastsMs: 10_000,
    rightWithinMs: RIGHT_WITHIN_MS,
    gap: { causes: ['clock_step'], on: ALL, withinMs: 200 },
  },
];
