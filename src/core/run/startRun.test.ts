import { describe, expect, it, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, laterTape, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { Context, ParamSpecs, StrategyEvent } from './definition.ts';
import { itemsOf } from './itemsOf.ts';
import type { RunTape } from './runTape.ts';
import { startRun } from './startRun.ts';

const USD = 1_000_000;
const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
type Act = (context: Context<ParamSpecs, unknown>) => void;

/** Offered at 0.40 and bid at 0.38, one book a second, always different in size. */
function quiet(until = 20_000): TapeWriter {
  const writer = new TapeWriter();
  for (let at = 0; at <= until; at += 1_000)
    writer.book({ at, bids: [[0.38, 100 + at / 1_000]], asks: [[0.4, 200 + at / 1_000]] });
  return writer;
}

const run = (writer: TapeWriter, resolution: RunTape['resolution'] = WON): RunTape[] => [
  { tape: writer.tape(), resolution },
];

/** Acts at the first book event from each time (ms after the window's start) on. */
function at(acts: Readonly<Record<number, Act>>, events: StrategyEvent[] = []) {
  const due = Object.entries(acts).map(([ms, act]) => ({ fromMs: START_MS + Number(ms), act }));
  return strategyOf((event, context) => {
    events.push(event);
    if (event.type !== 'book') return;
    while (due[0] !== undefined && context.nowMs >= due[0].fromMs) due.shift()?.act(context);
  });
}

const buy =
  (size: number, more: object = {}): Act =>
  (context) => {
    context.place({ marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size, ...more });
  };
const sell =
  (size: number, more: object = {}): Act =>
  (context) => {
    context.place({ marketId: ID, token: 'yes', action: 'sell', limitPrice: 0.3, size, ...more });
  };
const changes = (events: readonly StrategyEvent[]) =>
  events.flatMap((event) =>
    event.type === 'order' ? [[event.order.orderId, event.order.state, event.order.reason]] : [],
  );

describe('what a strategy sees', () => {
  test('events in order of arrival, each with the state of its time', () => {
    const seen: unknown[] = [];
    const strategy = strategyOf(
      (event, context) => seen.push([event.type, event.timeMs - START_MS, context.book(ID).bestAsk('yes')]),
      { priceSources: [] },
    );
    const writer = quiet(1_000).price(1_500, 97_100).gap({ start: 1_600, known: 1_700, end: 1_800 });
    resultOf(strategy, { runs: run(writer.book({ at: 2_000, bids: [], asks: [[0.5, 1]] })) });
    expect(seen).toEqual([
      ['market', 0, null],
      ...[
        ['book', 0, 0.4],
        ['book', 1_000, 0.4],
        ['price', 1_500, 0.4],
      ],
      ...[
        ['gap', 1_700, 0.4],
        ['gap_end', 1_800, 0.4],
        ['market', 2_000, 0.4],
        ['book', 2_000, 0.5],
      ],
      ...[['resolved', 360_000, 0.5]],
    ]);
  });

  test('a market and its strike only after they were received', () => {
    const strikes: unknown[] = [];
    let before: unknown = null;
    const strategy = strategyOf((event, context) => {
      before ??= (() => {
        try {
          return context.market('0xlater');
        } catch (error) {
          return error;
        }
      })();
      if (event.type === 'market') strikes.push([event.timeMs - START_MS, context.market(ID).strikePrice]);
    });
    resultOf(strategy, { runs: run(quiet(4_000)) });
    expect(before).toEqual(new RangeError('market "0xlater" has not been received'));
    expect(strikes).toEqual([
      [0, null],
      [2_000, 97_000],
    ]);
  });

  test('the tick in USDC and the smallest order in shares', () => {
    const terms = new Set<string>();
    const strategy = strategyOf((_event, context) => {
      for (const { tickSize, minimumOrderSize } of context.markets())
        terms.add(JSON.stringify({ tickSize, minimumOrderSize }));
    });
    resultOf(strategy, { runs: run(quiet(4_000)) });
    expect([...terms]).toEqual([JSON.stringify({ tickSize: 0.01, minimumOrderSize: 5 })]);
  });

  test('only changes of best prices without `books`, and no trades or prices that it did not ask for', () => {
    const kinds: string[] = [];
    const strategy = strategyOf(({ type }) => kinds.push(type), { books: false });
    const writer = quiet(5_000)
      .price(5_500, 97_000)
      .book({ at: 6_000, bids: [[0.38, 1]], asks: [[0.41, 1]] });
    resultOf(strategy, { runs: run(writer) });
    expect(kinds).toEqual(['market', 'book', 'market', 'book', 'resolved']);
  });

  test('a clock event for each period that has passed, before what follows it', () => {
    const beats: number[] = [];
    const strategy = strategyOf(({ type, timeMs }) => type === 'clock' && beats.push(timeMs - START_MS), {
      clockMs: 4_000,
    });
    const writer = quiet(9_500).book({ at: 30_500, bids: [[0.3, 1]], asks: [] });
    resultOf(strategy, { runs: run(writer, null) });
    expect(beats).toEqual([4_000, 8_000, 28_000]);
  });

  test('nothing of a market that it did not ask for, whose gaps and trades are no errors', () => {
    const seen: string[] = [];
    const writer = new TapeWriter({ ticker: 'ETH' })
      .book({ at: 0, bids: [[0.38, 100]], asks: [[0.4, 200]] })
      .trade({ at: 500, side: 'BUY_YES', price: 0.4, shares: 10 })
      .gap({ start: 600, known: 700, end: 800 })
      .book({ at: 1_000, bids: [[0.37, 100]], asks: [[0.4, 200]] });
    const result = resultOf(
      strategyOf(({ type }) => seen.push(type), { trades: true }),
      { runs: run(writer) },
    );
    expect([seen, result.orders, result.trades, result.markets]).toEqual([[], [], [], []]);
  });

  test('random numbers that depend on the seed alone', () => {
    const drawn = (seed: number) => {
      const numbers: number[] = [];
      resultOf(
        strategyOf((_, context) => numbers.push(context.random())),
        { runs: run(quiet()), terms: { seed } },
      );
      return numbers;
    };
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(2)).not.toEqual(drawn(1));
  });

  it('may keep an event: it is never changed', () => {
    const events: StrategyEvent[] = [];
    const texts: string[] = [];
    const strategy = strategyOf((event) => {
      events.push(event);
      texts.push(JSON.stringify(event));
    });
    resultOf(strategy, { runs: run(quiet()) });
    expect(events.map((event) => JSON.stringify(event))).toEqual(texts);
    expect(new Set(events).size).toBe(events.length);
  });

  test('an unknown market, an item before its market, and the model without asking for it, are errors', () => {
    const fails = (act: Act) => () => resultOf(at({ 0: act }), { runs: run(quiet(0)) });
    expect(fails((context) => context.book('0xno'))).toThrow(
      new RangeError('market "0xno" has not been received'),
    );
    expect(fails((context) => context.openOrders('0xno'))).toThrow(
      new RangeError('market "0xno" has not been received'),
    );
    expect(fails((context) => context.model(ID))).toThrow(
      new RangeError('the model needs `model: true` in the inputs'),
    );
    const runner = startRun({ definition: at({}), params: {}, terms: RUN_TERMS });
    const [, book] = [...itemsOf(run(quiet(0)))];
    expect(() => runner.push(book!)).toThrow(
      new RangeError(`an item of market ${ID} before the market itself`),
    );
  });
});

