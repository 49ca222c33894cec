import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { TrialsFile } from '../report/trials.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import type { JobRun } from './jobRun.ts';
import { runWalkForward } from './runWalkForward.ts';

const HOUR_MS = 3_600_000;
const SPEC = {
  ...({ kind: 'sweep', universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10 } as const),
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' } as const,
  ...{ params: DEFAULT_PARAMS, startMs: 0, endMs: 2 * HOUR_MS, marketLimit: 50, yAxis: null },
  xAxis: { param: 'size_usd', start: 20, end: 20, steps: 1 },
};
const PLAN = { trainMs: HOUR_MS, embargoMs: 0, testMs: HOUR_MS };
const receipt = { data_hash: 'a'.repeat(64), venue_rules: '', code_version: '', seed: 1 };

test('a market that was hardly filled counts on a test window like one of a train window', async () => {
  // Of 20 USD a tenth was spent in the first market.
  const trades = [
    { market_id: '0x1', net_pnl: -2, size_usd: 2 },
    { market_id: '0x2', net_pnl: 4, size_usd: 20 },
    { market_id: '0x3', net_pnl: 1, size_usd: 20 },
    { market_id: '0x3', net_pnl: 2, size_usd: 19 },
  ];
  const sharpe = sharpeRatio([-2 / 20, 4 / 20, 3 / 20]);
  const tested = { trades, markets_traded: 3, trades_total: 4, trades_won: 3, total_pnl: 5, total_fees: 0 };
  const run = async ({ kind }: JobSpec) =>
    JSON.stringify(
      kind === 'sweep'
        ? { cells: [[{ sharpe_per_market: 0.5, total_pnl: 9 }]], receipt }
        : { ...tested, sharpe_per_market: sharpe, receipt },
    );
  const markets = async () =>
    [0, 2 * HOUR_MS].map((endTimeMs) => ({ startTimeMs: endTimeMs - 300_000, endTimeMs })) as Market[];
  const printed = vi.spyOn(console, 'log').mockReturnValue(undefined);
  const trials = new TrialsFile(join(temporaryDirectory(), 'trials.jsonl'));
  const options = { json: true, trials: trials.path };
  await runWalkForward(
    { jobs: { run, markets }, path: '', trials, options, heldOut: null } as JobRun,
    SPEC,
    PLAN,
  );
  const body = JSON.parse(printed.mock.lastCall?.[0]);
  printed.mockRestore();
  expect(body.folds).toMatchObject([{ result: { sharpe_per_market: sharpe } }]);
  expect(body.test.sharpe_per_market).toBeCloseTo(sharpe as number, 12);
  expect(body.efficiency).toBeCloseTo((sharpe as number) / 0.5, 12);
});
