import { describe, expect, test } from 'vitest';
import { START_MS } from '../../../test/support/tapes.ts';
import type { Job } from '../../backtest/jobs.ts';
import { printJson } from '../../schema/moneyJson.ts';
import type { Strategy } from '../../schema/strategy.ts';
import { type ComparisonJobs, divergenceOf, wholeWindows } from './divergence.ts';
import { positionBody } from './positionBody.ts';
import type { PositionRow } from './positions.ts';
import type { PaperStrategy } from './strategies.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS = 5 * MINUTE_MS;
const NOW_MS = START_MS + 8 * WINDOW_MS + 1;
const THRESHOLD: Strategy = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
/** It reads the volatility of a token over one window in each list of conditions. */
const VOLATILITIES = ([entry, profit, loss]: readonly [number, number, number]): Strategy => {
  const over = (window_s: number) =>
    ({ metric: 'token_volatility', operator: 'above', value: 0.1, window_s }) as const;
  const lists = { entry: [over(entry)], take_profit: [over(profit)], stop_loss: [over(loss)] };
  return { type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, ...lists };
};
/** The volatility of the underlying is known before the strategy starts. */
const UNDERLYING: Strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, take_profit: [], stop_loss: [] },
  entry: [{ metric: 'underlying_volatility', operator: 'above', value: 0.1, window_s: 3_600 }],
};
const REVERSION = (lookback: number): Strategy => ({ type: 'mean_reversion', lookback, z_threshold: 2 });

test.each([
  ['it is active from the start', THRESHOLD, 0, 5],
  ['it is active one millisecond later', THRESHOLD, 1, 10],
  ['it has seen its whole lookback', REVERSION(120), -121_000, 5],
  ['it has seen less than its lookback', REVERSION(120), -120_999, 10],
  ['its lookback is an hour', REVERSION(3_600), -10_000, 65],
  ['it has seen the longest window, of its entry', VOLATILITIES([120, 60, 90]), -121_000, 5],
  ['it has seen less than the longest window, of its entry', VOLATILITIES([120, 60, 90]), -120_999, 10],
  ['it has seen the longest window, of its profit', VOLATILITIES([60, 120, 90]), -121_000, 5],
  ['it has seen less than the longest window, of its profit', VOLATILITIES([60, 120, 90]), -120_999, 10],
  ['it has seen the longest window, of its loss', VOLATILITIES([60, 90, 120]), -121_000, 5],
  ['it has seen less than the longest window, of its loss', VOLATILITIES([60, 90, 120]), -120_999, 10],
  ['it reads the volatility of the underlying', UNDERLYING, 0, 5],
])('the first compared window, if %s', (_, strategy, fromMs, endMinute) => {
  const of = { strategy, universe: { ticker: 'BTC', event_type: '5m' }, entriesUntilMs: null };
  const live = { ...of, activeFromMs: START_MS + fromMs } as PaperStrategy;
  expect(wholeWindows(live, START_MS + 90 * MINUTE_MS)).toEqual({
    startMs: START_MS + endMinute * MINUTE_MS,
    endMs: START_MS + 90 * MINUTE_MS,
  });
});

test('the last compared window of a stopped strategy ends before it stopped', () => {
  const of = { strategy: THRESHOLD, universe: { ticker: 'BTC', event_type: '5m' }, activeFromMs: START_MS };
  const stopped = { ...of, entriesUntilMs: START_MS + 30 * MINUTE_MS } as PaperStrategy;
  expect(wholeWindows(stopped, START_MS + 90 * MINUTE_MS)).toMatchObject({ endMs: stopped.entriesUntilMs });
});