describe('orders', () => {
  test('are filled after latency and hold, reported once, and traded', () => {
    const events: StrategyEvent[] = [];
    const result = resultOf(at({ 5000: buy(10), 9000: sell(4, { reason: 'take_profit' }) }, events), {
      runs: run(quiet()),
    });
    expect(changes(events)).toEqual([
      [1, 'filled', null],
      [2, 'filled', null],
    ]);
    expect(result.fills).toMatchObject([
      {
        orderId: 1,
        timeMs: START_MS + 5_200,
        liquidity: 'taker',
        price: 4_000,
        size: 10 * USD,
        fee: 168_000,
      },
      { orderId: 2, timeMs: START_MS + 9_200, price: 3_800, size: 4 * USD },
    ]);
    expect(result.trades).toMatchObject([
      {
        marketId: ID,
        token: 'yes',
        size: 10 * USD,
        exitReason: 'resolved',
        liquidity: 'taker',
        atEntry: { secondsToEnd: 295, volatility: null, modelProbability: null },
      },
    ]);
    expect(result.orders.map(({ outcome, dueMs }) => [outcome, dueMs])).toEqual([
      ['filled', START_MS + 5_200],
      ['filled', START_MS + 9_200],
    ]);
  });

  test('of several purchases make one position, until its last share is sold', () => {
    const acts = { 2000: buy(10), 4000: buy(5), 6000: sell(15), 8000: buy(1) };
    const { trades } = resultOf(at(acts), { runs: run(quiet()) });
    expect(trades.map(({ size, exitReason }) => [size / USD, exitReason])).toEqual([
      [15, 'sold'],
      [1, 'resolved'],
    ]);
  });

  test('that rest are accepted, cancelled, replaced and expire', () => {
    const events: StrategyEvent[] = [];
    const rest = { limitPrice: 0.3, timeInForce: 'gtc' } as const;
    const acts: Record<number, Act> = {
      1000: buy(10, rest),
      4000: (context) => context.replace(1, { limitPrice: 0.31 }),
      8000: (context) => context.cancel(2),
      12000: buy(10, { ...rest, timeInForce: 'gtd', expiresMs: START_MS + 15_000 }),
    };
    resultOf(at(acts, events), { runs: run(quiet()) });
    expect(changes(events)).toEqual([
      ...[
        [1, 'resting', null],
        [1, 'cancelled', 'replaced'],
        [2, 'resting', null],
      ],
      ...[
        [2, 'cancelled', 'asked'],
        [3, 'resting', null],
        [3, 'expired', null],
      ],
    ]);
  });

  test('in a gap that is detected later are taken back, with their money', () => {
    const events: StrategyEvent[] = [];
    const writer = quiet().gap({ start: 5_100, known: 9_500, end: 10_500 });
    const result = resultOf(at({ 2000: buy(3), 5000: buy(10) }, events), {
      runs: run(writer),
      terms: { cashUsd: 100 },
    });
    expect(changes(events)).toEqual([
      [1, 'filled', null],
      [2, 'filled', null],
      [2, 'taken_back', null],
    ]);
    expect(result.fills.map(({ orderId }) => orderId)).toEqual([1]);
    expect(result.trades.map(({ size }) => size)).toEqual([3 * USD]);
    const cost = 3 * 0.4 * USD + 50_400;
    expect(result.equity.at(-1)).toMatchObject({ cash: 100 * USD - cost + 3 * USD });
  });

  test.each<[string, Record<number, Act>, string]>([
    ['more shares than are held', { 1000: sell(1) }, 'no_shares'],
    [
      'shares that another order offers',
      { 1000: buy(5), 3000: (context) => [sell(5)(context), sell(5)(context)] },
      'no_shares',
    ],
    ['more than the purse has', { 1000: buy(250) }, 'no_cash'],
    ['more than one market may have', { 1000: buy(130) }, 'exposure_cap'],
  ])('for %s are refused', (_, acts, reason) => {
    const events: StrategyEvent[] = [];
    const terms = { cashUsd: 90, exposure: { perMarketUsd: 50, perTickerUsd: null, totalUsd: null } };
    resultOf(at(acts, events), { runs: run(quiet()), terms });
    expect(changes(events).filter(([, state]) => state === 'refused')).toEqual([
      [expect.any(Number), 'refused', reason],
    ]);
  });

  test.each<[object, string]>([
    [{ size: 0 }, 'order: size: expected shares above 0, got 0'],
    [{ budget: 1 }, 'order: exactly one of size and budget is given, got {"size":10,"budget":1}'],
    [{ limitPrice: 1.1 }, 'order: limitPrice: expected USDC from 0 to 1, got 1.1'],
    [{ limitPrice: undefined }, 'order: limitPrice: expected USDC from 0 to 1, got nothing'],
    [{ token: 'up' }, 'order: token: expected yes or no, got "up"'],
    [{ timeInForce: 'ioc' }, 'order: timeInForce: expected one of fak, fok, gtc, gtd, got "ioc"'],
    [
      { postOnly: true, timeInForce: 'fok' },
      'order: postOnly: only orders that rest, gtc and gtd, got "fok"',
    ],
    [{ timeInForce: 'gtd', expiresMs: 5 }, 'order: expiresMs: a gtd order expires later than now, got 5'],
    [{ reason: 'sold' }, 'order: reason: of a sale, one of sold, take_profit, stop_loss, got "sold"'],
    [{ placedMs: 1 }, 'order: unknown field "placedMs"'],
  ])('with %o are malformed', (more, message) => {
    expect(() => resultOf(at({ 0: buy(10, more) }), { runs: run(quiet(0)) })).toThrow(
      new RangeError(message),
    );
  });

  test('may cause ten thousand order events within one item', () => {
    let left = 10_000;
    const strategy = strategyOf((event, context) => {
      if ((event.type === 'book' || event.type === 'order') && left-- > 0) sell(1)(context);
    });
    expect(resultOf(strategy, { runs: run(quiet(0)) }).orders).toHaveLength(10_000);
  });

  test('placed in answer to every refusal end the run with an error', () => {
    const strategy = strategyOf((event, context) => {
      if (event.type === 'book' || event.type === 'order') sell(1)(context);
    });
    expect(() => resultOf(strategy, { runs: run(quiet(0)) })).toThrow(
      new RangeError('more than 10000 order events in one item: do the orders end?'),
    );
  });
});

