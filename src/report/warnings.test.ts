import { describe, expect, test } from 'vitest';
import { EMPTY_RUN, RUN_CONTEXT, randomRun, runMarket, runTrade } from '../../test/support/runResults.ts';
import { QUEUE_MODELS } from '../core/desk/order.ts';
import { type RunContext, reportOf } from './runReport.ts';

const GOOD = randomRun('good', { markets: 400, edge: 0.1 });
const warnings = (run = GOOD, context: Partial<RunContext> = {}) =>
  reportOf(run, { ...RUN_CONTEXT, ...context }).warnings;
const markets = [0, 1, 2].map((at) => runMarket(at));
const queueModels = (...pnls: readonly number[]) =>
  QUEUE_MODELS.map((model, at) => ({ model, total_pnl: pnls[at] ?? 0, trades_total: 3 }));
/** A window of another asset at the time of the first one. */
const overlapping = runMarket(0, { marketId: runMarket(1).marketId, ticker: 'ETH' });
const trades = (...results: readonly [price: number, won: boolean][]) => ({
  ...EMPTY_RUN,
  markets,
  trades: results.map(([price, won], at) => runTrade(runMarket(at), { price, won })),
});

describe('the warnings of a report', () => {
  test('are none for a long record with a clear edge', () => {
    expect(warnings()).toEqual([]);
  });

  test.each([
    [EMPTY_RUN, {}, 'No trades: the strategy bought nothing that was sold or paid out.'],
    [
      trades([0.5, true]),
      {},
      'Few trades: 1 market was traded. Below 30 no interval and no yearly ratio is computed.',
    ],
    [trades([0.5, true]), {}, 'No trade lost. The recording does not show how large a loss can be.'],
    [
      trades([0.2, true], [0.9, true], [0.1, false]),
      {},
      'One trade made all of the P&L: the other trades together lost money.',
    ],
    [trades([0.2, true], [0.5, true], [0.1, false]), {}, 'One trade made 68 % of the P&L.'],
    [
      randomRun('no edge', { edge: 0 }),
      {},
      'The 95 % interval of the P&L includes zero: chance alone could explain the result.',
    ],
    [
      GOOD,
      { receipt: { ...RUN_CONTEXT.receipt, reproducible: false } },
      'Not reproducible: the strategy used a clock or randomness of its own. Another run may give another result.',
    ],
    [
      GOOD,
      { queueModels: queueModels(30, 4, -12.5) },
      'With the pessimistic queue model the strategy loses 12.50 USD.',
    ],
    [
      GOOD,
      {
        latencyCurve: [
          { latency_ms: 0, total_pnl: 10, trades_total: 9, fill_rate: 1 },
          { latency_ms: 150, total_pnl: -1, trades_total: 9, fill_rate: 1 },
        ],
      },
      'The profit is gone at an order latency of 150 ms.',
    ],
    [
      randomRun('some edge', { markets: 150, edge: 0.08 }),
      { trialsBefore: 5_000 },
      'After 5,000 earlier trials on the same series, the result is not better than chance with 95 % confidence.',
    ],
    [
      { ...trades([0.5, true]), markets: [runMarket(0), runMarket(1, { skipped: 'no_books', coverage: 0 })] },
      {},
      '1 of 2 markets were left out: 1 no_books.',
    ],
    [
      { ...trades([0.5, true], [0.5, false]), markets: [runMarket(0), overlapping] },
      {},
      'Windows of several series overlap. The intervals and ratios count them as independent markets.',
    ],
  ] as const)('%# name the risk', (run, context, text) => {
    expect(warnings(run, context as Partial<RunContext>)).toContain(text);
  });

  test.each([
    [
      'a loss that is the same with every queue model, as of a strategy that only takes',
      [-12.5, -12.5, -12.5],
    ],
    ['a queue model that changes the result, without a loss', [30, 4, 1]],
  ])('do not blame the queue model for %s', (_, pnls) => {
    expect(warnings(GOOD, { queueModels: queueModels(...pnls) })).toEqual([]);
  });

  test('name open positions where nothing else was traded', () => {
    const open = { closedMs: null, exitPrice: null, exitReason: null, pnl: null };
    const trade = runTrade(runMarket(0), { price: 0.5, won: true, ...open });
    expect(warnings({ ...EMPTY_RUN, markets: [runMarket(0)], trades: [trade, trade] })).toEqual([
      'No trades: the strategy bought nothing that was sold or paid out.',
      '2 positions are still open. The P&L does not count open positions.',
    ]);
  });

  test('name open positions and poor coverage', () => {
    const open = { closedMs: null, exitPrice: null, exitReason: null, pnl: null };
    const run = {
      ...EMPTY_RUN,
      markets: [runMarket(0, { coverage: 0.5 }), runMarket(1, { coverage: 0.5 })],
      trades: [
        runTrade(runMarket(0), { price: 0.5, won: true, ...open }),
        runTrade(runMarket(1), { price: 0.5, won: false }),
      ],
    };
    expect(warnings(run).slice(-2)).toEqual([
      '1 position is still open. The P&L does not count open positions.',
      'The book was proven for 50 % of the time. Recordings fail more often in volatile markets.',
    ]);
  });
});
