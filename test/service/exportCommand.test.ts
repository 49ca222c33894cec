import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { M, writeDataSet } from '../support/apiDataSet.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  writeDataSet(store.store.writer);
  await store.store.writer.flush();
});
afterAll(() => store.dispose());

/** Runs the command while the engine is running. */
const run = (...words: string[]) => underround(['export', ...words, '--data-dir', store.dataDir], {});

describe.skipIf(commandAbsent)(`underround export ${commandAbsent ? '(skipped: not built)' : ''}`, () => {
  test('prints rows, or writes them to a file', async () => {
    const printed = await run('trades', '--market-id', M);
    const trades = printed
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(trades.length).toBeGreaterThan(0);
    expect(trades[0]).toMatchObject({ ts: expect.any(String), side: expect.any(String) });
    const out = join(temporaryDirectory(), 'trades.jsonl');
    expect(await run('trades', '--market-id', M, '--out', out)).toBe('');
    expect(readFileSync(out, 'utf8')).toBe(printed);
    expect(existsSync(`${out}.part`)).toBe(false);
  });

  test('prints CSV of a range', async () => {
    const lines = (
      await run('perp_depth', '--ticker', 'BTC', '--format', 'csv', '--end', '2020-01-01')
    ).split('\n');
    expect(lines).toEqual([expect.stringMatching(/^ticker,venue,timestamp,update_id,/), '']);
  });

  test.each([
    [
      ['nonsense'],
      "dataset: Input should be 'snapshots', 'quotes', 'trades', 'underlying', 'perp_depth', 'deltas', 'markets', 'gaps', 'signals', 'job_trades' or 'job_cells'",
    ],
    [['trades'], 'trades needs --market-id, or --ticker with --event-type'],
    [['job_trades'], 'job_trades needs --job-id'],
    [['job_cells', '--out', 'x/'], 'the result of a job is one file: name it with --out'],
    [['nautilus'], 'nautilus needs a folder: --out with a slash at the end'],
    [
      ['hftbacktest', '--format', 'csv', '--out', 'x/'],
      'hftbacktest has a format of its own: leave --format out',
    ],
    [['underlying'], 'underlying needs --ticker'],
    [
      ['perp_depth', '--ticker', 'BTC', '--event-type', '5m', '--source', 'chainlink'],
      '--event-type and --source do not apply to perp_depth: leave them out',
    ],
    [
      ['underlying', '--ticker', 'BTC', '--venue', 'okx'],
      '--venue does not apply to underlying: leave it out',
    ],
    [
      ['trades', '--market-id', '0x01', '--job-id', 'bt_1'],
      '--job-id does not apply to trades: leave it out',
    ],
    [
      ['trades', '--market-id', '0x01', '--ticker', 'BTC', '--event-type', '5m'],
      '--market-id names the markets: leave --ticker and --event-type out',
    ],
    [
      ['job_trades', '--job-id', 'bt_1', '--ticker', 'BTC'],
      '--ticker does not apply to job_trades: leave it out',
    ],
    [
      ['job_cells', '--job-id', 'sw_1', '--since', '2026-01-01'],
      '--since does not apply to job_cells: leave it out',
    ],
    [
      ['snapshots,trades', '--source', 'chainlink', '--out', 'x/'],
      '--source does not apply to snapshots,trades: leave it out',
    ],
    [['all', '--job-id', 'bt_1', '--out', 'x/'], '--job-id does not apply to all: leave it out'],
    [
      ['nautilus', '--ticker', 'BTC', '--event-type', '5m', '--venue', 'bybit', '--out', 'x/'],
      '--venue does not apply to nautilus: leave it out',
    ],
    [
      ['perp_depth', '--ticker', 'DOGE', '--format', 'xml'],
      "--ticker: Input should be 'BTC', 'ETH' or 'SOL'; --format: Input should be 'jsonl', 'csv' or 'parquet'",
    ],
    [
      ['perp_depth', '--ticker', 'BTC', '--start', '2026-02-01', '--end', '2026-01-01'],
      '--start must not be after --end',
    ],
  ])('prints one line and exits with 1 for %j', async (words, line) => {
    const refused = await run(...words).catch((error) => error);
    expect([refused.code, refused.stderr]).toEqual([1, `underround: ${line}\n`]);
  });

  test('writes a folder for another engine, and continues it', async () => {
    const out = `${temporaryDirectory()}/`;
    const words = ['hftbacktest', '--market-id', M, '--out', out];
    expect(await run(...words)).toBe('2 files: 2 written, 0 kept\n');
    expect(await run(...words)).toBe('2 files: 0 written, 2 kept\n');
  });

  test('has signals and results of jobs from the control database', async () => {
    const [header, ...rows] = (await run('signals', '--format', 'csv')).split('\n');
    expect([header?.startsWith('market_id,audit_id,detected_at,'), rows]).toEqual([true, ['']]);
    const refused = await run('job_trades', '--job-id', 'bt_none').catch((error) => error);
    expect([refused.code, refused.stderr.split('\n').at(-2)]).toEqual([
      1,
      'underround: there is no job bt_none',
    ]);
  });

  test('reports an unrecorded market in one line after the data directory, and exits with 1', async () => {
    const refused = await run('trades', '--market-id', '0xdead').catch((error) => error);
    const lines = [`data directory ${store.dataDir}`, 'no market 0xdead was recorded'];
    const said = lines.map((line) => `underround: ${line}\n`).join('');
    expect([refused.code, refused.stderr]).toEqual([1, said]);
  });
});