describe('the money of a run', () => {
  test('is cash, reserved, locked or marked at any time', () => {
    const acts = { 1000: buy(10), 3000: buy(20, { limitPrice: 0.2, timeInForce: 'gtc' }) };
    const runs = run(quiet(), { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 });
    const later = laterTape(quiet().tape(), { marketId: '0xlater', laterMs: 600_000, afterSeq: 1_000 });
    runs.push({ tape: later, resolution: null });
    const { equity } = resultOf(at(acts), { runs, terms: { cashUsd: 100, redemptionDelayMs: 120_000 } });
    const cost = 4 * USD + 168_000;
    const points = equity.map(({ timeMs, ...point }) => [timeMs - START_MS, point]);
    expect(points[0]).toEqual([0, { cash: 100 * USD, reserved: 0, locked: 0, marked: 0 }]);
    // Bought at 0.40, marked at the bid of 0.38.
    expect(points[1]).toEqual([2_000, { cash: 100 * USD - cost, reserved: 0, locked: 0, marked: 3_800_000 }]);
    const paid = points.find(([, point]) => (point as { locked: number }).locked === 10 * USD);
    expect(paid).toEqual([360_000, { cash: 100 * USD - cost, reserved: 0, locked: 10 * USD, marked: 0 }]);
    expect(points.at(-1)?.[1]).toEqual({ cash: 110 * USD - cost, reserved: 0, locked: 0, marked: 0 });
  });

  test('counts a position at its cost while the book is not proven or has no bid', () => {
    const asks = [[0.4, 100]] as const;
    const writer = quiet(5_000)
      .book({ at: 15_000, bids: [[0.3, 1]], asks, trusted: false })
      .book({ at: 26_000, bids: [], asks })
      .book({ at: 37_000, bids: [[0.3, 1]], asks });
    const { equity } = resultOf(at({ 1000: buy(10) }), { runs: run(writer), terms: { cashUsd: 100 } });
    const marked = equity.map(({ timeMs, marked }) => [timeMs - START_MS, marked / USD]);
    expect(marked.slice(1, -1)).toEqual([
      [2_000, 3.8],
      [15_000, 4],
      [26_000, 4],
      [37_000, 3],
    ]);
  });

  test('that is reserved or held is equity of the strategy, and no cash', () => {
    const seen: unknown[] = [];
    const acts: Record<number, Act> = {
      1000: buy(10),
      3000: buy(20, { limitPrice: 0.2, postOnly: true }),
      5000: ({ cash, equity }) => seen.push(cash, equity),
    };
    resultOf(at(acts), { runs: run(quiet()), terms: { cashUsd: 100 } });
    const bought = 100 - 4 - 0.168;
    expect(seen).toEqual([expect.closeTo(bought - 4.001, 9), expect.closeTo(bought + 3.8, 9)]);
  });

  test('that waits for its redemption is equity of the strategy, and no cash', () => {
    const seen: unknown[] = [];
    const acts: Record<number, Act> = {
      1000: buy(10),
      601000: ({ cash, equity }) => seen.push(cash, equity),
    };
    const later = laterTape(quiet().tape(), { marketId: '0xlater', laterMs: 600_000, afterSeq: 1_000 });
    const runs = [...run(quiet()), { tape: later, resolution: null }];
    resultOf(at(acts), { runs, terms: { cashUsd: 100, redemptionDelayMs: 600_000 } });
    const cash = 100 - 4 - 0.168;
    expect(seen).toEqual([expect.closeTo(cash, 9), expect.closeTo(cash + 10, 9)]);
  });

  test('that is redeemed when a market without a position resolves is cash from then on', () => {
    const later = laterTape(quiet().tape(), { marketId: '0xlater', laterMs: 300_000, afterSeq: 1_000 });
    const timeMs = END_MS + 360_000;
    const runs = [...run(quiet()), { tape: later, resolution: { payoutYes: 0, resolvedTimeMs: timeMs } }];
    const terms = { cashUsd: 100, redemptionDelayMs: 120_000 };
    const { equity } = resultOf(at({ 1000: buy(10) }), { runs, terms });
    expect(equity.at(-1)).toEqual({ timeMs, cash: 106 * USD - 168_000, reserved: 0, locked: 0, marked: 0 });
  });

  test('of an unlimited purse is not known to the strategy', () => {
    const seen: unknown[] = [];
    resultOf(at({ 0: ({ cash, equity }) => seen.push(cash, equity) }), { runs: run(quiet(0)) });
    expect(seen).toEqual([null, null]);
  });

  test('a resting purchase reserves its cost until it ends', () => {
    const seen: (number | null)[] = [];
    const cash: Act = (context) => seen.push(context.cash);
    const rest = buy(100, { limitPrice: 0.3, postOnly: true });
    const acts: Record<number, Act> = {
      1000: rest,
      3000: cash,
      5000: (context) => context.cancel(1),
      8000: cash,
    };
    resultOf(at(acts), { runs: run(quiet()), terms: { cashUsd: 100 } });
    expect(seen).toEqual([expect.closeTo(70, 2), 100]);
  });
});

