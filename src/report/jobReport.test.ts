import { describe, expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { runMarket, runTrade } from '../../test/support/runResults.ts';
import { resultBody } from '../backtest/report.ts';
import { tradeBody } from '../backtest/tradeBody.ts';
import type { RunTrade } from '../core/run/result.ts';
import type { Trade } from '../core/session/position.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import { reportShape } from '../schema/report.ts';
import { reportOfJob } from './jobReport.ts';

const RECEIPT = { data_hash: 'd'.repeat(64), venue_rules: '2026-11-20', code_version: '0.1.0-abc', seed: 1 };
const REQUEST = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  ...{ size_usd: 50, start: null, end: '2026-11-21T00:00:00.000+00:00', market_limit: 50 },
  params: { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: 0.02 },
} as const;

/** One market for each list of trades, in order; a trade costs 100 shares at its price. */
function reportOf(trades: readonly (readonly (Partial<RunTrade> & { price: number; won: boolean })[])[]) {
  const windows = trades.map((_, market) => runMarket(market));
  const made = windows.map((window, market) =>
    (trades[market] ?? []).map((trade) => runTrade(window, trade) as unknown as Trade),
  );
  const result = resultBody(
    windows.map((market, n) => ({
      market,
      replay: { skipped: null, trades: made[n] ?? [], orders: NO_ORDERS, paidOutCost: 0, costChanges: [] },
      coverage: 1,
    })),
    {
      ...{ sizeUsd: REQUEST.size_usd, receipt: RECEIPT },
      trades: windows.flatMap(({ marketId }, n) =>
        (made[n] ?? []).map((trade) => tradeBody({ marketId, outcome: 'Up' }, trade)),
      ),
    },
  );
  return reportOfJob(result, {
    ...{ name: 'job', request: REQUEST, latencyCurve: null, trialsBefore: null, heldOut: null },
    markets: windows.map(({ marketId, startTimeMs, endTimeMs }) =>
      marketRecord({ marketId, startTimeMs, endTimeMs, ticker: 'BTC', eventType: '5m' }),
    ),
  });
}

describe('the report of a job', () => {
  test('has the shape of every report, and no figure that the job does not count', () => {
    const report = reportOf([[{ price: 0.5, won: true }], [], [{ price: 0.3, won: false }]]);
    expect(reportShape.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      markets: [
        { trades: 1, pnl: 49 },
        { trades: 0, pnl: 0 },
        { trades: 1, pnl: -31 },
      ],
      equity: { basis: 'closed_trades', points: [{ equity: 49, cash: null }, { equity: 18 }] },
      portfolio: { start_cash: null, max_drawdown_usd: -31, max_drawdown_pct: null },
      ...{ taker: null, maker: null, queue_models: null },
    });
    expect(report.trades.map((trade) => trade.seconds_to_end)).toEqual([60, 60]);
    expect(report.selection.deflated_sharpe).not.toBeNull();
    // A market without a trade has no return.
    expect(report.selection).toEqual(
      reportOf([[{ price: 0.5, won: true }], [{ price: 0.3, won: false }]]).selection,
    );
  });

  test('without trades has no capital, no ratio and no breakdown', () => {
    const report = reportOf([[], []]);
    expect(reportShape.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      portfolio: {
        ...{ max_drawdown_usd: 0, peak_capital_used: null, return_on_peak_capital: null },
        ...{ time_under_water: null, longest_under_water_s: null },
      },
      ...{ by_hour: null, by_entry_price: null, by_time_left: null, by_volatility: null },
      selection: { deflated_sharpe: null, min_track_record_markets: null },
    });
  });
});
