import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { type Moments, momentsOf, sharpeRatio } from './returns.ts';
import { type SweepLuck, type SweptCells, sweepLuck } from './sweepLuck.ts';
import { deflatedSharpe, expectedMaximum, minTrackRecord } from './trackRecord.ts';

/** @param columns Returns of each cell, null where it did not trade. */
function swept(columns: readonly (readonly (number | null)[])[]): SweptCells {
  const [trials, periods] = [columns.length, columns[0]?.length ?? 0];
  const results = new Float64Array(periods * trials);
  const traded = new Uint8Array(periods * trials);
  for (const [trial, column] of columns.entries()) {
    for (const [period, value] of column.entries()) {
      results[period * trials + trial] = value ?? 0;
      traded[period * trials + trial] = Number(value !== null);
    }
  }
  const shown = columns.map((column) => {
    const returns = column.filter((value) => value !== null);
    return { sharpe: sharpeRatio(returns), totalPnl: returns.reduce((sum, value) => sum + value, 0) };
  });
  return { trials: { results, periods, trials }, traded, shown };
}

function normals(random: Random, count: number, edge = 0): number[] {
  return Array.from({ length: count }, () => random.normal() + edge);
}

/** Noise of 20 cells on a number of markets; the edge, in deviations, is the fourth cell's. */
function cells(periods: number, edge: number): SweptCells {
  const random = new Random(`cells ${periods} ${edge}`);
  return swept(Array.from({ length: 20 }, (_, at) => normals(random, periods, at === 3 ? edge : 0)));
}

const judge = (given: SweptCells, trialsBefore = 0): SweepLuck => sweepLuck(given, { trialsBefore });

describe('trap 11: a sweep always reports how many cells were tried and how that devalues the best', () => {
  test('for noise', () => {
    const luck = judge(cells(100, 0));
    expect(luck.trials).toBe(20);
    expect(luck.best).not.toBeNull();
    expect(luck.deflatedSharpe).toBeLessThan(0.9);
    expect(luck.warnings.length).toBeGreaterThan(0);
  });

  test('for an edge', () => {
    const luck = judge(cells(400, 0.5));
    expect(luck).toMatchObject({ best: 3, warnings: [] });
    expect(luck.deflatedSharpe).toBeGreaterThan(0.95);
    expect(luck.overfittingProbability).toBeLessThan(0.05);
    expect(luck.minTrackRecordMarkets).toBeLessThan(400);
  });

  test('for an edge on few markets: the record is too short, and a warning says so', () => {
    const luck = judge(cells(12, 0.6));
    expect(luck.deflatedSharpe).toBeLessThan(0.95);
    expect(luck.warnings).toContain(
      'the best cell traded 12 markets; below 30 it is judged as if it had lost once more',
    );
  });

  test('for an edge too small for its markets: two warnings, and none about its losses', () => {
    const column = Array.from({ length: 40 }, (_, at) => (at % 5 < 3 ? 1 : -1));
    const luck = judge(swept([column, column.map((value) => value - 0.01)]));
    expect(luck.minTrackRecordMarkets).toBeGreaterThan(40);
    expect(luck.warnings).toEqual([
      'fewer markets than the minimum track record',
      'the best cell is not better than chance with 95 % confidence, given the number of cells tried',
    ]);
  });

  test('for a best cell that loses: no number of markets would suffice', () => {
    const column = Array.from({ length: 40 }, (_, at) => (at % 5 < 2 ? 1 : -1));
    const luck = judge(swept([column]));
    expect(luck.minTrackRecordMarkets).toBeNull();
    expect(luck.warnings.slice(0, 2)).toEqual([
      'no cell does better than the best of as many worthless ones would',
      'the best cell is not better than chance with 95 % confidence, given the number of cells tried',
    ]);
  });

  test('for a cell that loses the other half of the time in half of all halvings: overfitting is exactly 0.5', () => {
    // Two periods per block. Of the ten triples without the first block, the five with -10 and at most one 6 lose.
    const blocks = [100, -10, 6, 6, 1, 1];
    const one = blocks.flatMap((value) => [value, value]);
    const luck = judge(swept([one, one.map(() => 0)]));
    expect(luck.overfittingProbability).toBe(0.5);
    expect(luck.warnings).toContain(
      'the best cell of one half of the markets is no better than the middle on the other half',
    );
  });

  test('for cells that never traded', () => {
    const nothing = Array.from({ length: 20 }, () => null);
    expect(judge(swept([nothing, nothing]), 7)).toEqual({
      ...{ trials: 2, trialsBefore: 7, effectiveTrials: null, best: null, sharpeVariance: null },
      ...{ deflatedSharpe: null, overfittingProbability: 1, minTrackRecordMarkets: null },
      warnings: [
        'no cell has a Sharpe ratio',
        'the best cell of one half of the markets is no better than the middle on the other half',
      ],
    });
  });
});

