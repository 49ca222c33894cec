import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { EMPTY_RUN, RUN_CONTEXT, RUN_START_MS, runMarket, runTrade } from '../../test/support/runResults.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { RunMarket, RunTrade } from '../core/run/result.ts';
import { runStrategyWalkForward } from './runStrategyWalkForward.ts';
import type { FileRuns } from './strategyResults.ts';

const WINDOW_MS = 300_000;
const SETTING = { params: { edge: 0.1 }, terms: RUN_CONTEXT.terms };
const [first, second, third] = [runMarket(0), runMarket(1), runMarket(2)];
const unresolved = runMarket(3, { skipped: 'unresolved' });

function runsOf(markets: readonly RunMarket[], trades: readonly RunTrade[]): FileRuns {
  const result = { ...EMPTY_RUN, markets, trades };
  return {
    ...{ results: [{ run: 0, result }], markets: markets.map(marketRecord), tooLarge: [], dataHash: '' },
    ...{ codeHash: '', uses: [], heldOut: null },
  };
}

/** Of three positions in the unresolved market, the two that gained were sold. */
const TRAIN = runsOf(
  [first, second],
  [runTrade(first, { price: 0.5, won: true }), runTrade(second, { price: 0.6, won: false })],
);
const TEST = runsOf(
  [third, unresolved],
  [
    runTrade(third, { price: 0.5, won: false }),
    runTrade(unresolved, { price: 0.5, won: true, exitReason: 'take_profit' }),
    runTrade(unresolved, { price: 0.4, won: true, exitReason: 'take_profit' }),
    runTrade(unresolved, { ...{ price: 0.5, won: true }, closedMs: null, exitReason: null, pnl: null }),
  ],
);

test('counts no trade of a test window’s unresolved market, as on the train windows', async () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue(undefined);
  await runStrategyWalkForward(
    {
      runOn: async (_, { startMs }) => (startMs === RUN_START_MS ? TRAIN : TEST),
      recorded: { startMs: RUN_START_MS, endMs: RUN_START_MS + 4 * WINDOW_MS },
      windowMs: WINDOW_MS,
      settings: [SETTING],
      axes: [{ param: 'edge', start: 0.1, end: 0.1, steps: 1 }],
      plan: { trainMs: 2 * WINDOW_MS, embargoMs: 0, testMs: 2 * WINDOW_MS },
    },
    { json: true, trials: join(temporaryDirectory(), 'trials.jsonl') },
  );
  const body = JSON.parse(printed.mock.lastCall?.[0]);
  printed.mockRestore();
  expect(body.test).toMatchObject({ markets_traded: 1, trades_total: 1, trades_won: 0, total_pnl: -51 });
});
