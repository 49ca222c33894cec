import { describe, expect, it } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import type { Trade } from '../core/session/position.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import { notReplayed } from './marketReplay.ts';
import {
  backtestResult,
  checkReplayed,
  countedSkips,
  type ReplayedMarket,
  resultBody,
  windowsOverlap,
} from './report.ts';

const START_MS = Date.UTC(2026, 10, 20, 12);
const WINDOW_MS = 300_000;
const SPEC: BacktestSpec = {
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: START_MS, marketLimit: 50 },
};
const RECEIPT = { data_hash: '', venue_rules: '', code_version: '', seed: 7 };

/** A bought position that was held to the resolution. */
function tradeOf(at: number, pnl: number): Trade {
  const closedMs = START_MS + (at + 1) * WINDOW_MS;
  return {
    ...{ token: 'yes', decidedMs: closedMs - 9_000, openedMs: closedMs - 8_000, closedMs },
    ...{ decisionPrice: 0.4, entryPrice: 0.42, exitPrice: null, size: 10_000_000, principal: 4_200_000 },
    ...{ fees: 100_000, entrySlippage: 0.02, exitSlippage: null, entryLevels: 2, exitLevels: null },
    ...{ pnl, exitReason: 'resolved' },
  } as Trade;
}

/** The market of a window, replayed with the profits of its trades in micro-USD. */
function replayed(at: number, pnls: readonly number[], more: Partial<ReplayedMarket> = {}): ReplayedMarket {
  const startTimeMs = START_MS + at * WINDOW_MS;
  const market = marketRecord({ marketId: `0x${at}`, startTimeMs, endTimeMs: startTimeMs + WINDOW_MS });
  const trades = pnls.map((pnl) => tradeOf(at, pnl));
  const orders = { ...NO_ORDERS, placed: pnls.length, filled: pnls.length };
  const costChanges = trades.map(({ openedMs, principal }) => ({
    timeMs: openedMs,
    change: principal,
    rank: 1 as const,
  }));
  const replay = { skipped: null, trades, orders, paidOutCost: 0, costChanges };
  return { market, replay, coverage: 0.5, ...more };
}

const resultOf = (markets: readonly ReplayedMarket[], spec = SPEC, receipt = RECEIPT) =>
  backtestResult(markets, { spec, receipt });
const skippedMarket = (at: number) => ({ ...replayed(at, []), ...notReplayed('gap') });