describe('the best cell', () => {
  test('is the one with the highest reported ratio: that of the markets it traded', () => {
    const random = new Random('best');
    const rare = normals(random, 200, 0.6).map((value, at) => (at % 4 === 0 ? value : null));
    const often = normals(random, 200, 0.35);
    const given = swept([often, rare]);
    expect(given.shown[1]?.sharpe).toBeGreaterThan(given.shown[0]?.sharpe as number);
    expect(judge(given).best).toBe(1);
  });

  test('among equal ratios is the one with the highest P&L, then the first', () => {
    const column = normals(new Random('ties'), 60, 0.1);
    const given = swept([column, column, column]);
    const withPnl = (pnls: readonly number[]) => ({
      ...given,
      shown: given.shown.map(({ sharpe }, at) => ({ sharpe, totalPnl: pnls[at] as number })),
    });
    expect(judge(withPnl([1, 3, 2])).best).toBe(1);
    expect(judge(withPnl([2, 2, 1])).best).toBe(0);
    const shown = [0.2, 0.1].map((sharpe, at) => ({ sharpe, totalPnl: at }));
    expect(judge({ ...swept([column, column]), shown }).best).toBe(0);
  });
});

describe('the bar that the best cell must pass', () => {
  const edge = normals(new Random('bar 4'), 120, 0.18);
  const noise = Array.from({ length: 16 }, (_, at) => normals(new Random(`noise ${at}`), 120));

  test('is not lowered by near copies of the best: forty are judged no better than seventeen honest cells', () => {
    const copies = Array.from({ length: 39 }, (_, at) => edge.map((value) => value - 1e-3 * (at + 1)));
    const [honest, laundered] = [judge(swept([edge, ...noise])), judge(swept([edge, ...copies]))];
    expect(laundered.sharpeVariance).toBe(1 / 119);
    expect(laundered.deflatedSharpe).toBeLessThanOrEqual(honest.deflatedSharpe as number);
  });

  test('follows the published formula for the reported Sharpe ratio and the number of all tried cells', () => {
    const given = swept([edge, ...noise]);
    const luck = judge(given, 100);
    const at = luck.best as number;
    const column = at === 0 ? edge : (noise[at - 1] as number[]);
    const record = { ...momentsOf(column), sharpe: given.shown[at]?.sharpe } as Parameters<
      typeof deflatedSharpe
    >[0];
    const sharpeVariance = luck.sharpeVariance as number;
    expect(luck.deflatedSharpe).toBe(deflatedSharpe(record, { trials: 117, sharpeVariance }));
    expect(luck).toMatchObject({ trials: 17, trialsBefore: 100 });
  });

  test('of a single cell after earlier trials is that of chance: one ratio shows no variance', () => {
    const luck = judge(swept([edge]), 100);
    const record = { ...(momentsOf(edge) as Moments), sharpe: sharpeRatio(edge) as number };
    expect(luck.sharpeVariance).toBe(1 / 119);
    expect(luck.deflatedSharpe).toBe(deflatedSharpe(record, { trials: 101, sharpeVariance: 1 / 119 }));
  });

  test('needs a whole number of markets, rounded up', () => {
    const luck = judge(cells(400, 0.3));
    const { results, trials } = cells(400, 0.3).trials;
    const returns = [...results.filter((_, at) => at % trials === 3)];
    const { mean, deviation, ...shape } = momentsOf(returns) as Moments;
    const bar = Math.sqrt(luck.sharpeVariance as number) * expectedMaximum(20);
    const needed = minTrackRecord({ ...shape, sharpe: mean / deviation }, bar) as number;
    expect(luck.best).toBe(3);
    expect(needed).toBeGreaterThan(30);
    expect(luck.minTrackRecordMarkets).toBe(Math.ceil(needed));
  });

  test('is passed by 30 markets with 5 losses, the fewest of both, if the ratio is high', () => {
    const column = Array.from({ length: 30 }, (_, at) => (at % 6 === 0 ? -0.1 : 1));
    const luck = judge(swept([column]));
    expect(luck.minTrackRecordMarkets).toBe(30);
    expect(luck.warnings).toEqual(['too few markets or cells to estimate overfitting']);
    const once = judge(swept([column.map((value, at) => (at === 0 ? 1 : value))]));
    expect(once.warnings[0]).toBe(
      'the best cell won 26 markets and lost 4; with fewer than 5 of either it is judged as if it had lost once more',
    );
  });

  test.each([
    [1, 'won 4 markets and lost 21'],
    [-1, 'won 21 markets and lost 4'],
  ])('counts a market without a result as neither won nor lost: times %i', (sign, counts) => {
    const column = Array.from({ length: 30 }, (_, at) => (at < 4 ? sign : at < 9 ? 0 : -0.1 * sign));
    expect(judge(swept([column])).warnings[0]).toContain(`the best cell ${counts};`);
  });

  test('counts only the markets that the best cell traded', () => {
    const column = Array.from({ length: 60 }, (_, at) => (at % 5 === 0 ? (at % 10 === 0 ? 1 : -0.5) : null));
    const [luck, alone] = [judge(swept([column])), judge(swept([column.filter((value) => value !== null)]))];
    expect(luck.warnings[0]).toContain('the best cell traded 12 markets;');
    expect(luck.deflatedSharpe).toBe(alone.deflatedSharpe);
  });

  test('requires 95 % confidence: a ratio that beats chance with 93 % has a warning', () => {
    const column = Array.from({ length: 40 }, (_, at) => (at % 8 < 5 ? 1 : -1));
    const luck = judge(swept([column]));
    expect(luck.deflatedSharpe).toBeCloseTo(0.93, 2);
    expect(luck.warnings).toContain(
      'the best cell is not better than chance with 95 % confidence, given the number of cells tried',
    );
  });

  test('rises with the number of earlier trials', () => {
    const given = swept([edge, ...noise]);
    expect(judge(given, 1_000).deflatedSharpe).toBeLessThan(judge(given).deflatedSharpe as number);
  });

  test('is not passed by a record with hardly any loss: one more lost stake is counted with it', () => {
    const dear = normals(new Random('dear'), 60).map((value) => 0.05 + 0.005 * value);
    const luck = judge(swept([dear, dear.map((value) => value - 0.01)]));
    expect(luck.best).toBe(0);
    const { mean, deviation, ...shape } = momentsOf([...dear, -1]) as Moments;
    const record = { ...shape, sharpe: mean / deviation };
    const sharpeVariance = luck.sharpeVariance as number;
    expect(luck.deflatedSharpe).toBe(deflatedSharpe(record, { trials: 2, sharpeVariance }));
    expect(luck.deflatedSharpe).toBeLessThan(0.5);
    expect(luck.warnings[0]).toBe(
      'the best cell won 60 markets and lost 0; with fewer than 5 of either it is judged as if it had lost once more',
    );
  });
});

describe('the effective number of trials', () => {
  const random = new Random('effective');
  const column = normals(random, 500);

  test('is one for copies', () => {
    expect(judge(swept([column, column, column])).effectiveTrials).toBeCloseTo(1, 9);
  });

  test('is never below one, however the correlation of copies is rounded', () => {
    for (let count = 3; count < 60; count++) {
      const copy = normals(random, count);
      expect(judge(swept([copy, copy, copy])).effectiveTrials, `${count} markets`).toBeGreaterThanOrEqual(1);
    }
  });

  test('is nearly their number for independent cells', () => {
    const all = Array.from({ length: 20 }, () => normals(random, 500));
    const { effectiveTrials } = judge(swept(all));
    expect(effectiveTrials).toBeGreaterThan(19);
    expect(effectiveTrials).toBeLessThanOrEqual(20);
  });

  test('leaves out cells that never traded, and is one for a single cell', () => {
    const nothing = column.map(() => null);
    expect(judge(swept([column, nothing])).effectiveTrials).toBe(1);
  });
});
