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
