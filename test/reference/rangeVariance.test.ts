import { describe, expect, test } from 'vitest';
import { type Bar, garmanKlass, parkinson, rogersSatchell, yangZhang } from './rangeVariance.ts';

/** Ten bars and the next one, of the published test file of an R package for technical trading rules. */
const BARS: Bar[] = [
  [3.18, 3.18, 3.08, 3.08],
  [3.09, 3.15, 3.09, 3.11],
  [3.11, 3.12, 3.08, 3.09],
  [3.09, 3.12, 3.07, 3.1],
  [3.1, 3.12, 3.08, 3.11],
  [3.12, 3.17, 3.1, 3.16],
  [3.16, 3.23, 3.14, 3.22],
  [3.23, 3.29, 3.2, 3.23],
  [3.23, 3.33, 3.22, 3.32],
  [3.32, 3.33, 3.28, 3.3],
  [3.3, 3.34, 3.28, 3.32],
].map(([open, high, low, close]) => ({ open, high, low, close }) as Bar);
const BARS_A_YEAR = 260;

function annual(estimator: (bar: Bar) => number, bars: readonly Bar[]): number {
  const mean = bars.reduce((sum, bar) => sum + estimator(bar), 0) / bars.length;
  return Math.sqrt(BARS_A_YEAR * mean);
}

describe('estimators by range on published bars', () => {
  test.each([
    ['Parkinson', parkinson, 0.2252072864771795, 0.21030035997923877],
    ['Garman-Klass', garmanKlass, 0.21418658397980106, 0.21624727061834803],
    ['Rogers-Satchell', rogersSatchell, 0.205948120277698, 0.2149695331228885],
  ] as const)('%s, ten bars, and the next one rolled in', (_, estimator, first, rolled) => {
    expect(annual(estimator, BARS.slice(0, 10))).toBeCloseTo(first, 14);
    expect(annual(estimator, BARS.slice(1, 11))).toBeCloseTo(rolled, 14);
  });

  test('Yang-Zhang over the same ten bars, the first close from the bar before them', () => {
    expect(Math.sqrt(BARS_A_YEAR * (yangZhang(BARS) ?? 0))).toBeCloseTo(0.21119641911897272, 14);
  });

  test('Yang-Zhang needs two bars and a close before them', () => {
    expect(yangZhang(BARS.slice(0, 2))).toBeNull();
    expect(yangZhang(BARS.slice(0, 3))).toBeGreaterThan(0);
  });
});
