import { describe, expect, test } from 'vitest';
import { normalCdf } from '../pricing/normal.ts';
import { Random } from '../random.ts';
import { pairedTest } from './pairedDifference.ts';
import { studentTwoSided } from './student.ts';

describe('Student’s distribution', () => {
  test.each([
    // Published quantiles of the two-sided 5 % and 1 % points, and Cauchy's distribution, which has a closed form.
    [12.706, 1, 0.05, 4],
    [2.228, 10, 0.05, 4],
    [2.042, 30, 0.05, 4],
    [63.657, 1, 0.01, 5],
    [2.75, 30, 0.01, 5],
    [1.959963984540054, 1e7, 0.05, 6],
    [1, 1, 0.5, 12],
    [0, 7, 1, 12],
  ])('has the published probability beyond %s with %s degrees: %s', (t, freedom, probability, digits) => {
    expect(studentTwoSided(t, freedom)).toBeCloseTo(probability, digits);
    expect(studentTwoSided(-t, freedom)).toBeCloseTo(probability, digits);
  });

  test.each([
    [0.1, 1_000],
    [0.5, 100_000],
    [2, 10_000],
    [0.01, 1_000_000],
  ])('approaches the normal distribution: beyond %s with %s degrees', (t, freedom) => {
    // The first term of its expansion in 1 / freedom (Fisher); the next is smaller by as much again.
    const density = Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI);
    const probability = 2 * normalCdf(-t) + ((t ** 3 + t) * density) / (2 * freedom);
    expect(studentTwoSided(t, freedom)).toBeCloseTo(probability, 7);
  });

  test.each([2, 3, 4, 9, 25, 200])('agrees with the integral of its density for %s degrees', (freedom) => {
    const density = (x: number) => (1 + x ** 2 / freedom) ** (-(freedom + 1) / 2);
    // Simpson's rule; the tangent maps the whole line to a finite range.
    const integral = (from: number, to: number) => {
      const steps = 4_000;
      const width = (to - from) / steps;
      let sum = 0;
      for (let at = 0; at <= steps; at++) {
        const angle = from + at * width;
        const value = Math.cos(angle) < 1e-9 ? 0 : density(Math.tan(angle)) / Math.cos(angle) ** 2;
        sum += value * (at === 0 || at === steps ? 1 : at % 2 === 1 ? 4 : 2);
      }
      return (sum * width) / 3;
    };
    for (const t of [0.3, 1, 2.5, 6]) {
      const beyond = integral(Math.atan(t), Math.PI / 2) / integral(0, Math.PI / 2);
      expect(studentTwoSided(t, freedom)).toBeCloseTo(beyond, 8);
    }
  });
});

describe('the paired test', () => {
  test('has the published result of Student’s sleep data', () => {
    // R: t.test(extra ~ group, data = sleep, paired = TRUE), t = -4.0621, df = 9, p-value = 0.002833.
    const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    const found = pairedTest(
      first.map((value, at) => value - (second[at] as number)),
      1,
    );
    expect(found).toMatchObject({ pairs: 10, freedom: 9, blockLength: 1 });
    expect(found?.t).toBeCloseTo(-4.0621, 4);
    expect(found?.p).toBeCloseTo(0.002833, 6);
    expect(found?.mean).toBeCloseTo(-1.58, 12);
    // The deviation of the ten differences is 1.229995.
    expect(found?.standardError).toBeCloseTo(1.229995 / Math.sqrt(10), 6);
    expect(found?.detectable).toBeCloseTo((2.8 * 1.229995) / Math.sqrt(10), 6);
  });

  test('is the plain test of the means of blocks', () => {
    const blocks = pairedTest([9, 1, 2, 3, 4, 5, 6, 7, 8], 4);
    expect(blocks).toEqual({ ...pairedTest([3.8, 6.5], 1), pairs: 9, mean: 5, blockLength: 4 });
  });

  test.each([[[]], [[1]], [[2, 2, 2, 2, 2, 2]]])('is null for %j', (differences) => {
    expect(pairedTest(differences)).toBeNull();
  });

  const RUNS = 2_000;
  /** Share of the comparisons in which the test rejects at 5 %. */
  function rejections(seed: string, draw: (random: Random) => number[]): number {
    const random = new Random(seed);
    let rejected = 0;
    for (let run = 0; run < RUNS; run++) if ((pairedTest(draw(random))?.p ?? 1) < 0.05) rejected++;
    return rejected / RUNS;
  }

  /** Binary payoffs: two strategies that buy at random, fair prices in random markets, each without an edge. */
  const fairBets = (count: number, edge: number) => (random: Random) =>
    Array.from({ length: count }, () => {
      const price = random.uniform(0.1, 0.9);
      const wins = random.chance(price + edge);
      const a = random.chance(0.7) ? Number(wins) - price : 0;
      const b = random.chance(0.5) ? Number(random.chance(price)) - price : 0;
      return a - b;
    });
  /** Neighbours share most of their result. */
  const dependent = (random: Random) => {
    let last = random.normal();
    return Array.from({ length: 300 }, () => {
      last = 0.4 * last + Math.sqrt(1 - 0.16) * random.normal();
      return last;
    });
  };

  test('rejects equal strategies at its level', () => {
    // Three standard errors of 5 % in 2,000 runs are 1.5 %.
    expect(Math.abs(rejections('fair 60', fairBets(60, 0)) - 0.05)).toBeLessThan(0.015);
    expect(Math.abs(rejections('fair 400', fairBets(400, 0)) - 0.05)).toBeLessThan(0.015);
  });

  test('keeps its level among dependent neighbours, where the plain test does not', () => {
    expect(rejections('dependent', dependent)).toBeLessThan(0.1);
    const random = new Random('dependent');
    let plain = 0;
    for (let run = 0; run < RUNS; run++) if ((pairedTest(dependent(random), 1)?.p ?? 1) < 0.05) plain++;
    expect(plain / RUNS).toBeGreaterThan(0.17);
  });

  test('finds a planted edge, and four times in five the one it calls detectable', () => {
    expect(rejections('edge', fairBets(1_000, 0.08))).toBeGreaterThan(0.75);
    const random = new Random('detectable');
    const noise = () => Array.from({ length: 300 }, () => random.normal());
    let found = 0;
    for (let run = 0; run < RUNS; run++) {
      const edge = 2.8 / Math.sqrt(300);
      if ((pairedTest(noise().map((value) => value + edge))?.p ?? 1) < 0.05) found++;
    }
    expect(Math.abs(found / RUNS - 0.8)).toBeLessThan(0.05);
  });
});
