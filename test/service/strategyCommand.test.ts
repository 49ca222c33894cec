import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportShape } from '../../src/schema/report.ts';
import { formatTime } from '../../src/schema/time.ts';
import { WINDOW_MS, writeSeries } from '../support/backtestData.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const START = Date.UTC(2026, 10, 20);
const MARKETS = 6;

/** Logs every event of a market, and buys once when YES is cheap. */
const STRATEGY = `import { defineStrategy } from '@underround/engine';
export default defineStrategy({
  name: 'watcher',
  params: { below: { default: 0.45, min: 0, max: 1 }, loud: { default: false } },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () => ({ bought: new Set<string>() }),
  onEvent(event, context) {
    if (event.type !== 'book') return;
    if (context.params.loud) context.log(event.marketId + ' ' + event.seq);
  },
});
`;

/** Logs every price, outcome and minute. */
const CLOCK = `import { defineStrategy } from '@underround/engine';
export default defineStrategy({
  name: 'clock',
  params: {},
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], clockMs: 60_000, priceSources: ['binance_spot'] },
  onEvent({ type }, context) {
    if (['clock', 'price', 'resolved'].includes(type)) context.log(type + ' ' + context.nowMs);
  },
});
`;

/** Buys YES once in each market, at up to a price. */
const BUYER = `import { defineStrategy } from '@underround/engine';
export default defineStrategy({
  name: 'buyer',
  params: { upTo: { default: 0.6, min: 0, max: 1 } },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () => new Set<string>(),
  onEvent(event, context) {
    if (event.type !== 'book' || context.state.has(event.marketId)) return;
    const { marketId } = event;
    const { startTimeMs, endTimeMs, trusted } = context.market(marketId);
    const ask = context.book(marketId).bestAsk('yes');
    if (!trusted || context.nowMs < startTimeMs || context.nowMs > endTimeMs - 10_000) return;
    if (ask === null || ask > context.params.upTo) return;
    context.state.add(marketId);
    context.place({ marketId, token: 'yes', action: 'buy', limitPrice: ask + 0.02, budget: 10 });
  },
});
`;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  writeSeries(store.store.writer, { markets: MARKETS, quotes: 100, startMs: START });
  await store.store.writer.flush();
});
afterAll(() => store.dispose());

function strategyFile(text: string): string {
  const file = join(temporaryDirectory(), 'mine.ts');
  writeFileSync(file, text);
  return file;
}

const run = (...words: string[]) => underround([...words, '--data-dir', store.dataDir], {});
const END = new Date(START + MARKETS * WINDOW_MS + 1).toISOString();

async function rowsOfAllTables(): Promise<unknown> {
  const tables = ['books', 'quotes', 'trades', 'underlying', 'perp_depth', 'markets', 'gaps'];
  return await store.store.rows(
    tables
      .map((table) => `SELECT '${table}' AS name, count() AS rows, max(seq) AS newest FROM ${table}`)
      .join(' UNION ALL '),
  );
}

