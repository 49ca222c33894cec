import { expect, test } from 'vitest';
import { recordedShare } from './recordedShare.ts';

const WINDOW = { fromMs: 1_000, toMs: 11_000 };
const stretch = (fromMs: number, toMs: number) => ({ fromMs, toMs });

test.each([
  ['recorded completely', { sinceMs: 0, lost: [] }, 20_000, 1],
  ['nothing was ever recorded', { sinceMs: null, lost: [] }, 20_000, 0],
  ['nothing was recorded before its start', { sinceMs: null, lost: [] }, 1_000, 1],
  ['recorded from its middle on', { sinceMs: 6_000, lost: [] }, 20_000, 0.5],
  ['recorded from its end on', { sinceMs: 11_000, lost: [] }, 20_000, 0],
  ['counts only the elapsed part', { sinceMs: 2_000, lost: [] }, 5_000, 0.75],
  ['gaps at both ends', { sinceMs: 0, lost: [stretch(0, 2_000), stretch(10_000, 30_000)] }, 20_000, 0.8],
  ['gaps outside the window', { sinceMs: 0, lost: [stretch(0, 1_000), stretch(11_000, 12_000)] }, 20_000, 1],
  ['gaps that overlap', { sinceMs: 0, lost: [stretch(3_000, 5_000), stretch(2_000, 4_000)] }, 20_000, 0.7],
  ['a gap within another', { sinceMs: 0, lost: [stretch(2_000, 6_000), stretch(3_000, 4_000)] }, 20_000, 0.6],
  ['a gap before the first book', { sinceMs: 6_000, lost: [stretch(2_000, 3_000)] }, 20_000, 0.5],
  ['rounded to millionths', { sinceMs: 0, lost: [stretch(1_000, 4_333)] }, 11_000, 0.6667],
  ['rounded to the nearest millionth', { sinceMs: 0, lost: [stretch(1_000, 2_000)] }, 4_000, 0.666667],
])('%s', (_what, { sinceMs, lost }, nowMs, share) => {
  expect(recordedShare(WINDOW, { sinceMs, lost, nowMs })).toBe(share);
});
