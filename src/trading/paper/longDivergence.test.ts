import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { START_MS } from '../../../test/support/tapes.ts';
import type { Job } from '../../backtest/jobs.ts';
import { printJson } from '../../schema/moneyJson.ts';
import { type ComparisonJobs, divergenceOf } from './divergence.ts';
import { positionBody } from './positionBody.ts';
import type { PositionRow } from './positions.ts';
import type { PaperStrategy } from './strategies.ts';

const WINDOW_MS = 300_000;
const WINDOWS = 40;
const A_WINDOW = 60;
const OLDER = { trades_total: 7, win_rate: 0.5, total_pnl: 1, total_fees: 2 };
const BASELINE = { ...OLDER, avg_pnl_per_trade: 3, avg_slippage: 4 };

/** Of the window in which it started, and of the skipped one, no position is compared. */
const ROWS: PositionRow[] = Array.from({ length: WINDOWS * A_WINDOW }, (_, at) => {
  const opened_ms = START_MS + Math.floor(at / A_WINDOW) * WINDOW_MS + (at % A_WINDOW) * 1_000;
  return {
    ...{ position_id: `pos_${at.toString(16).padStart(4, '0')}`, paper_strategy_id: 'ps_1' },
    ...{
      market_id: `0x${Math.floor(at / A_WINDOW)}`,
      token: 'yes',
      session_from_ms: 1,
      decided_ms: opened_ms,
    },
    ...{ opened_ms, closed_ms: opened_ms + 500, size: 37_000_000, entry_price: 0.27, exit_price: 0.3 },
    ...{ exit_reason: 'take_profit', outcome: null, principal_micro: 9_990_000, fees_micro: 510_000 },
    ...{ slippage: 0.002, pnl_micro: 100_003, decision_price: 0.27, exit_slippage: 0.001 },
    ...{ entry_levels: 1, exit_levels: 1 },
  };
});
const STRATEGY = {
  ...{ strategyId: 'ps_1', userId: 'usr_1', baselineId: 'bt_base', windowBacktestId: 'bt_window' },
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, activeFromMs: START_MS + 1, entriesUntilMs: null },
} as PaperStrategy;

function rig() {
  const trades = ROWS.map((row) => {
    const { position_id: _, ...trade } = positionBody(row);
    return trade;
  });
  // The replay lacks the last trade, and another one lost more.
  const replayed = trades.slice(0, -1).map((trade, at) => (at === 300 ? { ...trade, net_pnl: -1 } : trade));
  const around = { equity_curve: [], trades: replayed.slice(A_WINDOW), receipt: {} };
  const results: Record<string, string> = {
    bt_base: printJson({ ...BASELINE, equity_curve: [], trades, receipt: {} }),
    bt_window: printJson({ ...BASELINE, markets_skipped: [{ market_id: '0x3', reason: 'gap' }], ...around }),
  };
  const endMs = START_MS + WINDOWS * WINDOW_MS + 1;
  const jobs: ComparisonJobs['jobs'] = {
    find: async (jobId) => ({ jobId, status: 'complete', spec: { endMs } }) as unknown as Job,
    result: async (jobId) => results[jobId] ?? null,
  };
  const asked: number[] = [];
  const between: Parameters<typeof divergenceOf>[1]['positions']['between'] = async (_id, page) => {
    asked.push(page.limit);
    const last = page.after?.positionId;
    const from = last === undefined ? 0 : ROWS.findIndex((row) => row.position_id === last) + 1;
    return ROWS.slice(from, from + page.limit);
  };
  const backtests = { jobs } as ComparisonJobs;
  return { asked, parts: { positions: { between }, backtests, clock: { now: () => endMs } } };
}

test('a comparison of thousands of positions is that of all of them', async () => {
  const { parts } = rig();
  const { live, baseline, same, differing } = await divergenceOf(STRATEGY, parts);
  const compared = (WINDOWS - 2) * A_WINDOW;
  expect([live.trades, live.net_pnl]).toEqual([compared, (compared * 100_003) / 1_000_000]);
  expect(baseline).toMatchObject({ trades: 7, win_rate: 0.5, net_pnl: 1, fees: 2, avg_slippage: 4 });
  // The trades of the skipped window are only in the replay of this test.
  expect(same).toBe(compared - 2);
  expect(differing.filter(({ market_id }) => market_id !== '0x3')).toEqual([
    expect.objectContaining({ market_id: '0x5', found_in: 'both', backtest_net_pnl: -1 }),
    expect.objectContaining({ market_id: '0x39', found_in: 'live', backtest_net_pnl: null }),
  ]);
});

test('other requests run between its pages of positions and of trades', async () => {
  const { asked, parts } = rig();
  let [turns, isOver] = [0, false];
  const comparing = divergenceOf(STRATEGY, parts).finally(() => {
    isOver = true;
  });
  for (; !isOver; turns++) await nextTurn();
  await comparing;
  expect(Math.max(...asked)).toBeLessThanOrEqual(501);
  const pages = Math.floor(ROWS.length / 500);
  expect(turns).toBeGreaterThanOrEqual(3 * pages);
});
