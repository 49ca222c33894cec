import { describe, expect, test } from 'vitest';
import { EMPTY_RUN, RUN_CONTEXT, randomRun, runMarket, runTrade } from '../../test/support/runResults.ts';
import type { RunTrade } from '../core/run/result.ts';
import type { BreakdownRow } from '../schema/report.ts';
import { reportOf } from './runReport.ts';

function reportOfTrades(...changes: readonly (Partial<RunTrade> & { price: number; won: boolean })[]) {
  const markets = changes.map((_, at) => runMarket(at));
  const trades = changes.map((change, at) => runTrade(runMarket(at), change));
  return reportOf({ ...EMPTY_RUN, markets, trades }, RUN_CONTEXT);
}

const shown = (rows: readonly BreakdownRow[] | null) =>
  rows?.map(({ label, trades, won, pnl, win_rate: rate }) => [label, trades, won, pnl, rate]);

describe('the breakdowns of a report', () => {
  test('have buckets by entry price from the first to the last with a trade', () => {
    const { by_entry_price: rows } = reportOfTrades(
      { price: 0.1, won: true },
      { price: 0.35, won: false },
      { price: 0.3, won: true },
    );
    expect(shown(rows)).toEqual([
      ['0.10 to 0.20', 1, 1, 89, 1],
      ['0.20 to 0.30', 0, 0, 0, null],
      ['0.30 to 0.40', 2, 1, 33, 0.5],
    ]);
    expect(shown(reportOfTrades({ price: 1, won: true }).by_entry_price)).toEqual([
      ['0.95 to 1.00', 1, 0, -1, 0],
    ]);
  });

  test('have the UTC hour of the opening and the time left at the decision', () => {
    const openedMs = Date.UTC(2026, 10, 20, 23, 59, 59, 999);
    const atEntry = { secondsToEnd: 59.9, volatility: null, modelProbability: null };
    const report = reportOfTrades({ price: 0.5, won: true, openedMs, atEntry });
    expect(shown(report.by_hour)).toEqual([['23:00', 1, 1, 49, 1]]);
    expect(shown(report.by_time_left)).toEqual([['30 s to 1 min', 1, 1, 49, 1]]);
    expect(report.by_volatility).toBeNull();
  });

  test('have each number of seconds in the bucket that begins with it', () => {
    const edges = [0, 10, 30, 60, 120, 300, 900, 3_600, 14_400];
    const labels = [
      ...['0 s to 10 s', '10 s to 30 s', '30 s to 1 min', '1 min to 2 min', '2 min to 5 min'],
      ...['5 min to 15 min', '15 min to 1 h', '1 h to 4 h', 'over 4 h'],
    ];
    const report = reportOfTrades(
      ...edges.map((secondsToEnd) => ({
        ...{ price: 0.5, won: true },
        atEntry: { secondsToEnd, volatility: null, modelProbability: null },
      })),
    );
    expect(report.by_time_left?.map(({ label, trades }) => [label, trades])).toEqual(
      labels.map((label) => [label, 1]),
    );
  });

  test('divide trades by volatility into thirds', () => {
    const trade = (volatility: number | null) => ({
      ...{ price: 0.5, won: true },
      atEntry: { secondsToEnd: 60, volatility, modelProbability: null },
    });
    const report = reportOfTrades(...[0.6, 0.2, 0.4, null, 0.3, 0.5, 0.1].map(trade));
    expect(shown(report.by_volatility)).toEqual([
      ['low, below 30 %', 2, 2, 98, 1],
      ['middle, 30 % to 50 %', 2, 2, 98, 1],
      ['high, from 50 %', 2, 2, 98, 1],
    ]);
    expect(reportOfTrades(trade(0.3), trade(0.3), trade(0.3)).by_volatility).toBeNull();
    const four = reportOfTrades(...[0.1, 0.2, 0.3, 0.4].map(trade));
    expect(shown(four.by_volatility)?.map(([label, trades]) => [label, trades])).toEqual([
      ['low, below 20 %', 1],
      ['middle, 20 % to 30 %', 1],
      ['high, from 30 %', 2],
    ]);
  });

  test.each([
    [
      [0.008, 0.009, 0.0112, 0.0113, 0.0131, 0.014],
      ['low, below 1.1 %', 'middle, 1.1 % to 1.3 %', 'high, from 1.3 %'],
    ],
    [
      [0.1, 0.3, 0.3, 0.3, 0.3, 0.5],
      ['low, below 30 %', 'high, from 30 %'],
    ],
    // The lowest bucket would have no trade.
    [[0.3, 0.3, 0.3, 0.3, 0.5], ['high, from 30 %']],
  ])('name volatilities %j by bounds that differ', (volatilities, labels) => {
    const trades = volatilities.map((volatility) => ({
      ...{ price: 0.5, won: true },
      atEntry: { secondsToEnd: 60, volatility, modelProbability: null },
    }));
    const rows = reportOfTrades(...trades).by_volatility;
    expect(rows?.map(({ label }) => label)).toEqual(labels);
    expect(rows?.reduce((sum, row) => sum + row.trades, 0)).toBe(volatilities.length);
  });

  test('leave out open positions', () => {
    const open = { closedMs: null, exitPrice: null, exitReason: null, pnl: null };
    expect(reportOfTrades({ price: 0.5, won: true, ...open }).by_hour).toBeNull();
  });

  test('each sum to the total', () => {
    const report = reportOf(randomRun('sums'), RUN_CONTEXT);
    for (const rows of [report.by_hour, report.by_entry_price, report.by_time_left, report.by_volatility]) {
      expect(rows?.reduce((sum, { trades }) => sum + trades, 0)).toBe(report.trades_total);
      expect(rows?.reduce((sum, { pnl }) => sum + pnl, 0)).toBeCloseTo(report.total_pnl, 6);
    }
  });
});
