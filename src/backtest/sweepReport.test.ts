import { describe, expect, test } from 'vitest';
import { TAPE_MARKET } from '../../test/support/tapes.ts';
import { judgeOutcomes, type Outcome } from '../../test/support/worthlessSweeps.ts';
import { Random } from '../core/random.ts';
import type { Receipt } from '../schema/backtest.ts';
import { notSwept } from './marketReplay.ts';
import { type SweptMarket, sweepResult } from './sweepReport.ts';

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

test.each([
  ['of two assets', 0, true],
  ['that begins before the other one ends', 299_999, true],
  ['that follows the other one', 300_000, false],
])('a sweep over a window %s says whether the figures count overlapping windows', (_, laterMs, overlaps) => {
  const market = (marketId: string, startTimeMs: number): SweptMarket => ({
    market: { ...TAPE_MARKET, marketId, startTimeMs, endTimeMs: startTimeMs + 300_000 },
    ranges: [{ ...notSwept('gap', 1), skipped: null }],
  });
  const { warnings } = sweepResult([market('0x1', 0), market('0x2', laterMs)], {
    spec: { xAxis: { param: 'threshold', start: 0.1, end: 0.1, steps: 1 }, yAxis: null },
    judged: judged([noise('overlap')]),
    receipt: {} as Receipt,
  });
  const text = 'windows of several series overlap; the statistics count them as independent markets';
  expect(warnings.includes(text)).toBe(overlaps);
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
