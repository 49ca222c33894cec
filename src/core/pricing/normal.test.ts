import { describe, expect, test } from 'vitest';
import { normalCdf } from './normal.ts';

describe('the normal distribution function', () => {
  // Computed with 40 digits.
  test.each([
    [-8, 6.220960574271784e-16],
    [-5, 2.866515718791939e-7],
    [-3, 0.0013498980316300946],
    [-1.96, 0.024997895148220435],
    [-1, 0.15865525393145705],
    [-0.5, 0.3085375387259869],
    [-0.1, 0.460172162722971],
    [0, 0.5],
    [0.1, 0.539827837277029],
    [0.25, 0.5987063256829237],
    [1, 0.8413447460685429],
    [2.5, 0.9937903346742238],
    [4, 0.9999683287581669],
    [6, 0.9999999990134123],
  ])('of %d is %d to a few units in the last place', (x, value) => {
    expect(Math.abs(normalCdf(x) - value)).toBeLessThan(2.3e-16);
    expect(Math.abs(normalCdf(x) / value - 1)).toBeLessThan(1e-14);
  });

  test.each([
    [-20, 2.7536241186062337e-89],
    [-37, 5.725571222524577e-300],
  ])('of %d keeps its digits in the far tail', (x, value) => {
    expect(Math.abs(normalCdf(x) / value - 1)).toBeLessThan(1e-12);
  });

  test('is 0 and 1 at the ends of the line', () => {
    expect([normalCdf(-Infinity), normalCdf(-40), normalCdf(40), normalCdf(Infinity)]).toEqual([0, 0, 1, 1]);
  });

  test('is symmetric and never falls', () => {
    let last = 0;
    for (let x = -10; x <= 10; x += 1 / 64) {
      const value = normalCdf(x);
      expect(value + normalCdf(-x)).toBeCloseTo(1, 15);
      expect(value).toBeGreaterThanOrEqual(last);
      last = value;
    }
  });
});
