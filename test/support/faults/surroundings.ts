import type { WatchedVenue } from '../watchedVenue.ts';
import {
  ALL,
  ANY_LIMIT_MS,
  BUSY_LIMIT_MS,
  isChange,
  neverSent,
  of,
  type ScriptedFault,
  SILENT,
  stepVenueClock,
} from './script.ts';

export const ANSWER_FAULTS: readonly ScriptedFault[] = [
  ...(['forbidden', 'too_many', 'html', 'down'] as const).map((restFault) => ({
    name: `REST requests are answered with ${restFault}`,
    begin: (v: WatchedVenue) => {
      v.restFault = restFault;
    },
    lastsMs: 60_000,
  })),
  ...(['forbidden', 'too_many', 'html'] as const).map((restFault) => ({
    name: `one change is never sent, and REST requests are answered with ${restFault}`,
    begin: (v: WatchedVenue) => {
      v.restFault = restFault;
      neverSent(v, 1, (text) => isChange(text) && text.includes(of(v, '5m')));
    },
    lastsMs: 2_000,
    gap: { causes: ['book_mismatch', 'crossed_book'] as const, on: ['5m'] as const, withinMs: 2_000 },
  })),
  {
    name: 'one market freezes, and REST requests are answered with an old copy',
    begin: (v) => {
      const { upToken, downToken } = v.market('5m').facts;
      v.restFault = 'old_copy';
      for (const token of [upToken, downToken]) v.faults.frozenTokens.add(token);
    },
    end: (v) => {
      v.restFault = null;
      v.faults.frozenTokens.clear();
    },
    lastsMs: 12_000,
    gap: { causes: SILENT, on: ['5m'], withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'everything freezes, and REST requests get no answer',
    begin: (v) => {
      v.restFault = 'down';
      v.faults.silentStall = true;
    },
    end: (v) => {
      v.faults.silentStall = false;
    },
    lastsMs: 15_000,
    gap: { causes: SILENT, on: ALL, withinMs: ANY_LIMIT_MS + 2_000 },
  },
  {
    name: 'a token’s book no longer exists (404)',
    begin: (v) => v.faults.settledTokens.add(v.market('1h').facts.upToken),
    lastsMs: 40_000,
  },
  { name: 'the venue sends nothing for a minute', begin: (v) => v.stopVenue(), lastsMs: 60_000 },
];

export const CLOCK_FAULTS: readonly ScriptedFault[] = [
  {
    name: 'the recorder’s clock steps forward by 4 s',
    begin: (v) => v.clock.stepWall(4_000),
    lastsMs: 0,
    gap: { causes: ['clock_step'], on: ALL, withinMs: 200 },
  },
  {
    name: 'the recorder’s clock steps back by 5 s',
    begin: (v) => v.clock.stepWall(-5_000),
    lastsMs: 0,
    gap: { causes: ['clock_step'], on: ALL, withinMs: 200 },
  },
  { name: 'the recorder’s clock is slewed by 200 ms', begin: (v) => v.clock.stepWall(200), lastsMs: 2_000 },
  { name: 'the venue stamps 5 s ahead', begin: (v) => stepVenueClock(v, 5_000), lastsMs: 10_000 },
  { name: 'the venue stamps 4 s behind', begin: (v) => stepVenueClock(v, -4_000), lastsMs: 10_000 },
  {
    name: 'the store accepts no rows for ten seconds',
    begin: (v) => {
      v.isDropping = true;
    },
    end: (v) => {
      v.isDropping = false;
    },
    lastsMs: 10_000,
    gap: { causes: ['store_down'], on: ALL, withinMs: 200 },
  },
  {
    name: 'the process is suspended for eight seconds',
    begin: (v) => {
      v.recorder.wasDown(v.clock.now() - 8_000, v.clock.now());
      v.closeAll(1006);
    },
    lastsMs: 0,
    gap: { causes: ['process_down'], on: ALL, withinMs: 100 },
  },
];
