import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { SortedBounds } from './sortedBounds.ts';

describe.each(['below', 'above'] as const)('values that wait for a reading %s their threshold', (side) => {
  test('match a naive scan of all values, in any order of adding, removing and re-adding', () => {
    const random = new Random(`bounds ${side}`);
    const bounds = new SortedBounds<number>(side);
    const naive = new Map<number, number>();
    for (let step = 0; step < 3_000; step++) {
      const value = random.below(400);
      const bound = random.below(50) / 10;
      if (random.chance(0.6)) {
        bounds.add(value, bound);
        naive.set(value, bound);
      } else {
        bounds.delete(value);
        naive.delete(value);
      }
      // Several values may be added between two readings.
      if (random.chance(0.5)) continue;
      const reading = random.below(60) / 10 - 0.5;
      const reached: number[] = [];
      bounds.reached(reading, reached);
      const isReached = (own: number) => (side === 'below' ? reading < own : reading > own);
      const expected = [...naive].filter(([, own]) => isReached(own)).map(([own]) => own);
      expect(reached.sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
      const before = random.below(60) / 10 - 0.5;
      const crossed: number[] = [];
      bounds.crossed(before, reading, crossed);
      const wasThere = (own: number) => (side === 'below' ? before < own : before > own);
      const came = [...naive].filter(([, own]) => isReached(own) && !wasThere(own)).map(([own]) => own);
      expect(crossed.sort((a, b) => a - b)).toEqual(came.sort((a, b) => a - b));
    }
    expect(naive.size).toBeGreaterThan(100);
  });

  test('are not reached by an unknown value', () => {
    const bounds = new SortedBounds<string>(side);
    bounds.add('any', side === 'below' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    const reached: string[] = [];
    bounds.reached(Number.NaN, reached);
    bounds.crossed(Number.NaN, 0, reached);
    bounds.crossed(0, Number.NaN, reached);
    expect(reached).toEqual([]);
    bounds.reached(0, reached);
    expect(reached).toEqual(['any']);
  });
});
