import { describe, expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { Execution, Strategy } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { prepareMarket } from './prepare.ts';
import { replayMarket } from './replay.ts';
import { restingPurchase } from './restingEntry.ts';
import { MarketSession } from './session.ts';
import type { SessionEvent } from './sessionEvents.ts';
import type { MarketTape } from './tape.ts';

const SHARE = 1_000_000;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 420_000 };
const MAKER: Execution = { entry: 'maker', offset: 0, timeout_s: 5, queue_model: 'pessimistic' };
/** Buys while the ask is below 0.30; sells when the bid is above 0.5. */
const STRATEGY: Strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, stop_loss: [] },
  entry: [{ metric: 'token_price', operator: 'below', value: 0.3 }],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0.5 }],
};

const BIDS = [[0.25, 100]] as const;
const ASKS = [[0.28, 100]] as const;

/** A purchase of 40 shares at 0.25 is decided at 10 s and rests behind 100 since 10.05 s. */
function quiet(): TapeWriter {
  return new TapeWriter()
    .book({ at: 10_000, bids: BIDS, asks: ASKS })
    .book({ at: 10_100, bids: BIDS, asks: [[0.28, 99]] });
}

function replay(tape: MarketTape, { execution = MAKER, strategy = STRATEGY } = {}) {
  const compiled = compileStrategy(strategy);
  const terms = { strategy: compiled, size: 10 * SHARE, params: DEFAULT_PARAMS, execution };
  const events: SessionEvent[] = [];
  const ledger = new Ledger();
  const prepared = prepareMarket(tape, compiled.needs);
  const listener = (event: SessionEvent) => void events.push(event);
  const result = replayMarket(prepared, terms, { resolution: RESOLUTION, ledger, listener });
  return { ...result, events, ledger, prepared, terms };
}

