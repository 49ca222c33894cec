import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    expect(grid).toMatch(/^trials before +not counted: a command has no account$/m);
    expect(grid).toMatch(/^warning: /m);
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
