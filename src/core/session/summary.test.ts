import { describe, expect, test } from 'vitest';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { sortinoRatio as sortinoOf } from '../statistics/returns.ts';
import { scaledSharpe } from '../statistics/serialCorrelation.ts';
import type { Trade } from './position.ts';
import { NO_ORDERS } from './sessionEvents.ts';
import { type MarketResult, peakCost, summarize, tradedMarkets } from './summary.ts';

const HOUR_MS = 3_600_000;

function market(n: number, pnls: readonly number[]): MarketResult {
  const startTimeMs = n * HOUR_MS;
  const trades = pnls.map(
    (pnl, at): Trade => ({
      ...{ token: 'yes', decidedMs: startTimeMs, openedMs: startTimeMs, size: 20_000_000, entryPrice: 0.5 },
      ...{ closedMs: startTimeMs + 300_000 + at, exitPrice: 1, exitReason: 'resolved' },
      ...{ decisionPrice: 0.49, entrySlippage: 0.01, exitSlippage: null, entryLevels: 1, exitLevels: null },
      ...{ principal: 10_000_000, fees: 350_000, pnl: Math.round(pnl * 1e6) },
    }),
  );
  return {
    market: { ...TAPE_MARKET, marketId: `m${n}`, startTimeMs, endTimeMs: startTimeMs + 300_000 },
    replay: { skipped: null, trades, orders: NO_ORDERS },
    coverage: 1,
  };
}