const STRATEGY = {
  ...{ strategyId: 'ps_1', userId: 'usr_1', strategy: THRESHOLD },
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, activeFromMs: START_MS, entriesUntilMs: null },
  ...{ baselineId: 'bt_base', windowBacktestId: 'bt_window' },
} as PaperStrategy;
const FIGURES = {
  ...{ trades_total: 7, win_rate: 0.5, total_pnl: 1, total_fees: 2, avg_pnl_per_trade: 3, avg_slippage: 4 },
  markets_skipped: [],
};
/** The figures of a run that has no result. */
const NO_FIGURES = {
  ...{ trades: null, win_rate: null, net_pnl: null, fees: null, avg_pnl_per_trade: null, avg_slippage: null },
};

/** A position of a window, opened some milliseconds after its start; closed with 2 USD lost. */
function position(window: number, afterMs: number, more: Partial<PositionRow> = {}): PositionRow {
  const opened_ms = START_MS + window * WINDOW_MS + afterMs;
  return {
    ...{ position_id: `pos_${opened_ms}`, paper_strategy_id: 'ps_1', market_id: `0x${window}`, token: 'yes' },
    ...{ session_from_ms: START_MS, decided_ms: opened_ms - 100, opened_ms, closed_ms: opened_ms + 500 },
    ...{ size: 20_000_000, entry_price: 0.5, exit_price: 0.4, exit_reason: 'stop_loss', outcome: null },
    ...{ principal_micro: 10_000_000, fees_micro: 250_000, slippage: 0.5, pnl_micro: -2_000_000 },
    ...{ decision_price: 0.5, exit_slippage: 0.25, entry_levels: 1, exit_levels: 1, ...more },
  };
}

/** A job with the trades of its result; null: it has no result. */
interface Backtest {
  readonly status: Job['status'];
  readonly trades: readonly PositionRow[] | null;
  readonly endMs?: number;
}

function compared(
  live: readonly PositionRow[],
  backtests: Readonly<Record<string, Backtest>>,
  more: Partial<PaperStrategy> = {},
) {
  const jobs: ComparisonJobs['jobs'] = {
    find: async (jobId) => {
      const { status, endMs = NOW_MS } = backtests[jobId] ?? {};
      return status === undefined ? null : ({ jobId, status, spec: { endMs } } as Job);
    },
    result: async (jobId) => {
      const rows = backtests[jobId]?.trades?.map((row) => positionBody(row));
      const trades = rows?.map(({ position_id: _, ...trade }) => trade);
      const figures = { ...FIGURES, trades_total: rows?.length };
      return trades === undefined ? null : printJson({ ...figures, equity_curve: [], trades, receipt: {} });
    },
  };
  const positions = {
    between: async (_id: string, { startMs, endMs }: { startMs: number; endMs: number }) =>
      live.filter(({ opened_ms }) => opened_ms >= startMs && opened_ms < endMs),
  };
  const parts = { positions, backtests: { jobs } as ComparisonJobs, clock: { now: () => NOW_MS } };
  return divergenceOf({ ...STRATEGY, ...more }, parts);
}