describe('a purchase that rests', () => {
  test('is placed with the first book, and not at best prices before it', () => {
    const writer = new TapeWriter().quote({ at: 5_000, bid: 2_500, ask: 2_800, trusted: true });
    const { events } = replay(writer.book({ at: 10_000, bids: BIDS, asks: ASKS }).tape());
    expect(events[0]).toMatchObject({ kind: 'order', knownMs: START_MS + 10_000 });
  });

  test('is filled by the trades that reach it, at its price and without a fee', () => {
    const tape = quiet()
      .trade({ at: 11_000, side: 'SELL_YES', price: 0.25, shares: 110 })
      .trade({ at: 12_000, side: 'BUY_NO', price: 0.75, shares: 200 })
      .book({ at: 13_000, bids: [[0.24, 5]], asks: ASKS });
    const { trades, orders } = replay(tape.tape());
    expect(trades).toEqual([
      {
        ...{ token: 'yes', decidedMs: START_MS + 10_000, openedMs: START_MS + 11_000, size: 40 * SHARE },
        ...{ closedMs: RESOLUTION.resolvedTimeMs, entryPrice: 0.25, exitPrice: 1, exitReason: 'resolved' },
        ...{ principal: 10 * SHARE, fees: 0, decisionPrice: 0.28, entrySlippage: expect.closeTo(-0.03, 12) },
        ...{ exitSlippage: null, entryLevels: 2, exitLevels: null, pnl: 30 * SHARE },
      },
    ]);
    expect(orders).toMatchObject({ placed: 1, filled: 1, resting: { refused: 0, notReached: 0 } });
  });

  test('is cancelled after its timeout, and decided again', () => {
    const tape = quiet()
      .trade({ at: 15_040, side: 'SELL_YES', price: 0.25, shares: 90 })
      .trade({ at: 15_051, side: 'SELL_YES', price: 0.2, shares: 900 })
      .book({ at: 16_000, bids: BIDS, asks: ASKS })
      .book({ at: 17_000, bids: BIDS, asks: [[0.4, 9]] })
      .trade({ at: 17_500, side: 'SELL_YES', price: 0.25, shares: 104 });
    const { trades, orders } = replay(tape.tape());
    expect(trades).toMatchObject([{ decidedMs: START_MS + 16_000, size: 4 * SHARE }]);
    expect(orders).toMatchObject({ placed: 2, filled: 1, resting: { refused: 0, notReached: 1 } });
  });

  test('is refused if it would trade when it arrives', () => {
    const tape = new TapeWriter()
      .book({ at: 10_000, bids: BIDS, asks: ASKS })
      .book({ at: 10_040, bids: [[0.2, 9]], asks: [[0.25, 9]] })
      .book({ at: 10_100, bids: [[0.2, 9]], asks: [[0.4, 9]] });
    expect(replay(tape.tape()).orders).toMatchObject({ placed: 1, resting: { refused: 1, notReached: 0 } });
  });

  test('filled in parts of a unit costs no more than the size', () => {
    const bids = [[0.019, 0]] as const;
    const tape = new TapeWriter().book({ at: 10_000, bids: [[0.019, 1]], asks: [[0.028, 1]] });
    tape.book({ at: 10_100, bids: [[0.019, 1]], asks: [[0.028, 2]] });
    for (let n = 1; n <= 4; n++)
      tape.trade({ at: 10_200 + n, side: 'SELL_YES', price: 0.018, shares: 100.000003 });
    tape.trade({ at: 10_300, side: 'SELL_YES', price: 0.018, shares: 900 });
    const { trades } = replay(tape.book({ at: 10_400, bids, asks: [[0.028, 3]] }).tape());
    expect(trades).toMatchObject([{ size: 526_315_789, principal: 10 * SHARE, entryLevels: 5 }]);
  });

  test('without an ask at the decision, its own limit is the decision price', () => {
    const strategy: Strategy = { type: 'time_before_resolution', minutes_before: 1, side: 'buy_yes' };
    const tape = new TapeWriter()
      .book({ at: 250_000, bids: [[0.97, 100]] })
      .trade({ at: 251_000, side: 'SELL_YES', price: 0.96, shares: 5 })
      .book({ at: 252_000, bids: [[0.97, 90]] });
    const { trades, orders } = replay(tape.tape(), { strategy });
    expect(orders).toMatchObject({ placed: 1, filled: 1 });
    expect(trades).toMatchObject([{ entryPrice: 0.97, decisionPrice: 0.97, entrySlippage: 0 }]);
  });

  test('an exit cancels the unfilled part of the entry, then sells the filled part', () => {
    const tape = quiet()
      .trade({ at: 11_000, side: 'SELL_YES', price: 0.25, shares: 110 })
      .book({ at: 12_000, bids: [[0.6, 500]], asks: [[0.7, 1]] })
      .trade({ at: 12_040, side: 'SELL_YES', price: 0.25, shares: 5 })
      .book({ at: 12_100, bids: [[0.6, 501]], asks: [[0.7, 1]] })
      .book({ at: 13_000, bids: [[0.6, 502]], asks: [[0.7, 1]] });
    const { trades, events } = replay(tape.tape());
    expect(trades).toMatchObject([{ size: 15 * SHARE, exitReason: 'take_profit', exitPrice: 0.6 }]);
    const sale = events.findLast(({ kind }) => kind === 'order');
    expect(sale).toMatchObject({ knownMs: START_MS + 12_100, order: { action: 'sell', size: 15 * SHARE } });
  });

  test('is missed, not unreached, when a gap ends its order', () => {
    const tape = quiet()
      .gap({ start: 11_000, known: 11_500, end: 14_000 })
      .book({ at: 15_000, bids: BIDS, asks: [[0.4, 9]] });
    const { orders, events } = replay(tape.tape());
    expect(orders).toMatchObject({
      placed: 1,
      filled: 0,
      missed: { untrusted: 1 },
      resting: { notReached: 0 },
    });
    expect(events.at(-1)).toMatchObject({ kind: 'miss', knownMs: START_MS + 11_500, reason: 'untrusted' });
  });

  test('fills inside a gap that is detected later are taken back, and the order ends', () => {
    const tape = quiet()
      .trade({ at: 11_000, side: 'SELL_YES', price: 0.25, shares: 110 })
      .trade({ at: 12_000, side: 'SELL_YES', price: 0.25, shares: 7 })
      .gap({ start: 11_500, known: 12_500, end: 14_000 })
      .book({ at: 15_000, bids: BIDS, asks: [[0.4, 9]] })
      .trade({ at: 16_000, side: 'SELL_YES', price: 0.2, shares: 900 });
    const { trades, orders, ledger } = replay(tape.tape());
    expect(trades).toMatchObject([{ size: 10 * SHARE, principal: 2_500_000 }]);
    expect(orders).toMatchObject({ placed: 1, filled: 1, takenBack: 0 });
    expect([ledger.cash, ledger.positions]).toEqual([7_500_000, 0]);
    const all = replay(tape.gap({ start: 10_900, known: 20_000, end: null }).tape());
    expect(all.trades).toEqual([]);
    expect(all.orders).toMatchObject({ placed: 1, filled: 0, takenBack: 1 });
    expect([all.ledger.cash, all.ledger.positions]).toEqual([0, 0]);
  });
});