const skipped = commandAbsent ? '(skipped: not built)' : '';
describe.skipIf(commandAbsent)(`strategy files ${skipped}`, () => {
  test('a strategy runs on the markets of its inputs, twice with the same bytes', async () => {
    const file = strategyFile(STRATEGY);
    const words = ['backtest', file, '--json', '--param', 'loud=true', '--end', END];
    const before = await rowsOfAllTables();
    const folder = temporaryDirectory();
    const text = await run(...words);
    const body = JSON.parse(text);
    expect(body).toMatchObject({ name: 'watcher', markets_total: MARKETS });
    expect(body.settings.params).toEqual({ below: 0.45, loud: true });
    expect(body.receipt).toMatchObject({ seed: 1, reproducible: true, uses: [] });
    expect(body.receipt.strategy_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(body.receipt.data_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(body.result.log.length).toBeGreaterThan(MARKETS * 50);
    expect(await run(...words, '--out', folder)).toBe(text);
    expect(`${readFileSync(join(folder, 'backtest.json'), 'utf8')}\n`).toBe(text);
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    expect(reportShape.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      name: 'watcher',
      settings: { params: { loud: true } },
      receipt: body.receipt,
    });
    expect(report.queue_models).toHaveLength(3);
    expect(report.latency_curve).toHaveLength(5);
    expect(readdirSync(folder)).toContain('fills.parquet');
    expect(await rowsOfAllTables()).toEqual(before);
  });

  test('a run of finished windows ends with them while the recording goes on, and counts as one trial', async () => {
    const [{ newest } = { newest: 0 }] = await store.store.rows<{ newest: number }>(
      'SELECT max(seq) AS newest FROM markets',
    );
    const record = async (n: number, timeMs: number) => {
      const times = { eventTimeMs: timeMs - 30, receivedTimeMs: timeMs };
      const price = { ticker: 'BTC', source: 'binance_spot', price: 97_000, ...times } as const;
      store.store.writer.underlying({ kind: 'underlying', seq: newest + n, ...price });
      await store.store.writer.flush();
    };
    const endMs = START + MARKETS * WINDOW_MS;
    const trials = join(temporaryDirectory(), 'trials.jsonl');
    const words = ['--json', '--end', END, '--trials', trials];
    const runOnce = () => run('backtest', strategyFile(CLOCK), ...words);
    await record(1, endMs + 59_000);
    const text = await runOnce();
    const { result } = JSON.parse(text) as { result: { log: { text: string }[] } };
    // The price of the last minute; then the outcome, which moves the clock.
    expect(result.log.slice(-3).map((line) => line.text)).toEqual([
      `price ${endMs + 59_000}`,
      `clock ${endMs + 60_000}`,
      `resolved ${endMs + 60_000}`,
    ]);
    await record(2, endMs + 90_000);
    await record(3, endMs + 600_000);
    expect(await runOnce()).toBe(text);
    const lines = readFileSync(trials, 'utf8').trimEnd().split('\n');
    const keys = lines.map((line) => JSON.parse(line).key);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('options choose series, windows and terms', async () => {
    const file = strategyFile(STRATEGY);
    const body = JSON.parse(
      await run(
        ...[
          'backtest',
          file,
          '--json',
          '--market-limit',
          '2',
          '--seed',
          '7',
          '--cash',
          '250',
          '--queue',
          'optimistic',
        ],
        ...[
          '--latency',
          'uniform:20:80',
          '--max-exposure',
          'market=50,total=100',
          '--latency-curve',
          '0,100',
        ],
      ),
    );
    expect(body.markets_total).toBe(2);
    expect(body.settings.terms).toEqual({
      ...{ seed: 7, orderLatency: { kind: 'uniform', minMs: 20, maxMs: 80 }, queueModel: 'optimistic' },
      ...{ cashUsd: 250, exposure: { perMarketUsd: 50, perTickerUsd: null, totalUsd: 100 } },
      redemptionDelayMs: 7_200_000,
    });
    expect(body.latency_curve.map(({ latency_ms }: { latency_ms: number }) => latency_ms)).toEqual([0, 100]);
  });

  test('held-out windows are not read, and the receipts name them', async () => {
    const folder = join(temporaryDirectory(), 'held');
    const from = START + (MARKETS - 2) * WINDOW_MS + 1;
    const words = ['--end', END, '--hold-out', new Date(from).toISOString(), '--json'];
    const { markets_total, receipt } = JSON.parse(
      await run('backtest', strategyFile(STRATEGY), ...words, '--out', folder),
    );
    const heldOut = { start: formatTime(from), end: formatTime(Date.parse(END)) };
    expect([markets_total, receipt.held_out]).toEqual([MARKETS - 2, heldOut]);
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    expect(report.selection.held_out).toEqual(heldOut);
    const sweep = await run('sweep', strategyFile(STRATEGY), '--param', 'below=0.3:0.5:3', ...words);
    expect(JSON.parse(sweep)).toMatchObject({ receipt: { held_out: heldOut } });
  });

  test('a walk-forward chooses on train windows and judges on the test windows after them', async () => {
    const folder = join(temporaryDirectory(), 'forward');
    const words = ['--param', 'upTo=0.4:0.8:3', '--walk-forward', '15m:0:5m', '--end', END];
    const file = strategyFile(BUYER);
    const body = JSON.parse(await run('sweep', file, ...words, '--json', '--out', folder));
    expect(JSON.parse(readFileSync(join(folder, 'walk-forward.json'), 'utf8'))).toEqual(body);
    const windows = [4, 5].map((at) => {
      const startMs = START + at * WINDOW_MS;
      return { start: formatTime(startMs), end: formatTime(startMs + WINDOW_MS) };
    });
    expect(body.folds.map(({ test }: { test: object }) => test)).toEqual(windows);
    const chosen = body.folds.flatMap((fold: { chosen: { upTo: number } | null; result: object | null }) => {
      expect(fold.result === null).toBe(fold.chosen === null);
      return fold.chosen === null ? [] : [fold.chosen.upTo];
    });
    expect(chosen.length).toBeGreaterThan(0);
    expect([0.4, 0.6, 0.8]).toEqual(expect.arrayContaining(chosen));
    expect(body).toMatchObject({ n_trials: 3, receipt: { reproducible: true } });
    expect(body.test.trades_total).toBe(
      body.folds.reduce(
        (sum: number, { result }: { result: { trades_total: number } | null }) =>
          sum + (result?.trades_total ?? 0),
        0,
      ),
    );
    await expect(run('backtest', file, '--walk-forward', '15m:0:5m')).rejects.toThrow(
      /--walk-forward chooses among cells: use `underround sweep`/,
    );
    await expect(run('sweep', file, ...words, '--walk-forward', '1d:0:1h')).rejects.toThrow(
      /--walk-forward: the recorded markets are shorter than train, embargo and test together/,
    );
  });

  test('a sweep prints its grid', async () => {
    const grid = await run('sweep', strategyFile(STRATEGY), '--param', 'below=0.3:0.5:3');
    expect(grid).toMatch(/^below +0\.3 +0\.4 +0\.5$/m);
    expect(grid).toMatch(/^trials +3$/m);
  });

  test('the JSON of a sweep runs with both commands', async () => {
    const file = join(temporaryDirectory(), 'sweep.json');
    const strategy = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
    const universe = { ticker: 'BTC', event_type: '5m' };
    const body = {
      strategy,
      universe,
      x_axis: { param: 'threshold', start: 0.3, end: 0.6, steps: 4 },
      end: END,
    };
    writeFileSync(file, JSON.stringify(body));
    // Each call counts its trials in a folder of its own.
    const printed = async (command: string) => (await run(command, file)).replace(/ \S+trials\.jsonl/, '');
    expect(await printed('sweep')).toBe(await printed('backtest'));
    const { x_axis: _, ...single } = body;
    writeFileSync(file, JSON.stringify(single));
    await expect(run('sweep', file)).rejects.toThrow(/a sweep needs `x_axis`/);
  });

  test.each([
    ['an unknown parameter', ['--param', 'size=1'], /unknown parameter "size": the strategy has below, loud/],
    [
      'a parameter out of range',
      ['--param', 'below=2'],
      /parameter below: expected a number from 0 to 1, got 2/,
    ],
    ['an unknown asset', ['--ticker', 'GOLD'], /--ticker GOLD: expected BTC, ETH/],
    ['a malformed latency', ['--latency', 'normal:1'], /--latency normal:1: expected 50, uniform:20:80/],
    ['an unknown queue model', ['--queue', 'best'], /--queue best: expected optimistic/],
    ['no market', ['--ticker', 'ETH', '--event-type', '1h'], /no ETH 1h market ended in the range asked for/],
  ])('prints one line and exits with 1 for %s', async (_what, words, line) => {
    const failed = run('backtest', strategyFile(STRATEGY), ...words);
    const { stderr } = (await failed.catch((error: Error) => error)) as Error & { stderr: string };
    expect(stderr.trim().split('\n').at(-1)).toMatch(line);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('an error of the code is one line with file and line, without a stack', async () => {
    const file = strategyFile(
      STRATEGY.replace("if (event.type !== 'book') return;", "throw new Error('oh no');"),
    );
    const failure = (await run('backtest', file).catch((error: Error) => error)) as Error & {
      stderr: string;
    };
    const lines = failure.stderr.split('\n').filter((line) => line.startsWith('underround: '));
    expect(lines.at(-1)).toBe(`underround: ${file}:8: oh no`);
    expect(failure.stderr).not.toMatch(/ at .*\(|node:internal/);
  });

  test('a run that is not reproducible says so, with the names', async () => {
    const file = strategyFile(
      STRATEGY.replace("if (event.type !== 'book') return;", 'Math.random(); Date.now();'),
    );
    const body = JSON.parse(await run('backtest', file, '--json', '--market-limit', '1'));
    expect(body.receipt.reproducible).toBe(false);
    expect(body.receipt.uses.map(({ name }: { name: string }) => name)).toEqual(['Date.now', 'Math.random']);
  });
});