describe('a comparison', () => {
  const complete = (...trades: PositionRow[]) => ({ status: 'complete', trades }) as const;
  const [won, even, lost] = [
    position(1, 0, { pnl_micro: 5_000_000, slippage: 1, exit_slippage: null }),
    position(2, 0, { pnl_micro: 0 }),
    position(3, 0),
  ];

  test('has the figures of the closed positions, of the baseline and of the replay', async () => {
    const open = position(4, 0, { closed_ms: null, pnl_micro: null });
    const { live, baseline, window } = await compared([won, even, lost, position(3, 1), open], {
      ...{ bt_base: complete(won, lost), bt_window: complete(won) },
    });
    expect(live).toEqual({
      ...{ backtest_id: null, status: 'live', trades: 4, win_rate: 0.25, net_pnl: 1, fees: 1 },
      // Four purchases and three sales.
      ...{ avg_pnl_per_trade: 0.25, avg_slippage: (1 + 3 * (0.5 + 0.25)) / 7 },
    });
    const figures = { status: 'complete', win_rate: 0.5, net_pnl: 1, fees: 2, avg_pnl_per_trade: 3 };
    expect(baseline).toEqual({ backtest_id: 'bt_base', trades: 2, ...figures, avg_slippage: 4 });
    expect(window).toEqual({ backtest_id: 'bt_window', trades: 1, ...figures, avg_slippage: 4 });
  });

  test('has no averages while no position is closed', async () => {
    const { live } = await compared([], {});
    expect(live).toEqual({
      ...{ backtest_id: null, status: 'live', trades: 0, win_rate: null, net_pnl: 0, fees: 0 },
      ...{ avg_pnl_per_trade: null, avg_slippage: null },
    });
  });

  test('has all closed positions until the replay has a result', async () => {
    const { live, baseline, window, same, differing } = await compared([won, lost], {
      bt_window: { status: 'running', trades: [won] },
    });
    expect([live.trades, same, differing]).toEqual([2, null, []]);
    expect(baseline).toEqual({ backtest_id: 'bt_base', status: 'gone', ...NO_FIGURES });
    expect(window).toEqual({ backtest_id: 'bt_window', status: 'running', ...NO_FIGURES });
  });

  test('lists the positions of only one of the two, and those that differ, in the order of their opening', async () => {
    const other = { ...lost, pnl_micro: -1_000_000 };
    const moved = position(4, 0);
    const { same, differing } = await compared([won, even, lost, moved], {
      bt_window: complete(position(1, 7), even, other, { ...moved, exit_price: 0.41 }),
    });
    expect(same).toBe(1);
    expect(differing).toMatchObject([
      { market_id: '0x1', found_in: 'live', live_net_pnl: 5, backtest_net_pnl: null },
      { market_id: '0x1', found_in: 'backtest', live_net_pnl: null, backtest_net_pnl: -2 },
      { market_id: '0x3', found_in: 'both', live_net_pnl: -2, backtest_net_pnl: -1 },
      { market_id: '0x4', found_in: 'both', live_net_pnl: -2, backtest_net_pnl: -2 },
    ]);
  });

  test('lists the first 200 differences', async () => {
    const many = Array.from({ length: 201 }, (_, at) => position(1, at));
    const { differing } = await compared(many, { bt_window: complete() });
    expect(differing).toHaveLength(200);
    expect(differing.at(-1)?.opened_at).toBe(positionBody(many[199] as PositionRow).opened_at);
  });

  test('includes the first whole window', async () => {
    const { live } = await compared([position(0, 1)], { bt_window: { status: 'complete', trades: [] } });
    expect(live).toMatchObject({ trades: 1, net_pnl: -2 });
  });

  test('excludes the window that ends at the very time to which was replayed', async () => {
    const endMs = START_MS + 3 * WINDOW_MS;
    const { live } = await compared([won, even], { bt_window: { ...complete(), endMs } });
    expect(live).toMatchObject({ trades: 1, net_pnl: 5 });
    const later = await compared([won, even], { bt_window: { ...complete(), endMs: endMs + 1 } });
    expect(later.live).toMatchObject({ trades: 2 });
  });

  const STOPPED_MS = START_MS + 4 * WINDOW_MS;
  test.each<[string, Partial<PaperStrategy>, number]>([
    ['now', { windowBacktestId: null }, NOW_MS],
    ['the stop of the strategy', { windowBacktestId: null, entriesUntilMs: STOPPED_MS }, STOPPED_MS],
    ['the end of its replay', { entriesUntilMs: STOPPED_MS }, START_MS + 2 * WINDOW_MS],
    ['its start, if that comes later', { windowBacktestId: null, activeFromMs: NOW_MS + 9 }, NOW_MS + 9],
  ])('reaches from the start of the strategy to %s', async (_, more, toMs) => {
    const replayed = { status: 'complete', trades: [], endMs: START_MS + 2 * WINDOW_MS } as const;
    const { fromMs, toMs: reached } = await compared([], { bt_window: replayed }, more);
    expect([fromMs, reached]).toEqual([more.activeFromMs ?? START_MS, toMs]);
  });
});