test('a gap after a taker’s fill takes back a maker’s later fill, though that was known first', () => {
  const writer = new TapeWriter();
  const level = (ms: number) => writer.book({ at: ms, bids: [[0.38, 100 + ms]], asks: [[0.4, 200 + ms]] });
  for (const ms of [0, 1_000, 2_000, 3_000, 4_000, 5_000]) level(ms);
  // A book of exactly the due time confirms no fill; the maker's trade arrives before the next book.
  level(5_200);
  writer.trade({ at: 5_500, side: 'SELL_YES', price: 0.39, shares: 10 });
  for (const ms of [6_000, 7_000, 9_000, 10_000]) level(ms);
  writer.gap({ start: 5_200, known: 8_000, end: 8_500 });
  const rest = buy(10, { limitPrice: 0.39, timeInForce: 'gtc' });
  const take = buy(30, { timeInForce: 'fak' });
  const result = resultOf(at({ 1000: rest, 5000: take }), { runs: run(writer), terms: { cashUsd: 1_000 } });
  expect(result.fills.map(({ liquidity, size }) => [liquidity, size])).toEqual([['taker', 30 * USD]]);
  const [trade] = result.trades;
  expect(result.trades).toMatchObject([{ size: 30 * USD, principal: 12 * USD, liquidity: 'taker' }]);
  expect(trade?.pnl).toBe(18 * USD - (trade?.fees ?? 0));
  expect(result.equity.at(-1)?.cash).toBe(1_000 * USD + (trade?.pnl ?? 0));
});

