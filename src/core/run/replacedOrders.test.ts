import { expect, test } from 'vitest';
import { resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { Context, ParamSpecs } from './definition.ts';
import { OrderRecord } from './orderRecord.ts';

const USD = 1_000_000;
const ID = TAPE_MARKET.marketId;
const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
type Act = (context: Context<ParamSpecs, unknown>) => void;

/** Offered at 0.40 and bid at 0.38 to the end, with a book each second, and trades between them. */
function traded(
  trades: Readonly<Record<number, readonly ['BUY_YES' | 'SELL_YES', number, number]>>,
): TapeWriter {
  const writer = new TapeWriter();
  for (let at = 0; at <= 20_000; at += 1_000) {
    writer.book({ at, bids: [[0.38, 100 + at / 1_000]], asks: [[0.4, 200 + at / 1_000]] });
    const [side, price, shares] = trades[at] ?? [];
    if (side !== undefined && price !== undefined && shares !== undefined)
      writer.trade({ at: at + 500, side, price, shares });
  }
  return writer;
}

/** Acts at the first book from each time (ms after the window's start) on. */
function run(
  writer: TapeWriter,
  acts: Readonly<Record<number, Act>>,
  cashUsd: number | null = null,
  latencyMs = 50,
) {
  const due = Object.entries(acts).map(([ms, act]) => ({ fromMs: START_MS + Number(ms), act }));
  const strategy = strategyOf((event, context) => {
    if (event.type !== 'book') return;
    while (due[0] !== undefined && context.nowMs >= due[0].fromMs) due.shift()?.act(context);
  });
  const { orders, trades, equity } = resultOf(strategy, {
    runs: [{ tape: writer.tape(), resolution: WON }],
    terms: { cashUsd, orderLatency: { kind: 'constant', ms: latencyMs } },
  });
  const ends = orders.map(({ outcome, reason, filledSize }) => [outcome, reason, filledSize / USD]);
  return { ends, trades, equity };
}

const rest =
  (action: 'buy' | 'sell', limitPrice: number, size: number): Act =>
  (context) => {
    context.place({ marketId: ID, token: 'yes', action, limitPrice, size, postOnly: true });
  };
const take =
  (size: number): Act =>
  (context) => {
    context.place({ marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size });
  };
const reprice =
  (orderId: number, limitPrice: number): Act =>
  (context) => {
    context.replace(orderId, { limitPrice });
  };

test('a sale that is repriced keeps its reason', () => {
  const writer = traded({ 8000: ['BUY_YES', 0.45, 60] });
  const sale: Act = (context) => {
    const order = { marketId: ID, token: 'yes', action: 'sell', limitPrice: 0.45, size: 10 } as const;
    context.place({ ...order, postOnly: true, reason: 'take_profit' });
  };
  const { trades } = run(writer, { 1000: take(10), 3000: sale, 5000: reprice(2, 0.44) });
  expect(trades).toMatchObject([{ exitReason: 'take_profit', exitPrice: 0.44 }]);
});

test('an order that is repriced keeps its expiry', () => {
  const acts: Record<number, Act> = {
    1000: (context) => {
      const order = { marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.31, size: 10 } as const;
      context.place({ ...order, timeInForce: 'gtd', expiresMs: START_MS + 9_500 });
    },
    3000: reprice(1, 0.32),
  };
  expect(run(traded({ 9000: ['SELL_YES', 0.3, 4], 11000: ['SELL_YES', 0.3, 40] }), acts).ends).toEqual([
    ['cancelled', 'replaced', 0],
    ['expired', null, 4],
  ]);
});

test('the rest of a sale that was filled in parts can be repriced again and again', () => {
  const writer = traded({
    5000: ['BUY_YES', 0.46, 60],
    8000: ['BUY_YES', 0.45, 30],
    11000: ['BUY_YES', 0.44, 4],
    14000: ['BUY_YES', 0.43, 70],
  });
  const sale = { 3000: rest('sell', 0.45, 100), 7000: reprice(2, 0.44), 10000: reprice(3, 0.43) };
  const { ends, trades } = run(writer, { 1000: take(100), ...sale, 13000: reprice(4, 0.42) });
  expect(ends.slice(1)).toEqual([
    ['cancelled', 'replaced', 60],
    ['cancelled', 'replaced', 30],
    ['cancelled', 'replaced', 4],
    ['filled', null, 6],
  ]);
  expect(trades).toMatchObject([{ size: 100 * USD, exitReason: 'sold' }]);
});

test('the rest of a purchase that was filled in part needs cash for the rest alone', () => {
  const writer = traded({ 5000: ['SELL_YES', 0.3, 60], 8000: ['SELL_YES', 0.31, 40] });
  const acts = { 1000: rest('buy', 0.31, 100), 7000: reprice(1, 0.32) };
  expect(run(writer, acts, 40).ends).toEqual([
    ['cancelled', 'replaced', 60],
    ['filled', null, 40],
  ]);
});

test('the rest of a purchase that was filled in part reserves the cost of the rest', () => {
  const seen: (number | null)[] = [];
  const writer = traded({ 5000: ['SELL_YES', 0.3, 60] });
  const look: Act = (context) => seen.push(context.cash);
  run(writer, { 1000: rest('buy', 0.31, 100), 7000: reprice(1, 0.32), 9000: look }, 40);
  expect(seen).toEqual([expect.closeTo(40 - 60 * 0.31 - 40 * 0.32, 2)]);
});

test('a replacement and what it replaces reserve the larger of the two', () => {
  const seen: (number | null)[] = [];
  const acts: Record<number, Act> = {
    1000: rest('buy', 0.31, 100),
    3000: (context) => {
      context.replace(1, { limitPrice: 0.32 });
      context.replace(2, { limitPrice: 0.3 });
      seen.push(context.cash);
    },
    5000: (context) => seen.push(context.cash),
  };
  run(traded({}), acts, 40);
  expect(seen).toEqual([expect.closeTo(40 - 32, 2), expect.closeTo(40 - 30, 2)]);
});

test('a replacement on its way reserves the rest alone as soon as a trade fills a part of what it replaces', () => {
  const seen: (number | null)[] = [];
  const look: Act = (context) => seen.push(context.cash);
  const acts: Record<number, Act> = {
    1000: rest('buy', 0.31, 100),
    5000: (context) => {
      context.replace(1, { limitPrice: 0.32 });
      look(context);
    },
    6000: look,
    8000: look,
  };
  const { ends } = run(traded({ 5000: ['SELL_YES', 0.3, 40] }), acts, 40, 1_500);
  expect(ends).toEqual([
    ['cancelled', 'replaced', 40],
    ['expired', null, 0],
  ]);
  const spent = 40 * 0.31;
  expect(seen).toEqual([
    expect.closeTo(40 - 100 * 0.32, 2),
    expect.closeTo(40 - spent - 60 * 0.32, 2),
    expect.closeTo(40 - spent - 60 * 0.32, 2),
  ]);
});

test('of two replacements of a purchase, the one that takes its place keeps the money that it can cost', () => {
  const writer = new TapeWriter();
  for (const at of [1_000, 2_000, 3_000, 3_100, 4_000, 5_000])
    writer.book({ at, bids: [[0.38, 100 + at]], asks: [[0.4, 200 + at]] });
  const acts: Record<number, Act> = {
    1000: (context) => {
      const order = { marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.38, size: 50 } as const;
      context.place({ ...order, timeInForce: 'gtc' });
    },
    3000: (context) => {
      context.replace(1, { limitPrice: 0.4 });
      context.replace(1, { size: 5 });
    },
    // The first replacement has cancelled the order, would trade at once, and is held until 3200.
    3100: take(40),
  };
  expect(run(writer, acts, 22).ends).toEqual([
    ['cancelled', 'replaced', 0],
    ['filled', null, 50],
    ['refused', 'replaced_order_ended', 0],
    ['refused', 'no_cash', 0],
  ]);
});

test('two replacements of one purchase reserve the larger of the two, also when one has taken its place', () => {
  const seen: (number | null)[] = [];
  const acts: Record<number, Act> = {
    1000: rest('buy', 0.31, 100),
    3000: (context) => {
      context.replace(1, { limitPrice: 0.32 });
      seen.push(context.cash);
      context.replace(1, { limitPrice: 0.33 });
      seen.push(context.cash);
    },
    5000: (context) => seen.push(context.cash),
  };
  run(traded({}), acts, 40);
  expect(seen).toEqual([40 - 32, 40 - 33, 40 - 32].map((cash) => expect.closeTo(cash, 2)));
});

test('a sale can be repriced twice before the first replacement arrives: the first takes its place', () => {
  const acts: Record<number, Act> = {
    1000: take(100),
    3000: rest('sell', 0.45, 100),
    5000: (context) => {
      reprice(2, 0.46)(context);
      reprice(2, 0.44)(context);
    },
  };
  expect(run(traded({ 8000: ['BUY_YES', 0.48, 500] }), acts).ends.slice(1)).toEqual([
    ['cancelled', 'replaced', 0],
    ['filled', null, 100],
    ['refused', 'replaced_order_ended', 0],
  ]);
});

test('after a replacement sold all shares, a rival that the venue has yet to refuse hides no lack of shares', () => {
  const writer = new TapeWriter();
  for (let at = 0; at <= 8_000; at += 50)
    writer.book({ at, bids: [[0.38, 500 + at]], asks: [[0.4, 500 + at]] });
  const acts: Record<number, Act> = {
    1000: take(100),
    3000: (context) => {
      const order = { marketId: ID, token: 'yes', action: 'sell', limitPrice: 0.45, size: 100 } as const;
      context.place({ ...order, timeInForce: 'gtc' });
    },
    5000: reprice(2, 0.3),
    5400: reprice(2, 0.44),
    // The first replacement was filled at 5600, and the second arrives at 5800.
    5750: rest('sell', 0.45, 100),
  };
  expect(run(writer, acts, null, 400).ends.slice(1)).toEqual([
    ['cancelled', 'replaced', 0],
    ['filled', null, 100],
    ['refused', 'replaced_order_ended', 0],
    ['refused', 'no_shares', 0],
  ]);
});

test('a sale can be repriced again before its first replacement arrives, and the rest of the shares sold', () => {
  const acts: Record<number, Act> = {
    1000: take(100),
    3000: rest('sell', 0.45, 60),
    5000: (context) => {
      reprice(2, 0.46)(context);
      reprice(3, 0.44)(context);
      rest('sell', 0.47, 40)(context);
    },
  };
  expect(run(traded({ 8000: ['BUY_YES', 0.48, 500] }), acts).ends).toEqual([
    ['filled', null, 100],
    ['cancelled', 'replaced', 0],
    ['cancelled', 'replaced', 0],
    ['filled', null, 60],
    ['filled', null, 40],
  ]);
});

test('while a smaller replacement is on its way, the shares of what it replaces cannot be sold again', () => {
  const acts: Record<number, Act> = {
    1000: take(100),
    3000: rest('sell', 0.45, 60),
    5000: (context) => {
      context.replace(2, { size: 20 });
      rest('sell', 0.47, 41)(context);
    },
  };
  expect(run(traded({}), acts).ends.at(-1)).toEqual(['refused', 'no_shares', 0]);
});

test('once a smaller replacement has arrived, the shares that it leaves can be sold', () => {
  const acts: Record<number, Act> = {
    1000: take(100),
    3000: rest('sell', 0.45, 60),
    5000: (context) => context.replace(2, { size: 20 }),
    8000: (context) => {
      rest('sell', 0.47, 81)(context);
      rest('sell', 0.47, 80)(context);
    },
  };
  expect(run(traded({}), acts).ends.slice(1)).toEqual([
    ['cancelled', 'replaced', 0],
    ['expired', null, 0],
    ['refused', 'no_shares', 0],
    ['expired', null, 0],
  ]);
});

test('an order can be repriced tens of thousands of times', () => {
  const terms = {
    ...({ token: 'yes', action: 'buy', limitPrice: 3_000, timeInForce: 'gtc' } as const),
    ...{ size: 100 * USD, budget: null, expiresMs: null, postOnly: true },
  };
  const decision = {
    marketId: ID,
    terms,
    decidedMs: 1,
    best: 3_000,
    saleReason: 'sold',
    atEntry: null,
  } as const;
  let newest: OrderRecord | null = null;
  for (let orderId = 1; orderId <= 30_000; orderId++) {
    if (newest !== null) newest.endedMs = orderId;
    newest = new OrderRecord({ ...decision, orderId, replaces: newest });
  }
  expect(newest?.open.size).toBe(100 * USD);
});