describe('a price of the underlying while a purchase rests', () => {
  /** Reads the underlying, so that its prices make rows. */
  const strategy: Strategy = {
    ...STRATEGY,
    stop_loss: [{ metric: 'underlying_move_usd', operator: 'above', value: 50_000 }],
  };

  test('does not prove that the purchase reached the venue', () => {
    const tape = new TapeWriter().book({ at: 10_000, bids: BIDS, asks: ASKS }).price(11_000, 97_000);
    const { orders } = replay(tape.tape(), { strategy });
    expect(orders).toMatchObject({ placed: 1, missed: { unconfirmed: 1 }, resting: { notReached: 0 } });
  });

  test('is enough to know that its timeout has ended it', () => {
    const tape = quiet()
      .price(16_000, 97_000)
      .book({ at: 20_000, bids: BIDS, asks: [[0.4, 9]] });
    const { events } = replay(tape.tape(), { strategy });
    const miss = events.find(({ kind }) => kind === 'miss');
    expect(miss).toMatchObject({ knownMs: START_MS + 16_000, reason: 'not_reached' });
  });
});

test.each([
  ['pessimistic', 0],
  ['optimistic', 1],
] as const)('the strategy’s queue model decides who has left the queue: %s', (queue_model, filled) => {
  // 100 more join behind ours, and 60 of the 200 leave without a trade.
  const tape = quiet()
    .book({ at: 10_500, bids: [[0.25, 200]], asks: ASKS })
    .book({ at: 11_000, bids: [[0.25, 140]], asks: ASKS })
    .trade({ at: 13_000, side: 'SELL_YES', price: 0.25, shares: 50 })
    .book({ at: 14_000, bids: [[0.25, 90]], asks: ASKS });
  expect(replay(tape.tape(), { execution: { ...MAKER, queue_model } }).orders.filled).toBe(filled);
});

describe('the limit price', () => {
  const decision = { token: 'yes', bid: 2_500, ask: 2_800, tickSize: 100, maxFillPrice: 9_850 } as const;
  test.each([
    ['the best bid', {}, 0, 2_500],
    ['nearer to the ask', {}, 0.015, 2_600],
    ['never the ask itself', {}, 0.2, 2_700],
    ['deeper in the book', {}, -0.01, 2_400],
    ['on the fine grid', { tickSize: 10 }, 0.0159, 2_650],
    // 0.043 x 10,000 is 429.99999999999994 in doubles.
    ['a tick that decimals reach exactly', { bid: 2_570, ask: 3_500, tickSize: 10 }, 0.043, 3_000],
    ['at most the maximum', { bid: 9_900, ask: 10_000 }, 0, 9_800],
    ['without an ask', { ask: Number.NaN }, 0, 2_500],
    ['without an ask below 1', { bid: 9_800, ask: Number.NaN, maxFillPrice: 10_000 }, 0.05, 9_900],
  ] as const)('%s', (_, more, offset, limitPrice) => {
    const order = restingPurchase({ ...MAKER, offset }, { ...decision, ...more, budget: 10 * SHARE });
    expect(order).toMatchObject({ limitPrice, postOnly: true, timeInForce: 'gtc' });
    expect(order?.size).toBe(Math.floor((10 * SHARE * 10_000) / limitPrice));
  });

  test('does not exist without a bid, or below the first tick', () => {
    for (const bid of [Number.NaN, 90])
      expect(restingPurchase(MAKER, { ...decision, bid, budget: SHARE })).toBeNull();
  });
});

test.each(Object.entries(STRATEGIES))('skipping rows changes nothing: %s', (_name, strategy) => {
  let fills = 0;
  for (let seed = 0; seed < 6; seed++) {
    const shape = { books: 400, levels: 4, gaps: seed % 2 === 0, trades: true };
    const tape = randomTape(`resting ${seed}`, shape);
    const execution = { ...MAKER, timeout_s: seed + 1 };
    const { prepared, terms, events, trades, orders, ledger } = replay(tape, { strategy, execution });
    const told: SessionEvent[] = [];
    const own = new Ledger();
    const { columns: _, ...market } = prepared;
    const listener = (event: SessionEvent) => void told.push(event);
    const session = new MarketSession(market, { terms, ledger: own, listener });
    for (let row = 0; row < prepared.rows.count; row++) session.step(row);
    session.settle(RESOLUTION);
    expect(told, `seed ${seed}`).toEqual(events);
    expect(session.trades()).toEqual(trades);
    expect(session.orders).toEqual(orders);
    expect([own.cash, own.fees, own.won]).toEqual([ledger.cash, ledger.fees, ledger.won]);
    const { placed, filled, missed, takenBack, resting } = orders;
    const unfilled = Object.values(missed).reduce((sum, count) => sum + count, 0);
    const unreached = (resting?.refused ?? 0) + (resting?.notReached ?? 0);
    expect(placed, `seed ${seed}`).toBe(filled + takenBack + unfilled + unreached);
    fills += events.filter(({ kind }) => kind === 'fill').length;
  }
  expect(fills).toBeGreaterThan(0);
});
