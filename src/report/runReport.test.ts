import { describe, expect, test } from 'vitest';
import {
  EMPTY_RUN,
  RUN_CONTEXT,
  RUN_START_MS,
  randomRun,
  runFill,
  runMarket,
  runOrder,
  runTrade,
} from '../../test/support/runResults.ts';
import type { RunResult } from '../core/run/result.ts';
import { reportShape } from '../schema/report.ts';
import { reportOf } from './runReport.ts';

const MICRO = 1_000_000;
const at = (seconds: number, cash: number, marked = 0) => ({
  timeMs: RUN_START_MS + seconds * 1_000,
  ...{ cash: cash * MICRO, reserved: 0, locked: 0, marked: marked * MICRO },
});

const [first, second, third] = [runMarket(0), runMarket(1), runMarket(2, { skipped: 'gap', coverage: 0 })];

/** Two trades: +49 USD at 50 cents, -31 USD at 30 cents. */
const RUN: RunResult = {
  ...EMPTY_RUN,
  markets: [second, third, first],
  trades: [
    runTrade(first, { price: 0.5, won: true }),
    runTrade(second, {
      ...{ price: 0.3, won: false, liquidity: 'maker' },
      atEntry: { secondsToEnd: 12, volatility: null, modelProbability: null },
    }),
  ],
  orders: [
    runOrder(1, first, {}),
    runOrder(2, second, { outcome: 'partly_filled', filledSize: 50 * MICRO }),
    runOrder(3, second, { outcome: 'refused', reason: 'not_a_tick', filledSize: 0 }),
    runOrder(4, second, { outcome: 'missed', reason: 'price', filledSize: 0 }),
    runOrder(5, second, { outcome: 'taken_back', filledSize: 10 * MICRO }),
    runOrder(6, second, { outcome: 'cancelled', filledSize: 0 }),
  ],
  fills: [
    runFill(1, first, { price: 5_000, fee: MICRO }),
    runFill(2, second, { liquidity: 'maker', price: 3_000, size: 50 * MICRO, fee: -250_000 }),
  ],
  equity: [at(0, 1_000), at(100, 949, 40), at(200, 1_049), at(300, 1_018), at(400, 1_018)],
};
const OUTCOMES = new Map([[first.marketId, 'Up' as const]]);
const REPORT = reportOf(RUN, { ...RUN_CONTEXT, outcomes: OUTCOMES });

