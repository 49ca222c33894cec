import { describe, expect, test } from 'vitest';
import { buyAndSell } from '../../../test/support/strategies.ts';
import { START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { ReplayParams, Strategy } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { prepareMarket } from './prepare.ts';
import { coverageOf, replayMarket } from './replay.ts';
import { summarize } from './summary.ts';

const USD = 1_000_000;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 420_000 };
const BELOW_030: Strategy = { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' };
const BUY_AND_SELL = buyAndSell({ below: 0.3, above: 0.5, tradesMax: 1 });

function replay(
  writer: TapeWriter,
  { strategy = BELOW_030, params = {} }: { strategy?: Strategy; params?: Partial<ReplayParams> } = {},
) {
  const compiled = compileStrategy(strategy);
  const prepared = prepareMarket(writer.tape(), compiled.needs);
  const terms = { strategy: compiled, size: 10 * USD, params: { ...DEFAULT_PARAMS, ...params } };
  const result = replayMarket(prepared, terms, { resolution: RESOLUTION });
  const market = { market: prepared.market, replay: result, coverage: coverageOf(prepared) };
  return { ...result, summary: summarize([market], 10) };
}

/** Asks 0.28 at the decision at 10 s; the given asks from 10.2 s on, before the order is due. */
function movedTo(ask: number): TapeWriter {
  return new TapeWriter()
    .book({ at: 10_000, bids: [[0.26, 100]], asks: [[0.28, 100]] })
    .book({ at: 10_200, bids: [[0.26, 100]], asks: [[ask, 100]] })
    .book({ at: 299_000, bids: [[0.26, 100]], asks: [[ask, 99]] });
}

test('the cost that the venue pays out is that of this market’s shares alone', () => {
  const ledger = new Ledger();
  ledger.buy({ principal: 3 * USD, fee: 0 });
  const compiled = compileStrategy(BELOW_030);
  const prepared = prepareMarket(movedTo(0.28).tape(), compiled.needs);
  const terms = { strategy: compiled, size: 10 * USD, params: DEFAULT_PARAMS };
  const held = replayMarket(prepared, terms, { resolution: RESOLUTION, ledger });
  expect([held.paidOutCost, held.trades[0]?.principal]).toEqual([10 * USD, 10 * USD]);
  expect([ledger.positions, replay(movedTo(0.5)).paidOutCost]).toEqual([3 * USD, 0]);
});

/** Bought at 0.28 and 0.29 from 10 s on; bid 0.6 at 20 s, when the sale is decided, then the given bids. */
function soldAt(bids: readonly (readonly [number, number])[], later: typeof bids = bids): TapeWriter {
  const asks = [[0.9, 100]] as const;
  return new TapeWriter()
    .book({
      at: 10_000,
      bids: [[0.2, 100]],
      asks: [
        [0.28, 10],
        [0.29, 100],
      ],
    })
    .book({ at: 11_000, bids: [[0.2, 99]], asks: [[0.29, 100]] })
    .book({ at: 20_000, bids: [[0.6, 1_000]], asks })
    .book({ at: 20_200, bids, asks })
    .book({ at: 21_000, bids: later, asks })
    .book({ at: 22_000, bids: [...later, [0.1, 5]], asks });
}

test('no order that walks the book is placed before the first book, though best prices are known', () => {
  const book = (writer: TapeWriter, at: number, shares: number) =>
    writer.book({ at, bids: [[0.26, 100]], asks: [[0.28, shares]] });
  const quoted = new TapeWriter().quote({ at: 5_000, bid: 2_600, ask: 2_800, trusted: true });
  const { trades, orders } = replay(book(book(quoted, 10_000, 100), 11_000, 99));
  expect(trades).toMatchObject([{ decidedMs: START_MS + 10_000 }]);
  expect(orders).toMatchObject({ placed: 1, filled: 1 });
});

describe('the limit of an order', () => {
  test('an order decided at 0.28 does not fill at 0.95, and is missed because of its price', () => {
    const { trades, orders } = replay(movedTo(0.95));
    expect(trades).toEqual([]);
    expect(orders).toMatchObject({ placed: 1, filled: 0, missed: { price: 1, no_depth: 0 } });
  });

  test.each([
    ['the default 0.02, at 0.30', {}, 0.3, 1],
    ['the default 0.02, at 0.301', {}, 0.301, 0],
    ['0.1, at 0.38', { max_slippage: 0.1 }, 0.38, 1],
    ['0, at 0.281', { max_slippage: 0 }, 0.281, 0],
    ['none, at 0.95', { max_slippage: null }, 0.95, 1],
    ['none, above the maximum price', { max_slippage: null, max_fill_price: 0.9 }, 0.95, 0],
    ['1, above the maximum price', { max_slippage: 1, max_fill_price: 0.9 }, 0.95, 0],
    ['of an order at the mid, 0.02', { fill_mode: 'mid' }, 0.9, 0],
    ['of an order at the mid, none', { fill_mode: 'mid', max_slippage: null }, 0.9, 1],
  ] as const)('slippage of at most %s', (_, params, ask, filled) => {
    expect(replay(movedTo(ask), { params }).orders.filled).toBe(filled);
  });

  test('a sale is not filled below its decision price minus the allowed slippage, and is offered again', () => {
    const strategy = BUY_AND_SELL;
    const { trades, orders } = replay(soldAt([[0.57, 1_000]]), { strategy });
    expect(orders).toEqual({
      ...{ placed: 3, filled: 2, takenBack: 0 },
      missed: { no_depth: 0, price: 1, untrusted: 0, unconfirmed: 0 },
    });
    expect(trades).toMatchObject([{ exitReason: 'take_profit', exitPrice: 0.57, exitSlippage: 0 }]);
    const free = replay(soldAt([[0.57, 1_000]]), { strategy, params: { max_slippage: null } });
    expect(free.trades[0]?.exitSlippage).toBeCloseTo(0.03, 12);
  });
});

describe('the execution report', () => {
  test('a trade reports its decision time and price, the levels walked, and the slippage of each side', () => {
    const bids = [
      [0.59, 20],
      [0.58, 1_000],
    ] as const;
    const { trades, summary } = replay(soldAt(bids), { strategy: BUY_AND_SELL });
    const shares = 10 + Math.floor(((10 - 2.8) / 0.29) * USD) / USD;
    const entry = (2.8 + 0.29 * (shares - 10)) / shares - 0.28;
    const exit = 0.6 - (0.59 * 20 + 0.58 * (shares - 20)) / shares;
    expect(trades).toMatchObject([
      {
        ...{ decidedMs: START_MS + 10_000, decisionPrice: 0.28, entryLevels: 2, exitLevels: 2 },
        entrySlippage: expect.closeTo(entry, 9),
        exitSlippage: expect.closeTo(exit, 9),
      },
    ]);
    expect(summary.avgSlippage).toBeCloseTo((entry + exit) / 2, 9);
  });

  test('sales of a position are weighted by their shares', () => {
    const { trades } = replay(soldAt([[0.59, 20]], [[0.55, 1_000]]), {
      ...{ strategy: BUY_AND_SELL, params: { max_slippage: null } },
    });
    const left = Math.floor(((10 - 2.8) / 0.29) * USD) / USD + 10 - 20;
    expect(trades[0]).toMatchObject({ exitLevels: 2, exitReason: 'take_profit' });
    // The second sale was decided at the bid it met.
    expect(trades[0]?.exitSlippage).toBeCloseTo((0.01 * 20) / (20 + left), 9);
  });

  test('a position held to the resolution has no exit slippage, and it does not count as zero', () => {
    const { trades, summary } = replay(movedTo(0.29));
    expect(trades).toMatchObject([{ exitSlippage: null, exitLevels: null, exitReason: 'resolved' }]);
    expect(summary.avgSlippage).toBeCloseTo(0.01, 12);
  });

  test('orders reversed by a gap are neither filled nor missed', () => {
    const { orders, summary } = replay(movedTo(0.29).gap({ start: 10_150, known: 299_500, end: null }));
    expect(orders).toEqual({
      ...{ placed: 1, filled: 0, takenBack: 1 },
      missed: { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 },
    });
    expect(summary.fillRate).toBe(0);
  });

  test('without an order there is no fill rate', () => {
    expect(
      replay(new TapeWriter().book({ at: 0, bids: [[0.4, 9]], asks: [[0.5, 9]] })).summary.fillRate,
    ).toBe(null);
  });

  test('an order that finds nothing for sale is missed because of depth', () => {
    const writer = new TapeWriter()
      .book({ at: 10_000, bids: [[0.26, 100]], asks: [[0.28, 100]] })
      .book({ at: 10_200, bids: [[0.26, 100]], asks: [] })
      .book({ at: 11_000, bids: [[0.26, 99]], asks: [] });
    expect(replay(writer).orders.missed).toEqual({ no_depth: 1, price: 0, untrusted: 0, unconfirmed: 0 });
  });
});
