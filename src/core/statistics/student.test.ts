import { expect, test } from 'vitest';
import { studentTwoSided } from './student.ts';

/** The closed form for an even number of degrees of freedom (Abramowitz, Stegun 26.7.4). */
function evenTwoSided(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  let [term, sum] = [1, 1];
  for (let k = 2; k <= freedom - 2; k += 2) {
    term *= ((k - 1) / k) * Math.cos(angle) ** 2;
    sum += term;
  }
  return 1 - Math.sin(angle) * sum;
}

test.each([2, 10, 100, 1_000, 100_000])(
  'with %d degrees of freedom it is that of the closed form',
  (freedom) => {
    for (const t of [0, 0.001, 0.5, 1, 1.96, 3, 5])
      expect(studentTwoSided(t, freedom)).toBeCloseTo(evenTwoSided(t, freedom), 7);
  },
);

test('both directions count, and no t at all is certain', () => {
  expect(studentTwoSided(-1, 1)).toBeCloseTo(0.5, 12);
  expect(studentTwoSided(1, 1)).toBeCloseTo(0.5, 12);
  expect([studentTwoSided(0, 1), studentTwoSided(0, 7)]).toEqual([1, 1]);
});
