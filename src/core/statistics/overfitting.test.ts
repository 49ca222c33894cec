import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { blocksFor, overfittingProbability, type TrialResults } from './overfitting.ts';

const TRIALS = 50;
const PERIODS = 240;

/** Independent noise; `edge` deviations per period are added to the first trial, and the others may be re-centred. */
function noise(seed: string, { edge = 0, centred = false } = {}): TrialResults {
  const random = new Random(seed);
  const results = Float64Array.from({ length: TRIALS * PERIODS }, () => random.normal());
  for (let trial = 0; trial < TRIALS; trial++) {
    let sum = 0;
    for (let t = 0; t < PERIODS; t++) sum += results[t * TRIALS + trial]!;
    const shift = (centred ? -sum / PERIODS : 0) + (trial === 0 ? edge : 0);
    for (let t = 0; t < PERIODS; t++) results[t * TRIALS + trial]! += shift;
  }
  return { results, periods: PERIODS, trials: TRIALS };
}

describe('probability of overfitting', () => {
  test('of noise is one half: mean of 100 seeds within 0.05', () => {
    let sum = 0;
    for (let seed = 0; seed < 100; seed++) sum += overfittingProbability(noise(`noise ${seed}`), 8) as number;
    expect(Math.abs(sum / 100 - 0.5)).toBeLessThan(0.05);
  });

  test('of one trial with an edge among noise is below 0.05', () => {
    for (let seed = 0; seed < 5; seed++) {
      expect(overfittingProbability(noise(`edge ${seed}`, { edge: 0.5 }), 8)).toBeLessThan(0.05);
    }
  });

  test('is 1 if every gain of one half is the loss of the other', () => {
    expect(overfittingProbability(noise('centred', { centred: true }), 8)).toBe(1);
  });

  test('of equal trials is 1: the best is no better than the median', () => {
    const results = Float64Array.from({ length: 40 * 3 }, (_, at) => Math.floor(at / 3) % 7);
    expect(overfittingProbability({ results, periods: 40, trials: 3 })).toBe(1);
  });

  test('counts a tie half: of two that are equally good and a third, either best one is above the median', () => {
    const results = Float64Array.from(
      Array.from({ length: 40 }, (_, at) => [at % 7, at % 7, -(at % 7)]).flat(),
    );
    expect(overfittingProbability({ results, periods: 40, trials: 3 })).toBe(0);
  });

  test('of a trial that always earns the same is judged by the sign of its result', () => {
    // Two others of which one gains in each half, at half a deviation: less than the steady one's 1.
    const swing = [3, -1, 3, -1, -3, 1, -3, 1];
    const results = Float64Array.from(swing.flatMap((value) => [0.1, value, -value]));
    expect(overfittingProbability({ results, periods: 8, trials: 3 }, 4)).toBe(0);
  });

  test('is null over one trial or a few periods', () => {
    expect(overfittingProbability({ results: new Float64Array(6), periods: 3, trials: 2 }, 4)).toBeNull();
    expect(overfittingProbability({ results: new Float64Array(40), periods: 40, trials: 1 })).toBeNull();
    expect(overfittingProbability({ results: new Float64Array(14), periods: 7, trials: 2 })).toBeNull();
  });
});

/** The definition, halving by halving, over 4 blocks, without shared sums. */
function byDefinition({ results, periods, trials }: TrialResults): number {
  const size = periods / 4;
  const ratios = (blocks: readonly number[]) =>
    Array.from({ length: trials }, (_, trial) => {
      const values = blocks.flatMap((block) =>
        Array.from({ length: size }, (_, t) => results[(block * size + t) * trials + trial] as number),
      );
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
      return mean / Math.sqrt(variance);
    });
  const halves = [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ] as const;
  const overfit = halves.filter((half) => {
    const inSample = ratios(half);
    const out = ratios([0, 1, 2, 3].filter((block) => !half.some((chosen) => chosen === block)));
    const own = out[inSample.indexOf(Math.max(...inSample))] as number;
    const less = out.filter((ratio) => ratio < own).length;
    const equal = out.filter((ratio) => ratio === own).length;
    return less + (1 + equal) / 2 <= (trials + 1) / 2;
  });
  return overfit.length / halves.length;
}

test('is the share of halvings that the definition counts', () => {
  const found = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    const random = new Random(`halvings ${seed}`);
    const results = Float64Array.from({ length: 20 * 7 }, () => random.normal());
    const share = overfittingProbability({ results, periods: 20, trials: 7 }, 4);
    expect(share, `seed ${seed}`).toBe(byDefinition({ results, periods: 20, trials: 7 }));
    found.add(share as number);
  }
  // Both directions of a halving are judged: the shares are not only thirds.
  expect(found.size).toBeGreaterThan(4);
});

test('counts copies of a trial like other trials', () => {
  let changed = 0;
  for (let seed = 0; seed < 40; seed++) {
    const random = new Random(`copies ${seed}`);
    const own = Array.from({ length: 20 }, () => Array.from({ length: 4 }, () => random.normal()));
    const of = Array.from({ length: 7 }, (_, trial) => (trial < 4 ? trial : random.below(4)));
    const results = Float64Array.from(own.flatMap((period) => of.map((trial) => period[trial] as number)));
    const share = overfittingProbability({ results, periods: 20, trials: 7 }, 4);
    expect(share, `seed ${seed}`).toBe(byDefinition({ results, periods: 20, trials: 7 }));
    const once = Float64Array.from(own.flat());
    if (share !== overfittingProbability({ results: once, periods: 20, trials: 4 }, 4)) changed++;
  }
  // Otherwise leaving them out would have passed as well.
  expect(changed).toBeGreaterThan(5);
});

test('leaves out the oldest periods if the blocks do not use all', () => {
  const different = new Set<boolean>();
  for (let seed = 0; seed < 40; seed++) {
    const random = new Random(`left out ${seed}`);
    const results = Float64Array.from({ length: 22 * 7 }, () => random.normal());
    const share = overfittingProbability({ results, periods: 22, trials: 7 }, 4);
    const newest = { results: results.slice(2 * 7), periods: 20, trials: 7 };
    expect(share, `seed ${seed}`).toBe(byDefinition(newest));
    different.add(share !== byDefinition({ ...newest, results: results.slice(0, 20 * 7) }));
  }
  // Otherwise leaving out the newest would have passed as well.
  expect(different).toContain(true);
});

test('blocks are even, of two periods at least, and at most sixteen', () => {
  expect([7, 8, 11, 12, 31, 32, 1000].map(blocksFor)).toEqual([null, 4, 4, 6, 14, 16, 16]);
});
