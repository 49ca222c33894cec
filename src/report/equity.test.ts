import { describe, expect, test } from 'vitest';
import { Random } from '../core/random.ts';
import { type CurvePoint, drawdownOf, thinned } from './equity.ts';

const curve = (...values: readonly number[]): CurvePoint[] =>
  values.map((equity, at) => ({ timeMs: at * 1_000, equity, cash: null, inUse: null }));

describe('drawdown', () => {
  test('starts from the equity before the first point', () => {
    expect(drawdownOf(curve(90, 95), 100)).toMatchObject({
      deepestUsd: -10,
      deepestShare: -0.1,
      timeUnderWater: 1,
    });
  });

  test('has the deepest share at another place than the deepest amount', () => {
    const { deepestUsd, deepestShare } = drawdownOf(curve(10, 5, 100, 80), 10);
    expect([deepestUsd, deepestShare]).toEqual([-20, -0.5]);
  });

  test('has no share without capital and no time without two times', () => {
    expect(drawdownOf(curve(-1), 0)).toEqual({
      falls: [{ timeMs: 0, usd: -1, share: null }],
      ...{ deepestUsd: -1, deepestShare: null, timeUnderWater: null, longestMs: null },
    });
  });

  test('has the longest time below one peak', () => {
    expect(drawdownOf(curve(1, 0, 2, 1, 1, 1, 3), 1)).toMatchObject({
      longestMs: 3_000,
      timeUnderWater: 4 / 6,
    });
  });
});

test('the longest time below a peak may be the one that has not ended', () => {
  expect(drawdownOf(curve(2, 1, 3, 1, 1, 1), 2)).toMatchObject({ longestMs: 2_000, timeUnderWater: 3 / 5 });
  expect(drawdownOf(curve(2, 1, 1, 1, 3, 1, 1), 2)).toMatchObject({ longestMs: 3_000 });
});

describe('thinning', () => {
  test('keeps short curves as they are', () => {
    const points = curve(1, 2, 3);
    expect(thinned(points, ({ equity }) => equity)).toEqual({ points, thinning: 'every point' });
  });

  test('counts the last point to the last of 400 spans', () => {
    const low = [0, -1, 1];
    const points = Array.from({ length: 4_001 }, (_, at) =>
      curve(low[at % 10] ?? 0).map((point) => ({ ...point, timeMs: at })),
    );
    const { points: kept } = thinned(points.flat(), ({ equity }) => equity);
    expect(kept).toHaveLength(1_600);
    expect(kept.slice(-4).map(({ timeMs }) => timeMs)).toEqual([3_990, 3_991, 3_992, 4_000]);
  });

  test.each(['a', 'b', 'c'])('keeps ends, extremes and order of a long curve (seed %s)', (seed) => {
    const random = new Random(seed);
    let value = 0;
    const points = Array.from({ length: 20_000 }, (_, at): CurvePoint => {
      value += random.normal();
      return { timeMs: at * 10 + random.below(10), equity: value, cash: null, inUse: null };
    });
    const { points: kept, thinning } = thinned(points, ({ equity }) => equity);
    const extremes = (of: readonly CurvePoint[]) => {
      const values = of.map(({ equity }) => equity);
      return [Math.min(...values), Math.max(...values), of[0], of.at(-1)];
    };
    expect(kept.length).toBeLessThanOrEqual(1_600);
    expect(extremes(kept)).toEqual(extremes(points));
    expect(kept).toEqual([...kept].sort((a, b) => a.timeMs - b.timeMs));
    expect(thinning).toBe('of each of 400 equal spans of time: the first, lowest, highest and last point');
  });
});
