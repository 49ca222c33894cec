import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EMPTY_RUN, RUN_CONTEXT, randomRun, runMarket, runTrade } from '../../test/support/runResults.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { Random } from '../core/random.ts';
import type { RunResult, RunTrade } from '../core/run/result.ts';
import { readRun } from './comparedRun.ts';
import { compareRuns } from './comparison.ts';
import { reportOf } from './runReport.ts';
import { writeReport } from './writeReport.ts';

function written(run: RunResult, name = 'run'): string {
  const directory = temporaryDirectory();
  writeReport(directory, reportOf(run, { ...RUN_CONTEXT, name }), run);
  return directory;
}

async function compared(a: RunResult, b: RunResult) {
  return compareRuns(await readRun(written(a, 'one')), await readRun(written(b, 'two')));
}

/** The same run with every trade changed. */
function changed(run: RunResult, change: (trade: RunTrade, at: number) => Partial<RunTrade>): RunResult {
  return { ...run, trades: run.trades.map((trade, at) => ({ ...trade, ...change(trade, at) })) };
}

const RUN = randomRun('compared', { markets: 300 });

describe('a comparison of two runs', () => {
  test('pairs markets; one without a trade earned 0, and a skipped one is left out', async () => {
    const markets = [0, 1, 2, 3].map((at) => runMarket(at));
    const trade = (at: number, price: number) => runTrade(runMarket(at), { price, won: true });
    const a = { ...EMPTY_RUN, markets, trades: [trade(0, 0.5), trade(1, 0.4), trade(3, 0.2)] };
    expect((await compared(a, a)).difference.better_share).toBe(0);
    const skipping = markets.map((market, at) => ({
      ...market,
      skipped: at === 3 ? ('gap' as const) : null,
    }));
    const b = { ...EMPTY_RUN, markets: skipping, trades: [trade(0, 0.6), trade(2, 0.9)] };
    expect(await compared(a, b)).toMatchObject({
      a: { name: 'one', markets_traded: 2, total_pnl: 108 },
      b: { name: 'two', markets_traded: 2, total_pnl: 48 },
      ...{ same_data: true, pairs: 3, left_out: 1 },
      ...{ traded_by_both: 1, traded_by_a_only: 1, traded_by_b_only: 1 },
      difference: { total: 60, per_market: 20, total_interval: null, better_share: 2 / 3 },
      conclusion: ['Nothing can be concluded: 3 compared markets are fewer than 30.'],
    });
  });

  test('leaves out a market in which a position is still open: its result is unknown and not 0', async () => {
    const markets = [0, 1].map((at) => runMarket(at));
    const trade = (at: number) => runTrade(runMarket(at), { price: 0.5, won: true });
    const b = { ...EMPTY_RUN, markets, trades: [trade(0), trade(1)] };
    const a = changed(b, (_, at) => (at === 1 ? { closedMs: null, exitPrice: null, pnl: null } : {}));
    expect(await compared(a, b)).toMatchObject({
      ...{ pairs: 1, left_out: 1, traded_by_both: 1, traded_by_b_only: 0 },
      difference: { total: 0 },
    });
  });

  test('has the same figures from a report, its JSON and its Parquet', async () => {
    const [a, b] = [written(RUN), written(randomRun('other', { markets: 300 }))];
    const [whole, json, parquet] = await Promise.all(
      ['', 'report.json', 'trades.parquet'].map(async (name) => {
        const {
          a: _a,
          b: _b,
          ...figures
        } = compareRuns(await readRun(join(a, name)), await readRun(join(b, name)));
        return figures;
      }),
    );
    expect(json).toEqual(whole);
    // A Parquet file does not name the skipped markets.
    expect(parquet?.pairs).toBe((whole?.pairs ?? 0) + (whole?.left_out ?? 0));
    expect(parquet?.test).not.toBeNull();
  });

  test('finds a planted edge of a cent a share', async () => {
    const better = changed(RUN, ({ pnl }) => ({ pnl: (pnl ?? 0) + 1_000_000 }));
    const random = new Random('noise');
    const noisy = changed(better, ({ pnl }) => ({
      pnl: (pnl ?? 0) + Math.round(3_000_000 * random.normal()),
    }));
    const { test: found, difference, conclusion } = await compared(noisy, RUN);
    expect(found?.p).toBeLessThan(0.001);
    expect(difference.total_interval?.[0]).toBeGreaterThan(0);
    expect(conclusion[0]).toMatch(
      /^A \(one\) earned more than B \(two\): 0\.\d+ USD a market over 2\d\d markets\./,
    );
    const turned = await compared(RUN, noisy);
    expect(turned.test?.t).toBeCloseTo(-(found?.t ?? 0), 12);
    expect(turned.conclusion[0]).toMatch(/^B \(two\) earned more than A \(one\)/);
  });

  test('finds nothing between two runs of chance, and says from which difference on it would', async () => {
    const {
      test: found,
      conclusion,
      difference,
    } = await compared(RUN, randomRun('chance', { markets: 300 }));
    expect(found?.p).toBeGreaterThan(0.05);
    expect(difference.total_interval?.[0]).toBeLessThan(0);
    expect(difference.total_interval?.[1]).toBeGreaterThan(0);
    expect(conclusion).toEqual([
      expect.stringMatching(
        /^No difference can be concluded\. Two equally good strategies differ at least this much in [\d.]+ %/,
      ),
      expect.stringMatching(
        /^\d+ markets usually show a difference from [\d.]+ USD a market on; this one is [\d.]+ USD\.$/,
      ),
    ]);
  });

  test('of a run with itself says so', async () => {
    const { conclusion, test: found } = await compared(RUN, RUN);
    expect(found).toBeNull();
    expect(conclusion).toEqual([`Both earned the same in each of ${RUN.trades.length} markets.`]);
  });

  test('of equal differences needs no test', async () => {
    const { conclusion, test: found } = await compared(
      changed(RUN, ({ pnl }) => ({ pnl: (pnl ?? 0) - 500_000 })),
      RUN,
    );
    expect(found).toBeNull();
    expect(conclusion).toEqual([
      'B (two) earned 0.5000 USD a market more than A (one) in every block of markets.',
    ]);
  });

  test.each([
    [
      'that cancel out in a few markets',
      [1, -1, 1, -1],
      'Nothing can be concluded: 4 compared markets are fewer than 30.',
    ],
    [
      'that cancel out in every block of markets',
      Array.from({ length: 36 }, (_, at) => (at % 3 === 0 ? 2 : -1)),
      'Both earned the same in every block of markets, but not in each market: no difference can be concluded.',
    ],
    ['of none in one market', [0], 'Both earned the same in the one market that was compared.'],
    ['in one market', [5], 'Nothing can be concluded: 1 compared market is fewer than 30.'],
    ['of none in two markets', [0, 0], 'Both earned the same in each of 2 markets.'],
  ])('of differences %s', async (_which, differences, line) => {
    const markets = differences.map((_, at) => runMarket(at));
    const b = {
      ...EMPTY_RUN,
      markets,
      trades: markets.map((one) => runTrade(one, { price: 0.5, won: true })),
    };
    const a = changed(b, ({ pnl }, at) => ({ pnl: (pnl ?? 0) + (differences[at] ?? 0) * 1_000_000 }));
    expect((await compared(a, b)).conclusion).toEqual([line]);
  });

  test('of differences that cancel out names a chance of 100 %', async () => {
    const markets = Array.from({ length: 40 }, (_, at) => runMarket(at));
    const b = {
      ...EMPTY_RUN,
      markets,
      trades: markets.map((one) => runTrade(one, { price: 0.5, won: true })),
    };
    const a = changed(b, ({ pnl }, at) => ({ pnl: (pnl ?? 0) + (at % 2 === 0 ? 1 : -1) * 1_000_000 }));
    expect((await compared(a, b)).conclusion[0]).toBe(
      'No difference can be concluded. Two equally good strategies differ at least this much in 100 % of such comparisons.',
    );
  });

  test('is repeatable', async () => {
    const [a, b] = [await readRun(written(RUN)), await readRun(written(randomRun('b', { markets: 300 })))];
    expect(JSON.stringify(compareRuns(a, b))).toBe(JSON.stringify(compareRuns(a, b)));
  });
});

describe('a side of a comparison', () => {
  const file = (name: string, text: string) => {
    const path = join(temporaryDirectory(), name);
    writeFileSync(path, text);
    return path;
  };

  test('may be the result of a job as JSON', async () => {
    const { markets, name, ...result } = reportOf(RUN, RUN_CONTEXT);
    const run = await readRun(file('job.json', JSON.stringify(result)));
    expect(run).toMatchObject({ name: 'job.json', dataHash: 'd'.repeat(64), markets: null });
    expect(run.traded.size).toBe(RUN.trades.length);
    expect([markets?.length, name]).toEqual([300, 'endgame']);
  });

  test.each([
    [() => join(temporaryDirectory(), 'absent'), /absent does not exist$/],
    [temporaryDirectory, /has no report\.json and no trades\.parquet$/],
    [() => file('a.json', '{'), /a\.json is not a report: .*JSON/],
    [() => file('a.json', '{"trades":[]}'), /a\.json is not a report: receipt: Invalid input/],
    [() => file('a.parquet', 'PAR1PAR1PAR1'), /a\.parquet is not a report: /],
  ])('is refused with a reason (%#)', async (path, reason) => {
    await expect(readRun(path())).rejects.toThrow(reason);
  });
});
