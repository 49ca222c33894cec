import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { EMPTY_RUN, RUN_CONTEXT, randomRun, runMarket, runOrder } from '../../test/support/runResults.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { withRoundedMoney } from '../schema/moneyJson.ts';
import { reportOf } from './runReport.ts';
import { writeReport } from './writeReport.ts';

const RUN = randomRun('files', { markets: 300 });
const REPORT = withRoundedMoney(reportOf(RUN, RUN_CONTEXT));

function bufferOf(path: string): ArrayBuffer {
  const bytes = readFileSync(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}
const rowsOf = (directory: string, name: string) =>
  parquetReadObjects({ file: bufferOf(join(directory, name)) });

describe('the files of a report', () => {
  test('are a body as JSON, a page, and four tables', () => {
    const directory = join(temporaryDirectory(), 'new', 'report');
    const names = writeReport(directory, REPORT, RUN);
    expect(names.sort()).toEqual(readdirSync(directory).sort());
    expect(names).toHaveLength(6);
    expect(JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8'))).toEqual(REPORT);
    expect(readFileSync(join(directory, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  test('have the rows of the run, read with another library', async () => {
    const directory = temporaryDirectory();
    writeReport(directory, REPORT, RUN);
    const trades = await rowsOf(directory, 'trades.parquet');
    expect(trades).toHaveLength(REPORT.trades.length);
    const market = REPORT.markets?.find(({ market_id: id }) => id === REPORT.trades[7]?.market_id);
    const { slippage, ...trade } = REPORT.trades[7] ?? { slippage: null };
    expect(trades[7]).toEqual({
      ...trade,
      window_start: new Date(market?.start ?? ''),
      window_end: new Date(market?.end ?? ''),
      decided_at: new Date(REPORT.trades[7]?.decided_at ?? ''),
      opened_at: new Date(REPORT.trades[7]?.opened_at ?? ''),
      closed_at: new Date(REPORT.trades[7]?.closed_at ?? ''),
    });
    expect(slippage).toBe(trades[7]?.entry_slippage);
    const pnl = trades.reduce((sum, row) => sum + (row.net_pnl as number), 0);
    expect(pnl).toBeCloseTo(REPORT.total_pnl, 6);

    const orders = await rowsOf(directory, 'orders.parquet');
    expect(orders.map((row) => row.outcome)).toEqual(RUN.orders.map(({ outcome }) => outcome));
    expect(orders[0]).toMatchObject({ limit_price: 0.6, size: 100, budget_usd: null, post_only: false });
    const fills = await rowsOf(directory, 'fills.parquet');
    expect(fills.map((row) => row.fee_usd)).toEqual(RUN.fills.map(({ fee }) => fee / 1e6));
    const equity = await rowsOf(directory, 'equity.parquet');
    expect(equity.at(-1)?.equity_usd).toBe(REPORT.portfolio.end_equity);
    expect(equity[0]?.ts).toEqual(new Date(RUN.equity[0]?.timeMs ?? 0));
  });

  test('contain the receipt in every table', async () => {
    const directory = temporaryDirectory();
    for (const name of writeReport(directory, REPORT, RUN).filter((file) => file.endsWith('.parquet'))) {
      const buffer = bufferOf(join(directory, name));
      const { key_value_metadata: pairs } = await parquetMetadataAsync(buffer);
      const receipt = pairs?.find(({ key }) => key === 'underround.receipt')?.value;
      expect(JSON.parse(receipt ?? 'null'), name).toEqual(REPORT.receipt);
    }
  });

  test('may be empty, and keep a null apart from 0', async () => {
    const directory = temporaryDirectory();
    const order = runOrder(1, runMarket(0), { dueMs: null, endedMs: null, reason: null });
    const run = { ...EMPTY_RUN, orders: [{ ...order, terms: { ...order.terms, size: null, budget: 0 } }] };
    writeReport(directory, reportOf(run, RUN_CONTEXT), run);
    expect(await rowsOf(directory, 'trades.parquet')).toEqual([]);
    expect(await rowsOf(directory, 'orders.parquet')).toMatchObject([
      { due_at: null, ended_at: null, reason: null, size: null, budget_usd: 0 },
    ]);
  });

  test('replace those of an earlier report and leave other files', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    writeReport(directory, REPORT, RUN);
    writeReport(directory, REPORT);
    expect(readdirSync(directory).sort()).toEqual([
      'notes.txt',
      'report.html',
      'report.json',
      'trades.parquet',
    ]);
  });

  test('are refused where no directory can be', () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(() => writeReport(file, REPORT)).toThrow(
      `the report cannot be written to ${file}: ${file} is a file`,
    );
  });

  test('name the reason in words, and leave no part of a file', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'report.json'));
    expect(() => writeReport(directory, REPORT)).toThrow(
      `the report cannot be written to ${directory}: it is a directory, not a file`,
    );
    expect(readdirSync(directory)).toEqual(['report.json']);
    writeFileSync(join(directory, 'file'), '');
    const below = join(directory, 'file', 'out');
    expect(() => writeReport(below, REPORT)).toThrow(
      `the report cannot be written to ${below}: a part of this path is a file, not a directory`,
    );
  });
});
