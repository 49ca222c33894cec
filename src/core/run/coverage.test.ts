import { expect, test } from 'vitest';
import { Coverage } from './coverage.ts';

test('is the share of the window with a proven book, without what a gap takes off again', () => {
  const coverage = new Coverage({ startTimeMs: 1_000, endTimeMs: 2_000 });
  expect(coverage.shareAt(1_500)).toBe(0);
  coverage.row(900, true);
  coverage.row(1_100, true);
  expect(coverage.shareAt(1_300)).toBe(0.3);
  coverage.row(1_300, false);
  coverage.row(1_600, true);
  expect(coverage.shareAt(1_900)).toBeCloseTo(0.6, 12);
  expect(coverage.shareAt(9_000)).toBeCloseTo(0.7, 12);
  coverage.gapKnown(1_200);
  coverage.row(2_500, false);
  expect(coverage.shareAt(9_000)).toBeCloseTo(0.6, 12);
});

test('a gap takes off every proven stretch after its start, and adds none', () => {
  const covered = (sinceMs: number): number => {
    const coverage = new Coverage({ startTimeMs: 1_000, endTimeMs: 2_000 });
    for (const timeMs of [800, 900, 1_000]) coverage.row(timeMs, true);
    coverage.row(1_200, false);
    coverage.row(1_400, true);
    coverage.row(1_600, false);
    coverage.gapKnown(sinceMs);
    return coverage.shareAt(1_800);
  };
  expect([900, 1_100, 1_300, 1_500, 1_700].map(covered)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
});

test('rows outside the window are none of its own', () => {
  const rowsOf = (...times: number[]) => {
    const coverage = new Coverage({ startTimeMs: 1_000, endTimeMs: 2_000 });
    for (const timeMs of times) coverage.row(timeMs, timeMs % 2 === 1);
    return [coverage.hasRow, coverage.hasTrustedRow];
  };
  expect(rowsOf(998, 999, 2_000, 2_001)).toEqual([false, false]);
  expect(rowsOf(1_000)).toEqual([true, false]);
  expect(rowsOf(1_999, 1_000)).toEqual([true, true]);
});