describe('a summary', () => {
  test('accumulates trades in closing order', () => {
    const skipped: MarketResult = {
      ...market(3, []),
      replay: { skipped: 'gap', trades: [], orders: NO_ORDERS },
      coverage: 0,
    };
    const summary = summarize([market(1, [-10, 4]), market(0, [9]), market(2, [-3]), skipped], 10);
    expect(summary).toMatchObject({
      ...{ marketsTotal: 4, marketsTraded: 3, tradesTotal: 4, tradesWon: 2, winRate: 0.5, totalPnl: 0 },
      ...{
        totalFees: 1.4,
        avgPnlPerTrade: 0,
        profitFactor: 1,
        maxDrawdown: -10,
        calmarRatio: 0,
        coverage: 0.75,
      },
      marketsSkipped: [{ marketId: 'm3', reason: 'gap' }],
    });
    expect(summary.avgSlippage).toBeCloseTo(0.01, 12);
    expect(summary.equityCurve.map(({ marketId, cumulativePnl }) => [marketId, cumulativePnl])).toEqual([
      ['m0', 9],
      ['m1', -1],
      ['m1', 3],
      ['m2', 0],
    ]);
  });

  test('sums money exactly, in whatever order trades close', () => {
    const pnls = [1.1, 2.2, -0.7, 0.1];
    const totals = [pnls, pnls.toReversed()].map((of) => summarize([market(0, of)], 10));
    expect(totals.map(({ totalPnl, equityCurve }) => [totalPnl, equityCurve.at(-1)?.cumulativePnl])).toEqual([
      [2.7, 2.7],
      [2.7, 2.7],
    ]);
    expect(summarize([market(0, [0.3, -0.1, -0.2])], 10).maxDrawdown).toBe(-0.3);
  });

  test('adds up the orders of all markets; the fill rate is the share of the placed ones that filled', () => {
    const orders = (n: number) => ({
      ...{ placed: 40 * n, filled: 10 * n, takenBack: 7 * n },
      missed: { no_depth: n, price: 2 * n, untrusted: 3 * n, unconfirmed: 4 * n },
    });
    const of = (n: number, resting?: { refused: number; notReached: number }): MarketResult => ({
      ...market(n, [1]),
      replay: { skipped: null, trades: [], orders: { ...orders(n), ...(resting && { resting }) } },
    });
    const summary = summarize([of(1), of(2)], 10);
    expect(summary).toMatchObject({ orders: orders(3), fillRate: 0.25 });
    expect(summary.orders.resting).toBeUndefined();
    const resting = summarize([of(1, { refused: 5, notReached: 6 }), of(2)], 10);
    expect(resting.orders).toEqual({ ...orders(3), resting: { refused: 5, notReached: 6 } });
  });

  test('computes returns per market, and annualises by the markets traded in a year', () => {
    const pnls = [[2], [-1, -1], [3]];
    const markets = Array.from({ length: 30 }, (_, n) => market(n, pnls[n % 3] as number[]));
    const summary = summarize(markets, 10);
    const mean = 0.1;
    const deviation = Math.sqrt((10 * (0.1 ** 2 + 0.3 ** 2 + 0.2 ** 2)) / 29);
    const perYear = (30 * 365 * 24) / (29 + 1 / 12);
    expect(summary.sharpePerMarket).toBeCloseTo(mean / deviation, 12);
    expect(summary.sortinoRatio).toBeCloseTo((mean / Math.sqrt(0.04 / 3)) * Math.sqrt(perYear), 9);
  });

  test('counts the markets traded in a year over all replayed markets, not from the first trade to the last', () => {
    const traded = Array.from({ length: 30 }, (_, at) => market(at + 100, [at % 3 === 0 ? -2 : 3]));
    const quiet = [market(0, []), market(999, [])];
    const skipped = market(5_000, []);
    const markets = [
      ...[...traded, ...quiet],
      { ...skipped, replay: { ...skipped.replay, skipped: 'no_data' as const } },
    ];
    const returns = traded.map(({ replay }) => (replay.trades[0]?.pnl ?? 0) / 10e6);
    const perYear = (30 * 365 * 24) / (999 + 1 / 12);
    const { sharpeRatio, sortinoRatio } = summarize(markets, 10);
    expect(sharpeRatio).toBeCloseTo(scaledSharpe(returns, perYear) as number, 9);
    expect(sortinoRatio).toBeCloseTo(sortinoOf(returns, perYear) as number, 9);
  });

  test('has an annualised Sharpe ratio from 30 traded markets on, corrected for serial correlation', () => {
    // Gains and losses in pairs: neighbours are often alike.
    const results = Array.from({ length: 32 }, (_, at) => (at % 4 < 2 ? 3 : -2));
    const of = (count: number) =>
      summarize(
        results.slice(0, count).map((pnl, at) => market(at, [pnl])),
        10,
      );
    expect(of(29).sharpeRatio).toBeNull();
    expect(of(29).sharpePerMarket).not.toBeNull();
    expect(of(30).sharpeRatio).not.toBeNull();
    expect([of(1).sortinoRatio, of(3).sortinoRatio]).toEqual([null, expect.any(Number)]);
    const two = summarize([market(0, [3]), market(1, [-2])], 10);
    expect([two.sortinoRatio, two.sharpeRatio]).toEqual([expect.any(Number), null]);
    const runs = of(32);
    const perYear = (32 * 365 * 24) / (31 + 1 / 12);
    const returns = results.map((pnl) => pnl / 10);
    expect(runs.sharpeRatio).toBeCloseTo(scaledSharpe(returns, perYear) as number, 9);
    expect(runs.sharpeRatio).not.toBeCloseTo((runs.sharpePerMarket as number) * Math.sqrt(perYear), 0);
  });

  test('has the largest trade’s share of a gain, and null for a loss', () => {
    expect(summarize([market(0, [5, -1]), market(1, [4])], 10).largestTradeShare).toBe(5 / 8);
    expect(summarize([market(0, [5, -3])], 10).largestTradeShare).toBe(2.5);
    expect(summarize([market(0, [5, -6])], 10).largestTradeShare).toBeNull();
    expect(summarize([market(0, [5, -5])], 10).largestTradeShare).toBeNull();
  });

  test('does not count a trade without a gain as won', () => {
    expect(summarize([market(0, [0, 1])], 10)).toMatchObject({ tradesWon: 1, winRate: 0.5 });
    expect(tradedMarkets([market(0, [0, 1])])).toEqual([{ pnl: 1, trades: 2, won: 1 }]);
  });

  test('has the mean result of a trade, not of a market', () => {
    expect(summarize([market(0, [5, -1]), market(1, [2])], 10).avgPnlPerTrade).toBe(2);
  });

  test('sums the fills that gaps reversed', () => {
    const [one, other] = [market(0, [1]), market(1, [1])].map((of, at) => ({
      ...of,
      replay: { ...of.replay, orders: { ...NO_ORDERS, takenBack: at + 1 } },
    })) as [MarketResult, MarketResult];
    expect(summarize([one, other], 10).orders.takenBack).toBe(3);
  });

  test('counts each market with a result once for its intervals, with its trades', () => {
    const open = market(2, [1]);
    const still = open.replay.trades.map((trade) => ({ ...trade, closedMs: null, pnl: null }));
    const traded = tradedMarkets([
      market(0, [2, -1.5]),
      market(1, []),
      { ...open, replay: { ...open.replay, trades: still } },
    ]);
    expect(traded).toEqual([{ pnl: 0.5, trades: 2, won: 1 }]);
  });

  test('does not take a market with an open position for one that earned 0', () => {
    const closed = [market(0, [2]), market(1, [-1]), market(2, [3])];
    const half = market(3, [4, 1]);
    const trades = half.replay.trades.map((trade, at) =>
      at === 0 ? trade : { ...trade, closedMs: null, pnl: null },
    );
    const summary = summarize([...closed, { ...half, replay: { ...half.replay, trades } }], 10);
    const { marketsTraded, sharpePerMarket } = summarize(closed, 10);
    expect(summary).toMatchObject({ marketsTotal: 4, marketsTraded, sharpePerMarket });
    // Its closed trade counts among the trades.
    expect(summary).toMatchObject({ tradesTotal: 4, totalPnl: 8 });
  });

  test('sums the purchases that rested without a fill, where the strategy lets purchases rest', () => {
    const rested = (refused: number, notReached: number) => {
      const { replay, ...rest } = market(refused, []);
      const orders = { ...NO_ORDERS, placed: refused + notReached, resting: { refused, notReached } };
      return { ...rest, replay: { ...replay, orders } };
    };
    const { orders } = summarize([rested(1, 2), market(5, []), rested(3, 4)], 10);
    expect(orders).toEqual({ ...NO_ORDERS, placed: 10, resting: { refused: 4, notReached: 6 } });
  });

  test('covers more markets than a call takes arguments: 5m windows of three tickers over seven months', () => {
    const markets = Array.from({ length: 200_000 }, (_, n) => market(n, [n % 2 === 0 ? 1 : -0.5]));
    const { marketsTraded, sharpePerMarket, sharpeRatio } = summarize(markets, 10);
    expect(marketsTraded).toBe(200_000);
    expect(sharpePerMarket).toBeCloseTo(0.25 / 0.75, 5);
    expect(sharpeRatio).not.toBeNull();
  });

  test('of no markets has no ratios and no infinite values', () => {
    expect(summarize([], 10)).toEqual({
      ...{
        marketsTotal: 0,
        marketsTraded: 0,
        marketsSkipped: [],
        tradesTotal: 0,
        tradesWon: 0,
        winRate: null,
      },
      ...{
        totalPnl: 0,
        totalFees: 0,
        avgPnlPerTrade: null,
        avgSlippage: null,
        orders: NO_ORDERS,
        fillRate: null,
        profitFactor: null,
      },
      ...{ sharpePerMarket: null, sharpeRatio: null, sortinoRatio: null, calmarRatio: null, maxDrawdown: 0 },
      ...{ coverage: null, equityCurve: [], largestTradeShare: null },
    });
    const winner = summarize([market(0, [1])], 10);
    expect([winner.profitFactor, winner.calmarRatio, winner.sharpeRatio, winner.sortinoRatio]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

test.each<[string, number | null, readonly (readonly [timeMs: number, change: number, rank?: 2])[]]>([
  ['without a purchase is not known', null, []],
  [
    'counts positions that are open together',
    12,
    [
      [1, 5],
      [2, 7],
      [3, -5],
      [4, -7],
    ],
  ],
  [
    'is that of the time at which most was held',
    9,
    [
      [5, 4],
      [1, 9],
      [2, -9],
      [6, -4],
    ],
  ],
  [
    'counts only the shares that are left after a sale in parts',
    10,
    [
      [1, 6],
      [2, -4],
      [3, 8],
      [4, -2],
      [5, -8],
    ],
  ],
  [
    'counts money that returns before money that leaves at the same time',
    7,
    [
      [1, 7],
      [2, 6],
      [2, -7],
      [3, -6],
    ],
  ],
  [
    'counts a position that closed in the millisecond in which it opened',
    13,
    [
      [1, 7],
      [2, 6],
      [2, -6, 2],
    ],
  ],
])('the peak cost %s', (_, expected, changes) => {
  const ranked = changes.map(([timeMs, change, rank]) => ({
    ...{ timeMs, change },
    rank: rank ?? (change > 0 ? (1 as const) : (0 as const)),
  }));
  expect(peakCost(ranked)).toBe(expected);
});
