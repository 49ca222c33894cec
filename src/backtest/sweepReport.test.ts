import { describe, expect, test } from 'vitest';
import { TAPE_MARKET } from '../../test/support/tapes.ts';
import { judgeOutcomes, type Outcome } from '../../test/support/worthlessSweeps.ts';
import { Random } from '../core/random.ts';
import type { SkipReason } from '../core/session/replay.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { Receipt } from '../schema/backtest.ts';
import { type MarketSweep, notSwept } from './marketReplay.ts';
import { judgeSweep, type SweptMarket, sweepResult } from './sweepReport.ts';

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

/** Results of a range of cells on a market: the P&L of each trade of each cell, in USD. */
function rangeOf(cells: readonly (readonly number[])[], skipped: SkipReason | null = null): MarketSweep {
  const offsets = new Uint32Array(cells.length + 1);
  for (const [at, trades] of cells.entries()) offsets[at + 1] = (offsets[at] as number) + trades.length;
  const pnl = Float64Array.from(cells.flat(), (usd) => usd * 1_000_000);
  return { skipped, coverage: 1, offsets, closedMs: new Float64Array(pnl.length), pnl };
}

/** The windows of one series, one after another. */
function sweptMarkets(ranges: readonly (readonly MarketSweep[])[]): SweptMarket[] {
  return ranges.map((own, at) => ({
    market: { ...TAPE_MARKET, marketId: `0x${at}`, startTimeMs: at * 300_000, endTimeMs: (at + 1) * 300_000 },
    ranges: own,
  }));
}

const judge = (ranges: readonly MarketSweep[], cells: Parameters<typeof judgeSweep>[1]) =>
  judgeSweep(sweptMarkets(ranges.map((range) => [range])), cells, { trialsBefore: 0 });
const warningsOf = (
  markets: readonly SweptMarket[],
  judgedSweep: ReturnType<typeof judgeSweep>,
  steps: number,
) =>
  sweepResult(markets, {
    spec: { xAxis: { param: 'threshold', start: 0.1, end: 0.3, steps }, yAxis: null },
    judged: judgedSweep,
    receipt: {} as Receipt,
  }).warnings;
/** Returns of 20 markets, which is too short a record. */
const RETURNS = Array.from({ length: 20 }, (_, at) => (at % 3 === 0 ? -0.5 : 0.75));

test('a cell is judged by its returns per USD, whatever its size', () => {
  const [small, large] = [10, 1_000].map((sizeUsd) =>
    judge(
      RETURNS.map((share) => rangeOf([[share * sizeUsd]])),
      [{ sizeUsd }],
    ),
  );
  expect(large?.luck).toEqual(small?.luck);
  expect(large?.cells[0]?.sharpe_per_market).toBe(small?.cells[0]?.sharpe_per_market);
});

test('the trades of a cell in one market are one return', () => {
  const ofTrades = (trades: (share: number) => number[]) =>
    judge(
      RETURNS.map((share) => rangeOf([trades(share)])),
      [{ sizeUsd: 1 }],
    ).cells[0];
  const [one, two] = [ofTrades((share) => [share]), ofTrades((share) => [2 * share, -share])];
  expect([one?.trades_total, two?.trades_total]).toEqual([20, 40]);
  expect(two?.sharpe_per_market).toBe(one?.sharpe_per_market);
});

test('a market that the best cell did not trade is not one of its markets', () => {
  const ranges = RETURNS.map((share, at) => rangeOf([at < 6 ? [share] : []]));
  expect(judge(ranges, [{ sizeUsd: 1 }]).luck.warnings).toContain(
    'the best cell traded 6 markets; below 30 it is judged as if it had lost once more',
  );
});

test('a cell that could not be tried keeps its place and its error', () => {
  const ranges = RETURNS.map((share) => rangeOf([[], [share], [share + 0.25]]));
  const judgedSweep = judge(ranges, ['Input should be less than 1', { sizeUsd: 1 }, { sizeUsd: 1 }]);
  expect(judgedSweep.cells.map(({ trades_total, error }) => [trades_total, error])).toEqual([
    [0, 'Input should be less than 1'],
    [20, null],
    [20, null],
  ]);
  expect([judgedSweep.luck.best, judgedSweep.luck.trials]).toEqual([2, 2]);
  const warnings = warningsOf(sweptMarkets([[rangeOf([[], [1], [1]])]]), judgedSweep, 3);
  expect(warnings).toContain('1 of 3 cells could not be tried');
});

test('a market is left out if no range of cells could replay it; its window overlaps no other', () => {
  const replayed = rangeOf([[1]]);
  const [first, second, third] = sweptMarkets([
    [replayed, replayed],
    [notSwept('gap', 1), notSwept('gap', 1)],
    [notSwept('gap', 1), replayed],
  ]) as [SweptMarket, SweptMarket, SweptMarket];
  const markets = [first, { ...second, market: { ...second.market, startTimeMs: 0 } }, third];
  const { cells } = judge([replayed], [{ sizeUsd: 1 }]);
  const { luck } = judge([], []);
  expect(warningsOf(markets, { cells, luck: { ...luck, warnings: [] } }, 1)).toEqual([
    '1 of 3 markets were left out: 1 gap',
  ]);
});

test('only a sweep under stress reports the P&L under it', () => {
  const stress = { void_share: 1, disputed_share: 0, dispute_delay_hours: 48 };
  const range = { ...rangeOf([[2]]), stressedPnl: Float64Array.of(-500_000) };
  const stressedOf = (params: typeof DEFAULT_PARAMS) => judge([range], [{ sizeUsd: 1, params }]).cells[0];
  expect(stressedOf(DEFAULT_PARAMS)).not.toHaveProperty('stressed_pnl');
  expect(stressedOf({ ...DEFAULT_PARAMS, stress })).toMatchObject({ total_pnl: 2, stressed_pnl: -0.5 });
});
