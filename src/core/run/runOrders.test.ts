import { describe, expect, test } from 'vitest';
import { resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { Context, OwnOrder, ParamSpecs, PlaceOrder } from './definition.ts';
import type { RunTape } from './runTape.ts';
import type { RunTerms } from './terms.ts';

const SHARE = 1_000_000;
const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
type Act = (context: Context<ParamSpecs, unknown>) => void;

/** Offered at 0.40 and bid at 0.38, one book a second, always different in size. */
function quiet(market: Partial<typeof TAPE_MARKET> = {}): RunTape {
  const writer = new TapeWriter(market);
  for (let at = 0; at <= 20_000; at += 1_000)
    writer.book({ at, bids: [[0.38, 100 + at / 1_000]], asks: [[0.4, 200 + at / 1_000]] });
  return { tape: writer.tape(), resolution: WON };
}

/** Acts at the first book event from each time (ms after the window's start) on. */
function run(acts: Readonly<Record<number, Act>>, runs = [quiet()], terms: Partial<RunTerms> = {}) {
  const due = Object.entries(acts).map(([ms, act]) => ({ fromMs: START_MS + Number(ms), act }));
  const changes: OwnOrder[] = [];
  const strategy = strategyOf(
    (event, context) => {
      if (event.type === 'order') changes.push(event.order);
      if (event.type !== 'book') return;
      while (due[0] !== undefined && context.nowMs >= due[0].fromMs) due.shift()?.act(context);
    },
    { tickers: ['BTC', 'ETH'] },
  );
  const result = resultOf(strategy, { runs, terms });
  const ends = result.orders.map(({ outcome, reason }) => [outcome, reason]);
  return { ...result, changes, ends };
}

/** Of 10 shares, unless it has another size or a budget. */
const place =
  (order: Partial<PlaceOrder>): Act =>
  (context) => {
    const amount = order.budget === undefined ? { size: 10 } : {};
    context.place({ marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, ...amount, ...order });
  };
const all =
  (...acts: Act[]): Act =>
  (context) => {
    for (const act of acts) act(context);
  };
const REST = { timeInForce: 'gtc' } as const;

describe('an order', () => {
  test.each<[string, Partial<PlaceOrder>, string]>([
    ['off the tick', { ...REST, limitPrice: 0.305 }, 'not_a_tick'],
    ['below the minimum size', { ...REST, limitPrice: 0.3, size: 4 }, 'below_minimum_size'],
  ])('%s is refused by the venue at once', (_, order, reason) => {
    const { orders, changes } = run({ 1000: place(order) });
    expect(orders).toMatchObject([{ outcome: 'refused', reason, dueMs: null, endedMs: START_MS + 1_000 }]);
    expect(changes).toMatchObject([{ state: 'refused', reason }]);
  });

  test('may have the fine tick where the best price is below 0.04', () => {
    const writer = new TapeWriter();
    for (const at of [0, 1_000, 2_000]) writer.book({ at, bids: [[0.02, 100 + at]], asks: [[0.03, 100]] });
    const act = place({ ...REST, limitPrice: 0.025 });
    expect(run({ 1000: act }, [{ tape: writer.tape(), resolution: WON }]).ends).toEqual([['expired', null]]);
  });

  test('that finds no price within its limit is missed', () => {
    const { orders, changes } = run({ 1000: place({ limitPrice: 0.39 }) });
    expect(orders).toMatchObject([{ outcome: 'missed', reason: 'price', endedMs: START_MS + 2_000 }]);
    expect(changes).toMatchObject([{ state: 'missed', reason: 'price', filledSize: 0, averagePrice: null }]);
  });

  test('has slippage from the best price of its own side at its decision', () => {
    const writer = new TapeWriter();
    const prices = [
      [0.38, 0.4],
      [0.39, 0.41],
      [0.35, 0.37],
      [0.34, 0.36],
    ] as const;
    for (const [n, [bid, ask]] of prices.entries())
      writer.book({ at: 1_000 * n, bids: [[bid, 100]], asks: [[ask, 100]] });
    const acts = { 0: place({ limitPrice: 0.5 }), 2000: place({ action: 'sell', limitPrice: 0.1 }) };
    const { trades } = run(acts, [{ tape: writer.tape(), resolution: WON }]);
    expect(trades).toMatchObject([
      { decisionPrice: 0.4, entryPrice: 0.4, entrySlippage: 0, exitPrice: 0.35 },
    ]);
    expect(trades[0]?.exitSlippage).toBe(0);
  });

  test('is missed if the book of its decision is crossed and still in force when it arrives', () => {
    const writer = new TapeWriter();
    for (const [at, bid] of [
      [0, 0.38],
      [1_000, 0.45],
      [2_000, 0.38],
      [3_000, 0.37],
    ] as const)
      writer.book({ at, bids: [[bid, 100 + at]], asks: [[0.4, 200]] });
    const { ends } = run({ 1000: place({}) }, [{ tape: writer.tape(), resolution: WON }]);
    expect(ends).toEqual([['missed', 'untrusted']]);
  });

  test('has slippage from its own limit if its side was empty at its decision', () => {
    const writer = new TapeWriter();
    for (let at = 0; at < 10_000; at += 1_000) writer.book({ at, bids: [[0.38, 100 + at]] });
    writer.trade({ at: 9_500, side: 'SELL_YES', price: 0.39, shares: 50 });
    const { trades } = run({ 1000: place({ ...REST }) }, [{ tape: writer.tape(), resolution: WON }]);
    expect(trades).toMatchObject([
      { size: 10 * SHARE, decisionPrice: 0.4, entryPrice: 0.4, entrySlippage: 0 },
    ]);
  });
});

describe('a fill', () => {
  /** Asks of 10 shares at 0.40 and 10 at 0.41; then a sale of 6 and one of 4 shares at 0.39. */
  function shallow(): RunTape {
    const writer = new TapeWriter();
    const level = (at: number) =>
      writer.book({
        ...{ at, bids: [[0.38, 100 + at]] },
        asks: [
          [0.4, 10],
          [0.41, 10],
        ],
      });
    for (let at = 0; at < 10_000; at += 1_000) level(at);
    writer.trade({ at: 9_200, side: 'SELL_YES', price: 0.39, shares: 6 });
    writer.trade({ at: 9_400, side: 'SELL_YES', price: 0.39, shares: 4 });
    for (let at = 10_000; at < 15_000; at += 1_000) level(at);
    return { tape: writer.tape(), resolution: WON };
  }

  test('of two levels is charged by the rule of its own time, not of its decision', () => {
    // From 0.072 to 0.07.
    const change = Date.UTC(2026, 4, 31);
    const writer = new TapeWriter({ startTimeMs: change - 60_000, endTimeMs: change + 240_000 });
    for (let at = -5_000; at <= 5_000; at += 1_000)
      writer.book({
        ...{ at: change - START_MS + at, bids: [[0.38, 100 + at / 1_000]] },
        asks: [
          [0.4, 10],
          [0.5, 100],
        ],
      });
    const resolution = { payoutYes: 1, resolvedTimeMs: change + 300_000 };
    const { fills } = run(
      { [change - START_MS - 1_000]: place({ limitPrice: 0.5, size: 30 }) },
      [{ tape: writer.tape(), resolution }],
      { orderLatency: { kind: 'constant', ms: 1_500 } },
    );
    expect(fills.map(({ price, size, fee }) => [price, size / SHARE, fee])).toEqual([
      [4_000, 10, 168_000],
      [5_000, 20, 350_000],
    ]);
  });

  test('of two levels is charged level by level, and one of a maker nothing', () => {
    const acts = { 1000: place({ limitPrice: 0.5, size: 20 }), 5000: place({ ...REST, limitPrice: 0.39 }) };
    const { fills } = run(acts, [shallow()]);
    expect(fills.map(({ liquidity, price, size, fee }) => [liquidity, price, size / SHARE, fee])).toEqual([
      ['taker', 4_000, 10, 168_000],
      ['taker', 4_100, 10, 169_330],
      ['maker', 3_900, 6, 0],
      ['maker', 3_900, 4, 0],
    ]);
  });

  test.each<[string, Partial<PlaceOrder>, string]>([
    ['all shares', { size: 20 }, 'filled'],
    ['fewer shares', { size: 21 }, 'partly_filled'],
    ['all the money but for less than a share’s unit', { budget: 7.777_777 }, 'filled'],
    ['less money', { budget: 8.2 }, 'partly_filled'],
    ['all the money but for 0.00001 USD', { limitPrice: 0.4, budget: 4.000_01 }, 'filled'],
    ['all the money but for more', { limitPrice: 0.4, budget: 4.000_011 }, 'partly_filled'],
  ])('of %s leaves an order that never rests %o %s', (_, order, outcome) => {
    const { ends } = run({ 1000: place({ limitPrice: 0.5, ...order }) }, [shallow()]);
    expect(ends).toEqual([[outcome, null]]);
  });

  test('of a part of a resting order is a change, and the rest stays open', () => {
    const { changes } = run({ 1000: place({ ...REST, limitPrice: 0.39 }) }, [shallow()]);
    expect(changes.map(({ state, filledSize, averagePrice }) => [state, filledSize, averagePrice])).toEqual([
      ['resting', 0, null],
      ['resting', 6, 0.39],
      ['filled', 10, 0.39],
    ]);
  });

  test('that is taken back leaves what the same order had filled before the gap', () => {
    const { tape, resolution } = shallow();
    const gaps = [{ startMs: START_MS + 9_300, knownMs: START_MS + 10_500, endMs: null }];
    const acts = { 1000: place({ ...REST, limitPrice: 0.39 }) };
    const { fills, orders, changes } = run(acts, [{ tape: { ...tape, gaps }, resolution }]);
    expect(fills.map(({ timeMs, size }) => [timeMs - START_MS, size / SHARE])).toEqual([[9_200, 6]]);
    const endedMs = START_MS + 10_500;
    expect(orders).toMatchObject([{ outcome: 'taken_back', endedMs, filledSize: 6 * SHARE }]);
    expect(changes.at(-1)).toMatchObject({ state: 'taken_back', filledSize: 6 });
  });

  test('at the very start of a gap or before it is kept, and its order stays filled', () => {
    const writer = new TapeWriter();
    for (let at = 0; at < 9_000; at += 1_000)
      writer.book({ at, bids: [[0.38, 100 + at]], asks: [[0.4, 200 + at]] });
    writer.gap({ start: 3_200, known: 6_500, end: 8_500 });
    const acts = { 1000: place({}), 3000: place({}), 5000: place({}) };
    const { ends, fills } = run(acts, [{ tape: writer.tape(), resolution: WON }]);
    expect(fills.map(({ orderId, timeMs }) => [orderId, timeMs - START_MS])).toEqual([
      [1, 1_200],
      [2, 3_200],
    ]);
    expect(ends).toEqual([
      ['filled', null],
      ['filled', null],
      ['taken_back', null],
    ]);
  });

  test('that is taken back changes the equity when the gap is detected', () => {
    const writer = new TapeWriter();
    for (let at = 0; at < 9_000; at += 1_000)
      writer.book({ at, bids: [[0.38, 100 + at]], asks: [[0.4, 200 + at]] });
    writer.gap({ start: 1_100, known: 5_500, end: 8_500 });
    const { equity } = run({ 1000: place({}) }, [{ tape: writer.tape(), resolution: WON }], { cashUsd: 100 });
    expect(equity.map(({ timeMs, cash }) => [timeMs - START_MS, cash / SHARE])).toEqual([
      [0, 100],
      [2_000, 100 - 4 - 0.168],
      [5_500, 100],
    ]);
  });
});

test('an order that was never placed cannot be cancelled', () => {
  expect(() => run({ 1000: (context) => context.cancel(7) })).toThrow(new RangeError('no order 7'));
});

describe('open orders', () => {
  test('are those that may still fill, of one market or of all', () => {
    const seen: number[][] = [];
    const look: Act = (context) => {
      for (const marketId of [undefined, ID, '0xother'])
        seen.push(context.openOrders(marketId).map(({ orderId }) => orderId));
    };
    const rest = { ...REST, limitPrice: 0.3 };
    const acts = {
      1000: all(place(rest), place({ ...rest, marketId: '0xother' }), place({}), look),
      3000: (context: Parameters<Act>[0]) => context.cancel(1),
      5000: look,
    };
    run(acts, [quiet(), quiet({ marketId: '0xother' })]);
    expect(seen).toEqual([[1, 2, 3], [1, 3], [2], [2], [], [2]]);
  });
});

test('fills are listed by time, and at one time by order', () => {
  const rest = place({ ...REST, limitPrice: 0.39, size: 10 });
  const writer = new TapeWriter();
  for (let at = 0; at <= 10_000; at += 1_000)
    writer.book({ at, bids: [[0.38, 100 + at]], asks: [[0.4, 200 + at]] });
  writer.trade({ at: 10_500, side: 'SELL_YES', price: 0.39, shares: 20 });
  const acts = { 1000: all(rest, rest), 5000: place({}) };
  const { fills } = run(acts, [{ tape: writer.tape(), resolution: WON }]);
  expect(fills.map(({ orderId, timeMs }) => [orderId, timeMs - START_MS])).toEqual([
    [3, 5_200],
    [1, 10_500],
    [2, 10_500],
  ]);
});

test('purchases, and sales of another token or market, offer no shares of a sale', () => {
  const other = { marketId: '0xother' };
  const sale = { ...REST, action: 'sell', limitPrice: 0.7 } as const;
  const noAsk = { token: 'no', limitPrice: 0.7 } as const;
  const acts = {
    1000: all(place({}), place(noAsk), place(other)),
    3000: all(
      place({ ...REST, limitPrice: 0.3 }),
      place({ ...sale, token: 'no' }),
      place({ ...sale, ...other }),
    ),
    5000: all(place(sale), place({ ...sale, size: 5 })),
  };
  const { ends } = run(acts, [quiet(), quiet(other)]);
  expect(ends.slice(4)).toEqual([
    ['expired', null],
    ['expired', null],
    ['expired', null],
    ['refused', 'no_shares'],
  ]);
});

describe('exposure: 4 USD held and 3 reserved in a market of BTC, and a cap of 10', () => {
  const markets = { same: ID, twin: '0xtwin', eth: '0xeth' };
  const none = { perMarketUsd: null, perTickerUsd: null, totalUsd: null };
  const [filled, refused] = [
    ['filled', null],
    ['refused', 'exposure_cap'],
  ];

  test.each([
    ['perMarketUsd', [refused, filled, filled]],
    ['perTickerUsd', [refused, refused, filled]],
    ['totalUsd', [refused, refused, refused]],
  ] as const)(
    '%s refuses 4 USD more in the same market, another of BTC, and one of ETH: %j',
    (cap, expected) => {
      const ends = Object.values(markets).map((marketId) => {
        const acts = {
          1000: place({}),
          3000: place({ ...REST, limitPrice: 0.3 }),
          5000: place({ marketId }),
        };
        const runs = [quiet(), quiet({ marketId: '0xtwin' }), quiet({ marketId: '0xeth', ticker: 'ETH' })];
        return run(acts, runs, { exposure: { ...none, [cap]: 10 } }).ends.at(-1);
      });
      expect(ends).toEqual(expected);
    },
  );
});

test('a resting sale reserves no cash', () => {
  const cash: (number | null)[] = [];
  const look: Act = (context) => cash.push(context.cash);
  const sale = place({ ...REST, action: 'sell', limitPrice: 0.7 });
  run({ 1000: place({}), 3000: all(look, sale, look), 5000: look }, [quiet()], { cashUsd: 100 });
  expect(new Set(cash)).toEqual(new Set([100 - 4 - 0.168]));
});