describe('the result of a backtest', () => {
  it('counts markets and trades, and names each skipped market with the reason', () => {
    const result = resultOf([replayed(0, [2_000_000, -1_000_000]), skippedMarket(1), replayed(2, [])]);
    expect(result).toMatchObject({
      ...{ markets_total: 3, markets_traded: 1, markets_skipped: [{ market_id: '0x1', reason: 'gap' }] },
      ...{ trades_total: 2, trades_won: 1, win_rate: 0.5, total_pnl: 1, total_fees: 0.2 },
      ...{ avg_pnl_per_trade: 0.5, avg_slippage: 0.02, receipt: RECEIPT },
    });
    expect(result.trades.map(({ market_id, net_pnl }) => [market_id, net_pnl])).toEqual([
      ['0x0', 2],
      ['0x0', -1],
    ]);
    expect(result.equity_curve.at(-1)).toEqual({
      ...{ market_id: '0x0', ts: '2026-11-20T12:05:00.000+00:00', cumulative_pnl: 1 },
    });
  });

  it('has the largest cost at one time in USD, and null without a trade', () => {
    expect(resultOf([replayed(0, [1]), replayed(1, [1])]).peak_cost).toBe(8.4);
    expect(resultOf([replayed(0, [])])).toMatchObject({ peak_cost: null, intervals: null });
    const results = [replayed(0, [])].map(({ market, ...outcome }) => ({ ...outcome, market }));
    const body = resultBody(results as never, { sizeUsd: 1, receipt: RECEIPT, trades: [] });
    expect('peak_cost' in body).toBe(false);
    expect(resultBody([], { sizeUsd: 1, receipt: RECEIPT, trades: [] }).coverage).toBe(0);
  });

  it('has intervals from low to high, drawn from the seed of its receipt', () => {
    const markets = Array.from({ length: 40 }, (_, at) =>
      replayed(at, [at % 3 === 0 ? -3_000_000 : 2_000_000]),
    );
    const { intervals } = resultOf(markets);
    for (const [low, high] of Object.values(intervals ?? {}) as [number, number][])
      expect(low).toBeLessThan(high);
    expect(Object.keys(intervals ?? {})).toEqual(['total_pnl', 'win_rate', 'sharpe_per_market']);
    expect(resultOf(markets).intervals).toEqual(intervals);
    expect(resultOf(markets, SPEC, { ...RECEIPT, seed: 8 }).intervals).not.toEqual(intervals);
  });

  it('counts orders, and those that rested only where orders rest', () => {
    const orders = { ...NO_ORDERS, placed: 9, filled: 4, takenBack: 3 };
    const withOrders = (own: typeof orders & { resting?: object }) => {
      const market = replayed(0, [1]);
      return resultOf([{ ...market, replay: { ...market.replay, orders: own as never } }]).orders;
    };
    const plain = withOrders(orders);
    expect(plain).toMatchObject({ placed: 9, filled: 4, taken_back: 3 });
    expect(plain.missed).not.toHaveProperty('not_reached');
    expect(withOrders({ ...orders, resting: { refused: 1, notReached: 2 } }).missed).toMatchObject({
      ...{ refused: 1, not_reached: 2 },
    });
  });

  it('has the figures under stress only if the job has a stress', () => {
    const stressed = { kind: 'void', replay: replayed(0, [-500_000]).replay } as const;
    const markets = [replayed(0, [2_000_000], { stressed })];
    expect(resultOf(markets)).not.toHaveProperty('stress');
    const stress = { void_rate: 1 } as never;
    expect(resultOf(markets, { ...SPEC, params: { ...DEFAULT_PARAMS, stress } }).stress).toMatchObject({
      ...{ void_markets: 1, disputed_markets: 0, total_pnl: -0.5 },
    });
  });
});

describe('a backtest fails', () => {
  const failure = (skips: Parameters<typeof checkReplayed>[0], universe = SPEC.universe) => {
    try {
      checkReplayed(skips, { universe });
      return null;
    } catch (error) {
      return error;
    }
  };

  it('without a market in its range, which names the series', () => {
    expect(failure([])).toEqual(new BacktestFailedError('no BTC 5m market ended in the range asked for'));
    const both = { tickers: ['BTC', 'ETH'], event_types: ['5m', '15m'] } as never;
    expect(failure([], both)).toEqual(
      new BacktestFailedError('no BTC or ETH 5m or 15m market ended in the range asked for'),
    );
  });

  it('if no market could be replayed, with the reasons, and not if one could', () => {
    expect(failure(['gap', 'unresolved', 'gap'])).toEqual(
      new BacktestFailedError('none of 3 markets could be replayed: 2 gap, 1 unresolved'),
    );
    expect(failure(['gap', null])).toBeNull();
    expect(countedSkips(['gap', null, 'no_data', 'gap'])).toBe('2 gap, 1 no_data');
  });
});

it('windows overlap if one begins before another has ended, in whatever order they are given', () => {
  const window = (startTimeMs: number, endTimeMs: number) => ({ startTimeMs, endTimeMs });
  expect(windowsOverlap([])).toBe(false);
  expect(windowsOverlap([window(10, 20), window(0, 10)])).toBe(false);
  expect(windowsOverlap([window(9, 20), window(0, 10)])).toBe(true);
  expect(windowsOverlap([window(20, 30), window(0, 10), window(10, 20)])).toBe(false);
});
