import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LatencyPoint, reportShape } from '../../src/schema/report.ts';
import { WINDOW_MS, writeSeries } from '../support/backtestData.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const START = Date.UTC(2026, 10, 20);
const BODY = {
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  writeSeries(store.store.writer, { markets: 6, quotes: 100, startMs: START });
  await store.store.writer.flush();
});
afterAll(() => store.dispose());

/** Runs the command while the engine is running. */
function backtest(body: unknown, ...more: string[]): Promise<string> {
  const file = join(temporaryDirectory(), 'spec.json');
  writeFileSync(file, JSON.stringify(body));
  return underround(['backtest', file, '--data-dir', store.dataDir, ...more], {});
}

describe.skipIf(commandAbsent)(`underround backtest ${commandAbsent ? '(skipped: not built)' : ''}`, () => {
  test('prints the result as JSON or as a table', async () => {
    const end = new Date(START + 6 * WINDOW_MS + 1).toISOString();
    const result = JSON.parse(await backtest({ ...BODY, end }, '--json'));
    expect(result).toMatchObject({ markets_total: 6, markets_skipped: [] });
    const table = await backtest({ ...BODY, end });
    const line = (label: string) => table.split('\n').find((text) => text.startsWith(`${label}  `));
    expect(line('trades')).toMatch(new RegExp(`^trades +${result.trades_total}, won ${result.trades_won}$`));
    expect(line('total P&L')).toMatch(new RegExp(`^total P&L +${result.total_pnl.toFixed(2)} USD$`));
  });

  test('prints a sweep as a grid with its trials and warnings', async () => {
    const x_axis = { param: 'threshold', start: 0.3, end: 0.6, steps: 4 };
    const grid = await backtest({ ...BODY, x_axis });
    expect(grid).toMatch(/^threshold +0\.3 +0\.4 +0\.5 +0\.6$/m);
    expect(grid).toMatch(/^trials +4$/m);
    expect(grid).toMatch(/^trials before +0, by .*trials\.jsonl$/m);
    expect(grid).toMatch(/^warning: /m);
  });

  test('counts the trials of earlier runs, and repeats a run byte for byte', async () => {
    const trials = join(temporaryDirectory(), 'trials.jsonl');
    const end = new Date(START + 6 * WINDOW_MS + 1).toISOString();
    const sweep = (steps: number) => ({
      ...BODY,
      end,
      x_axis: { param: 'threshold', start: 0.3, end: 0.6, steps },
    });
    const words = ['--json', '--trials', trials];
    await backtest({ ...BODY, end }, ...words);
    const first = await backtest(sweep(4), ...words);
    expect(JSON.parse(first)).toMatchObject({ n_trials: 4, n_trials_before: 1 });
    expect(JSON.parse(await backtest(sweep(3), ...words))).toMatchObject({ n_trials: 3, n_trials_before: 5 });
    expect(await backtest(sweep(4), ...words)).toBe(first);
  });

  test('writes a report, and does not read windows that are held out', async () => {
    const directory = join(temporaryDirectory(), 'report');
    const end = new Date(START + 6 * WINDOW_MS + 1).toISOString();
    const from = new Date(START + 4 * WINDOW_MS).toISOString();
    const printed = JSON.parse(
      await backtest({ ...BODY, end }, '--json', '--out', directory, '--hold-out', from),
    );
    const heldOut = { start: from.replace('Z', '+00:00'), end: end.replace('Z', '+00:00') };
    expect(printed).toMatchObject({ markets_total: 3, receipt: { held_out: heldOut } });
    expect(readdirSync(directory).sort()).toEqual(['report.html', 'report.json', 'trades.parquet']);
    const report = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8'));
    expect(reportShape.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      ...{ name: 'spec', total_pnl: printed.total_pnl, trades: printed.trades.map(Object) },
      ...{ selection: { trials_before: 0, held_out: heldOut }, settings: { universe: BODY.universe } },
    });
    expect(report.markets).toHaveLength(3);
    // The service's default latency is a point of the curve.
    expect(report.latency_curve.map((point: LatencyPoint) => point.latency_ms)).toEqual([
      0, 50, 150, 300, 600,
    ]);
    expect(report.latency_curve[1].total_pnl).toBe(printed.total_pnl);
    expect(await underround(['compare', directory, directory], {})).toMatch(
      /^Both earned the same in each of \d markets\.$/m,
    );
  });

  test('walks forward: chooses on train windows, judges on the test windows after them', async () => {
    const x_axis = { param: 'threshold', start: 0.3, end: 0.6, steps: 4 };
    const words = ['--json', '--walk-forward', '15m:0:5m'];
    const body = JSON.parse(await backtest({ ...BODY, x_axis }, ...words));
    expect(body).toMatchObject({ train_s: 900, embargo_s: 0, test_s: 300, n_trials: 4, n_trials_before: 0 });
    const [fold] = body.folds;
    expect(body.folds.length).toBeGreaterThanOrEqual(2);
    expect(fold.test.start).toBe(fold.train.end);
    expect([0.3, 0.4, 0.5, 0.6]).toContain(fold.chosen.threshold);
    // The test window is a backtest with the chosen value.
    const strategy = { ...BODY.strategy, threshold: fold.chosen.threshold };
    const { start, end } = fold.test;
    const alone = JSON.parse(await backtest({ ...BODY, strategy, start, end }, '--json'));
    expect(fold.result).toMatchObject({ total_pnl: alone.total_pnl, trades_total: alone.trades_total });
    const pnls = body.folds.map((one: typeof fold) => one.result?.total_pnl ?? 0);
    expect(body.test.total_pnl).toBeCloseTo(
      pnls.reduce((sum: number, pnl: number) => sum + pnl, 0),
      9,
    );
  });

  test.each([
    [['--walk-forward', '6h:2h'], /--walk-forward needs a file with `x_axis`/],
    [['--hold-out', 'later'], /--hold-out later: not a time such as/],
    [['--hold-out', '2999-01-01T00:00Z'], /--hold-out must be before the end of the range/],
    [['--trials', ''], /--trials "" must name a file/],
  ])('refuses %j', async (words, line) => {
    await expect(backtest(BODY, ...words)).rejects.toThrow(line);
  });

  test.each([
    [
      'an invalid threshold',
      { ...BODY, strategy: { ...BODY.strategy, threshold: 2 } },
      /strategy\.threshold_entry\.threshold: Input should be less than or equal to 1/,
    ],
    [
      'no market',
      { ...BODY, universe: { ticker: 'ETH', event_type: '1h' } },
      /no ETH 1h market ended in the range asked for/,
    ],
  ])('prints one line and exits with 1 for %s', async (_what, body, line) => {
    await expect(backtest(body)).rejects.toThrow(line);
  });
});
