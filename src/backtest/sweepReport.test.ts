import { describe, expect, test } from 'vitest';
import { judgeOutcomes, type Outcome } from '../../test/support/worthlessSweeps.ts';
import { Random } from '../core/random.ts';
import type { Receipt } from '../schema/backtest.ts';
import { sweepResult } from './sweepReport.ts';

const MARKETS = 120;

function noise(seed: string, edge = 0): Outcome[] {
  const random = new Random(seed);
  return Array.from({ length: MARKETS }, () => (random.chance(0.5) ? 1 : -1) * 0.9 + edge);
}

/** Outcomes of markets from one column per cell. */
function judged(columns: readonly (readonly Outcome[])[]) {
  return judgeOutcomes(
    Array.from({ length: MARKETS }, (_, at) => columns.map((column) => column[at] ?? null)),
  );
}

test('a result has its cells in rows of equal y, and the best cell’s place among them', () => {
  const axis = (param: string, steps: number) => ({ param, steps, start: 0.1, end: 0.3 });
  const columns = [0, 1, 2, 3, 4].map((n) => noise(`worse ${n}`, -0.3));
  const result = sweepResult([], {
    spec: { xAxis: axis('threshold', 3), yAxis: axis('take_profit', 2) },
    judged: judged([...columns, noise('best', 0.5)]),
    receipt: {} as Receipt,
  });
  expect(result.cells.map(({ length }) => length)).toEqual([3, 3]);
  expect(result.best).toEqual({ x: 2, y: 1 });
  const best = Math.max(...result.cells.flat().map(({ sharpe_per_market: sharpe }) => sharpe ?? 0));
  expect(result.cells[1]?.[2]?.sharpe_per_market).toBe(best);
});

describe('the judge of a sweep', () => {
  test('selects as best the cell with the highest reported ratio, even if it traded few of the markets', () => {
    const rare = noise('rare', 0.5).map((value, at) => (at % 3 === 0 ? value : null));
    const { cells, luck } = judged([noise('often', 0.35), rare]);
    const shown = cells.map(({ sharpe_per_market: sharpe }) => sharpe ?? 0);
    expect(shown[1]).toBeGreaterThan(shown[0] as number);
    expect(luck.best).toBe(1);
  });

  test('credits forty near copies of the best cell no more than seventeen independent cells', () => {
    const best = noise('copied', 0.15);
    const copies = Array.from({ length: 40 }, (_, at) => best.map((value) => (value as number) - at / 1_000));
    const honest = [best, ...Array.from({ length: 16 }, (_, at) => noise(`honest ${at}`))];
    const [laundered, plain] = [judged(copies).luck, judged(honest).luck];
    expect([laundered.best, plain.best]).toEqual([0, 0]);
    expect(laundered.deflatedSharpe).toBeLessThan(plain.deflatedSharpe as number);
    expect(laundered.effectiveTrials).toBeLessThan(1.01);
  });
});