test('a market without books, data or resolution is listed with the reason', () => {
  const empty = new TapeWriter().tape();
  const untrusted = new TapeWriter().book({ at: 5, bids: [[0.3, 1]], asks: [], trusted: false }).tape();
  const skipped = (tape: RunTape['tape'], resolution: RunTape['resolution']) =>
    resultOf(
      strategyOf(() => {}),
      { runs: [{ tape, resolution }] },
    ).markets[0]?.skipped;
  expect(skipped(quiet().tape(), null)).toBe('unresolved');
  expect(skipped(quiet().tape({ books: false }), WON)).toBe('no_books');
  expect(skipped(untrusted, WON)).toBe('gap');
  expect(skipped(empty, WON)).toBe('no_books');
  expect(skipped(quiet().tape(), WON)).toBe(null);
});

test('a market whose first books are no longer stored is left out, as in a gap', () => {
  const tape = new TapeWriter()
    .quote({ at: 5, bid: 0.3, ask: 0.4, trusted: true })
    .book({ at: 100_000, bids: [[0.3, 1]], asks: [[0.5, 1]] })
    .tape();
  const runs = [{ tape, resolution: WON }];
  const result = resultOf(
    strategyOf(() => {}),
    { runs },
  );
  expect(result.markets[0]?.skipped).toBe('gap');
});