describe('the report of a run', () => {
  test('has the members of a job’s result and all others of its shape', () => {
    expect(reportShape.parse(REPORT)).toEqual(REPORT);
    expect(reportShape.parse(reportOf(randomRun('shape'), RUN_CONTEXT)).trades_total).toBeGreaterThan(100);
  });

  test('has the figures of its trades', () => {
    expect(REPORT).toMatchObject({
      ...{ name: 'endgame', markets_total: 3, markets_traded: 2, trades_total: 2, trades_won: 1 },
      ...{ total_pnl: 18, total_fees: 2, win_rate: 0.5, max_drawdown: -31, intervals: null },
      markets_skipped: [{ market_id: third.marketId, reason: 'gap' }],
    });
    expect(REPORT.trades.map(({ outcome, seconds_to_end: left }) => [outcome, left])).toEqual([
      ['Up', 60],
      [null, 12],
    ]);
    expect(REPORT.markets?.map(({ pnl, trades, skipped }) => [pnl, trades, skipped])).toEqual([
      [49, 1, null],
      [-31, 1, null],
      [0, 0, 'gap'],
    ]);
  });

  test('counts orders by outcome and by refusal', () => {
    expect(REPORT.orders).toEqual({
      ...{ placed: 6, filled: 2, taken_back: 1 },
      missed: { no_depth: 0, price: 1, untrusted: 0, unconfirmed: 0 },
      outcomes: { cancelled: 1, filled: 1, missed: 1, partly_filled: 1, refused: 1, taken_back: 1 },
      refusals: { not_a_tick: 1 },
    });
  });

  test('counts every placed order in one outcome, and each that filled in part as filled', () => {
    const orders = [...RUN.orders, runOrder(7, first, { outcome: 'cancelled', filledSize: 20 * MICRO })];
    const { orders: counts, fill_rate: rate } = reportOf({ ...RUN, orders }, RUN_CONTEXT);
    const sum = Object.values(counts.outcomes ?? {}).reduce((all, count) => all + count, 0);
    expect([counts.placed, sum, counts.filled, counts.outcomes?.filled]).toEqual([7, 7, 3, 1]);
    expect(rate).toBe(3 / 7);
  });

  test('divides fills into takers and makers, with fees and rebates', () => {
    expect(REPORT.taker).toEqual({ fills: 1, shares: 100, volume: 50, fees: 1, rebates: 0 });
    expect(REPORT.maker).toEqual({ fills: 1, shares: 50, volume: 15, fees: 0, rebates: 0.25 });
  });

  test('has return on capital, drawdown and time under water', () => {
    expect(REPORT.portfolio).toEqual({
      ...{ start_cash: 1_000, end_equity: 1_018, return_on_capital: 0.018 },
      ...{ max_drawdown_usd: -31, max_drawdown_pct: (100 * -31) / 1_049 },
      ...{ peak_capital_used: 40, return_on_peak_capital: 0.45 },
      // Below the start from 100 s to 200 s, below the peak of 1,049 from 300 s to 400 s.
      ...{ time_under_water: 0.5, longest_under_water_s: 100 },
    });
    expect(REPORT.underwater.points.map(({ usd }) => usd)).toEqual([0, -11, 0, -31, -31]);
    expect(REPORT.equity).toMatchObject({
      basis: 'mark_to_market',
      thinning: 'every point',
      points_total: 5,
    });
    expect(REPORT.equity.points[1]).toEqual({
      ...{ ts: '2026-11-20T00:01:40.000+00:00', equity: 989, cash: 949, in_use: 40 },
    });
  });

  test('has null for every share of an unlimited purse', () => {
    const terms = { ...RUN_CONTEXT.terms, cashUsd: null };
    const equity = RUN.equity.map((point) => ({ ...point, cash: point.cash - 1_000 * MICRO }));
    const report = reportOf({ ...RUN, equity }, { ...RUN_CONTEXT, terms });
    expect(report.portfolio).toMatchObject({
      ...{ start_cash: null, end_equity: null, return_on_capital: null, max_drawdown_pct: null },
      ...{ max_drawdown_usd: -31, return_on_peak_capital: 0.45 },
    });
    expect(report.underwater.points.map(({ pct }) => pct)).toEqual([null, null, null, null, null]);
  });

  test.each([0, 20, 40])(
    'has the figures of 40 or fewer results alone, whatever is still open (%i)',
    (resolved) => {
      const report = (open: number) => {
        const markets = Array.from({ length: resolved + open }, (_, n) =>
          runMarket(n, n < resolved ? {} : { skipped: 'unresolved' }),
        );
        const held = { closedMs: null, exitPrice: null, exitReason: null, pnl: null };
        const trades = markets.map((market, n) =>
          runTrade(market, { price: 0.5, won: n % 4 !== 0, ...(n < resolved ? {} : held) }),
        );
        return reportOf({ ...EMPTY_RUN, markets, trades }, { ...RUN_CONTEXT, trialsBefore: 10 });
      };
      const { intervals, markets_traded, selection, sharpe_per_market, win_rate } = report(0);
      expect(report(40)).toMatchObject({ intervals, markets_traded, selection, sharpe_per_market, win_rate });
      expect([markets_traded, intervals === null]).toEqual([resolved, resolved < 30]);
    },
  );

  test('counts no trade of an unresolved market: those sold are not typical of those still held', () => {
    const unresolved = runMarket(3, { skipped: 'unresolved' });
    const sold = runTrade(unresolved, { price: 0.5, won: true, exitReason: 'take_profit' });
    const held = { closedMs: null, exitPrice: null, exitReason: null, pnl: null };
    const trades = [...RUN.trades, sold, sold, runTrade(unresolved, { price: 0.9, won: true, ...held })];
    const report = reportOf({ ...RUN, markets: [...RUN.markets, unresolved], trades }, RUN_CONTEXT);
    const { trades_total, trades_won, total_pnl, profit_factor, by_hour, by_entry_price } = REPORT;
    expect(report).toMatchObject({ trades_total, trades_won, total_pnl, profit_factor, by_hour });
    expect(report.by_entry_price).toEqual(by_entry_price);
    expect(report.trades).toHaveLength(5);
    expect(report.markets?.find(({ market_id: id }) => id === unresolved.marketId)).toMatchObject({
      ...{ skipped: 'unresolved', trades: 3, pnl: 0 },
    });
    expect(report.warnings).toEqual(
      expect.arrayContaining([
        '1 position is still open. The P&L does not count open positions.',
        '2 positions were sold in unresolved markets. The P&L does not count them.',
      ]),
    );
  });

  test('has null and not 0 where nothing was measured', () => {
    const report = reportOf(EMPTY_RUN, RUN_CONTEXT);
    expect(reportShape.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      ...{ win_rate: null, fill_rate: null, sharpe_per_market: null, sharpe_ratio: null, calmar_ratio: null },
      ...{ by_hour: null, by_entry_price: null, by_time_left: null, by_volatility: null },
      ...{ latency_curve: null, queue_models: null, largest_trade_share: null },
      portfolio: { end_equity: 1_000, peak_capital_used: null, time_under_water: null },
      selection: { trials_before: null, deflated_sharpe: null, held_out: null },
    });
  });

  test('is the same for the same run, and does not depend on the order of its markets', () => {
    const run = randomRun('again');
    const again = reportOf({ ...run, markets: [...run.markets].reverse() }, RUN_CONTEXT);
    expect(JSON.stringify(again)).toBe(JSON.stringify(reportOf(run, RUN_CONTEXT)));
  });

  test('counts earlier trials against the result', () => {
    const run = randomRun('trials', { markets: 400, edge: 0.08 });
    const deflated = (trialsBefore: number) =>
      reportOf(run, { ...RUN_CONTEXT, trialsBefore }).selection.deflated_sharpe as number;
    expect(deflated(0)).toBeGreaterThan(0.95);
    expect(deflated(500)).toBeLessThan(deflated(10));
    expect(deflated(10)).toBeLessThan(deflated(0));
  });
});
