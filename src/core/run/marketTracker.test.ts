/** What a run knows of one market: its books, its trust, and what its positions are worth. */
import { expect, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import {
  END_MS,
  type Level,
  ladder,
  START_MS,
  TAPE_MARKET,
  TapeWriter,
} from '../../../test/support/tapes.ts';
import type { Context, ParamSpecs, StrategyEvent } from './definition.ts';
import type { RunItem } from './runner.ts';
import { startRun } from './startRun.ts';

const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
const LEVELS = { bids: [[0.38, 100]], asks: [[0.4, 100]] } as const;
const BUY = { marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size: 10 } as const;
type OnEvent = (event: StrategyEvent, context: Context<ParamSpecs, unknown>) => void;

/** Buys once, at the first event of a kind. */
function buyingAt(kind: StrategyEvent['type'], order: object = {}) {
  let bought = false;
  return strategyOf(({ type }, context) => {
    if (bought || type !== kind) return;
    bought = true;
    context.place({ ...BUY, ...order });
  });
}

const quiet = (...times: readonly number[]) => {
  const writer = new TapeWriter();
  for (const at of times) writer.book({ at, ...LEVELS });
  return writer;
};

/** A run after the listing of a market, and its books one by one: best levels, with those of NO if they are no mirror. */
function started(onEvent: OnEvent, { inputs = {}, market = TAPE_MARKET } = {}) {
  const definition = strategyOf(onEvent, inputs);
  const runner = startRun({ definition, params: {}, terms: RUN_TERMS });
  const push = (item: object) => runner.push(item as RunItem);
  push({ kind: 'market', seq: 1, timeMs: market.startTimeMs - 1, market });
  let seq = 1;
  const book = (
    timeMs: number,
    sides: { bids: readonly Level[]; asks: readonly Level[]; no?: { bids: Level[]; asks: Level[] } },
    trusted = true,
  ) => {
    const tokens = { yes: sides, no: sides.no ?? { bids: [], asks: [] } };
    const ladders = {
      side: (_: number, token: 'yes' | 'no', side: 'bids' | 'asks') => ladder(side, tokens[token][side]),
      isMirrored: () => sides.no === undefined,
    };
    push({ kind: 'book', seq: ++seq, timeMs, marketId: ID, trusted, book: seq, ladders });
  };
  return { runner, push, book };
}

test('the best prices of NO are its own where its book is no mirror of YES’s', () => {
  const seen: unknown[] = [];
  const { book } = started(({ type }, context) => {
    const own = context.book(ID);
    if (type === 'book') seen.push([own.bestBid('no'), own.bestAsk('no')]);
  });
  book(START_MS, { ...LEVELS, no: { bids: [[0.57, 5]], asks: [[0.63, 5]] } });
  book(START_MS + 1, { ...LEVELS, no: { bids: [], asks: [[0.64, 5]] } });
  book(START_MS + 2, { ...LEVELS, no: { bids: [[0.56, 5]], asks: [] } });
  expect(seen).toEqual([
    [0.57, 0.63],
    [null, 0.64],
    [0.56, null],
  ]);
});

test('a book of the same best prices whose trust changed is an event, also without `books`', () => {
  const seen: boolean[] = [];
  const { book } = started(({ type }, context) => type === 'book' && seen.push(context.market(ID).trusted), {
    inputs: { books: false },
  });
  for (const [at, trusted] of [true, true, false, false, true].entries())
    book(START_MS + at, LEVELS, trusted);
  expect(seen).toEqual([true, false, true]);
});

test('a trade that the venue made before an order was accepted does not fill it, though it arrives later', () => {
  const filled = (eventMs: number) => {
    const writer = quiet(0, 1_000).trade({ at: 1_500, side: 'SELL_YES', price: 0.39, shares: 10 });
    const tape = writer.book({ at: 2_000, ...LEVELS }).tape();
    tape.trades?.eventMs.fill(START_MS + eventMs);
    const strategy = buyingAt('book', { limitPrice: 0.39, timeInForce: 'gtc' });
    return resultOf(strategy, { runs: [{ tape, resolution: WON }] }).fills.length;
  };
  // It is accepted after the latency of 50 ms.
  expect([49, 50].map(filled)).toEqual([0, 1]);
});

test('an order placed at the detection of a gap is missed: the book is not proven any more', () => {
  const writer = quiet(0, 1_000)
    .gap({ start: 1_100, known: 1_500, end: null })
    .book({ at: 2_000, ...LEVELS });
  const { orders } = resultOf(buyingAt('gap'), { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect(orders).toMatchObject([{ outcome: 'missed', reason: 'untrusted' }]);
});

test('an order placed at the end of a gap meets the book received at that end', () => {
  const writer = quiet(0, 1_000).gap({ start: 1_100, known: 1_500, end: 3_000 });
  for (const at of [3_000, 4_000]) writer.book({ at, ...LEVELS });
  const { fills } = resultOf(buyingAt('gap_end'), { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect(fills.map(({ timeMs }) => timeMs - START_MS)).toEqual([3_200]);
});

test('a position in NO is worth the best bid of NO', () => {
  const strategy = buyingAt('book', { token: 'no', limitPrice: 0.62 });
  const { equity } = resultOf(strategy, {
    runs: [{ tape: quiet(0, 1_000, 20_000).tape(), resolution: null }],
  });
  expect(equity.at(-1)).toMatchObject({ timeMs: START_MS + 20_000, marked: 6_000_000 });
});

test('an order that reaches the venue while it restarts is refused', () => {
  const outage = { refusal: 'venue_restarting', fromMs: START_MS + 40, untilMs: START_MS + 60 } as const;
  const [order] = resultOf(buyingAt('book'), {
    runs: [{ tape: quiet(0, 1_000).tape(), resolution: WON }],
    terms: { outages: [outage] },
  }).orders;
  expect(order).toMatchObject({ outcome: 'refused', reason: 'venue_restarting' });
});

test.each([
  ['decides the market is data of it', 'chainlink', null],
  ['does not decide the market is none of its data', 'binance_spot', 'no_data'],
])('a price within the window of a feed that %s', (_, source, skipped) => {
  const { runner, push, book } = started(() => {}, { inputs: { model: true } });
  book(START_MS - 1, LEVELS);
  const times = { eventTimeMs: START_MS + 1, receivedTimeMs: START_MS + 1 };
  const price = { kind: 'underlying', ticker: 'BTC', source, price: 97_000, ...times };
  push({ kind: 'price', seq: 5, timeMs: START_MS + 1, price });
  push({ kind: 'resolved', seq: 6, timeMs: WON.resolvedTimeMs, marketId: ID, resolution: WON });
  expect(runner.result().markets[0]?.skipped).toBe(skipped);
});

test('a rule of the venue that changes within a window applies from its time on', () => {
  const ticks: number[] = [];
  // The finer tick is known from this day on.
  const changeMs = Date.UTC(2026, 4, 26);
  const market = { ...TAPE_MARKET, startTimeMs: changeMs - 120_000, endTimeMs: changeMs + 180_000 };
  const onEvent: OnEvent = ({ type }, context) => type === 'book' && ticks.push(context.market(ID).tickSize);
  const { book } = started(onEvent, { market });
  for (const timeMs of [changeMs - 1, changeMs]) book(timeMs, { bids: [[0.02, 5]], asks: [[0.03, 5]] });
  expect(ticks).toEqual([0.01, 0.001]);
});

test('each market draws latencies of its own', () => {
  const ids = ['0xa', '0xb'];
  const definition = strategyOf((event, context) => {
    if (event.type !== 'market' || event.marketId !== '0xb') return;
    for (const marketId of ids) context.place({ ...BUY, marketId });
  });
  const orderLatency = { kind: 'uniform', minMs: 0, maxMs: 10_000 } as const;
  const runner = startRun({ definition, params: {}, terms: { ...RUN_TERMS, orderLatency } });
  for (const marketId of ids)
    runner.push({ kind: 'market', seq: 1, timeMs: START_MS, market: { ...TAPE_MARKET, marketId } });
  const [first, second] = runner.result().orders.map(({ dueMs }) => dueMs);
  expect(first).not.toBe(second);
});

test.each<[string, readonly (readonly [at: number, trusted: boolean])[], number, 'gap' | null]>([
  ['more than a minute after its first proven prices', [[0, true]], 60_001, 'gap'],
  ['not a minute after them', [[0, true]], 60_000, null],
  ['not a minute after its start, though prices came before', [[-1, true]], 60_000, null],
  [
    'more than a minute after the first of several',
    [
      [0, true],
      [50_000, true],
    ],
    60_001,
    'gap',
  ],
  [
    'not a minute after them, though prices in doubt came before',
    [
      [0, false],
      [1_000, true],
    ],
    61_000,
    null,
  ],
])('a market is skipped if its first book comes %s', (_, quotes, bookAt, skipped) => {
  const { runner, push, book } = started(() => {});
  const best = { yesBid: 3_800, yesAsk: 4_000, noBid: 6_000, noAsk: 6_200, underlying: Number.NaN };
  for (const [at, trusted] of quotes)
    push({ kind: 'quote', seq: 2, timeMs: START_MS + at, marketId: ID, trusted, ...best });
  book(START_MS + bookAt, LEVELS);
  push({ kind: 'resolved', seq: 9, timeMs: WON.resolvedTimeMs, marketId: ID, resolution: WON });
  expect(runner.result().markets).toMatchObject([{ skipped }]);
});

test('the detection of a gap is no proof: without a proven book the market is skipped', () => {
  const { runner, push, book } = started(() => {});
  book(START_MS, LEVELS, false);
  const [timeMs, startMs] = [START_MS + 1_000, START_MS + 500];
  push({ kind: 'gap', id: 1, seq: 3, timeMs, marketId: ID, startMs });
  push({ kind: 'resolved', seq: 9, timeMs: WON.resolvedTimeMs, marketId: ID, resolution: WON });
  expect(runner.result().markets).toMatchObject([{ skipped: 'gap' }]);
});

test('a market whose strike is known from no time on is skipped by a strategy with the model', () => {
  const market = { ...TAPE_MARKET, strikeKnownTimeMs: null };
  const { runner, push, book } = started(() => {}, { inputs: { model: true }, market });
  book(START_MS, LEVELS);
  push({ kind: 'resolved', seq: 9, timeMs: WON.resolvedTimeMs, marketId: ID, resolution: WON });
  expect(runner.result().markets).toMatchObject([{ skipped: 'no_strike' }]);
});
