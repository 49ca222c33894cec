import { describe, expect, test } from 'vitest';
import { Random } from '../../simulator/random.ts';
import { sweepLuck } from './sweepLuck.ts';

/** Noise of 20 cells on so many markets; the edge, in deviations, is the fourth cell's. */
function cells(periods: number, edge: number) {
  const random = new Random(`cells ${periods} ${edge}`);
  const results = Float64Array.from(
    { length: 20 * periods },
    (_, at) => random.normal() + (at % 20 === 3 ? edge : 0),
  );
  return { results, periods, trials: 20 };
}

describe('trap 11: a sweep always says how many cells were tried and what that makes of the best', () => {
  test('of noise', () => {
    const luck = sweepLuck(cells(100, 0));
    expect(luck.trials).toBe(20);
    expect(luck.best).not.toBeNull();
    expect(luck.deflatedSharpe).toBeLessThan(0.9);
    expect(luck.warnings.length).toBeGreaterThan(0);
  });

  test('of an edge', () => {
    const luck = sweepLuck(cells(400, 0.5));
    expect(luck).toMatchObject({ best: 3, warnings: [] });
    expect(luck.deflatedSharpe).toBeGreaterThan(0.95);
    expect(luck.overfittingProbability).toBeLessThan(0.05);
    expect(luck.minTrackRecordMarkets).toBeLessThan(400);
  });

  test('of an edge on few markets: the record is too short, and it says so', () => {
    const luck = sweepLuck(cells(12, 0.6));
    expect(luck.warnings.join()).toMatch(/minimum track record|worthless/);
  });

  test('of a cell that loses the other half of the time in half of all halvings: overfitting is exactly 0.5', () => {
    // Two periods a block. Of the ten triples without the first block, the five with -10 and at most one 6 lose.
    const blocks = [100, -10, 6, 6, 1, 1];
    const results = Float64Array.from({ length: 24 }, (_, at) =>
      at % 2 === 0 ? (blocks[Math.floor(at / 4)] as number) : 0,
    );
    const luck = sweepLuck({ results, periods: 12, trials: 2 });
    expect(luck.overfittingProbability).toBe(0.5);
    expect(luck.warnings).toContain(
      'the best cell of one half of the markets is no better than the middle on the other half',
    );
  });

  test('of cells that never traded', () => {
    expect(sweepLuck({ results: new Float64Array(40), periods: 20, trials: 2 })).toEqual({
      trials: 2,
      best: null,
      sharpeVariance: null,
      deflatedSharpe: null,
      overfittingProbability: 1,
      minTrackRecordMarkets: null,
      warnings: [
        'no cell does better than the best of as many worthless ones would',
        'the best cell of one half of the markets is no better than the middle on the other half',
      ],
    });
  });
});
