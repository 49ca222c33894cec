/** A session's state between rows, driven by a strategy whose intents are given by time. */
import { describe, expect, test } from 'vitest';
import { START_MS, type TapeWriter as Tape, TapeWriter } from '../../../test/support/tapes.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { Execution, ReplayParams } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import {
  BUY_YES,
  type CompiledStrategy,
  type Intent,
  STOP_LOSS,
  TAKE_PROFIT,
  WAIT,
} from '../strategies/strategy.ts';
import { prepareMarket } from './prepare.ts';
import { MarketSession } from './session.ts';

const SHARE = 1_000_000;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 420_000 };
const MAKER: Execution = { entry: 'maker', offset: 0, timeout_s: 60, queue_model: 'pessimistic' };

interface Wanted {
  /** By milliseconds after the window's start. */
  readonly intents: Readonly<Record<number, Intent>>;
  readonly strategy?: Partial<CompiledStrategy>;
  readonly params?: Partial<ReplayParams>;
  readonly execution?: Execution;
}

function sessionOn(writer: Tape, { intents, strategy, params, execution }: Wanted) {
  const needs = { model: false, books: true, strike: false };
  const prepared = prepareMarket(writer.tape(), needs);
  const { rows } = prepared;
  const compiled: CompiledStrategy = {
    ...{ needs, tradesMax: 1, exits: true, bounds: null },
    start: () => ({
      decide: (row) => intents[(rows.timeMs[row] as number) - START_MS] ?? WAIT,
      nextWish: () => rows.count,
    }),
    ...strategy,
  };
  const terms = { strategy: compiled, size: 10 * SHARE, params: { ...DEFAULT_PARAMS, ...params }, execution };
  const session = new MarketSession(prepared, { terms, ledger: new Ledger() });
  let row = 0;
  /** Processes the rows up to a time, inclusive. */
  const stepTo = (at: number) => {
    while (row < rows.count && (rows.timeMs[row] as number) <= START_MS + at) session.step(row++);
  };
  const rowAt = (at: number) => rows.timeMs.indexOf(START_MS + at);
  return { session, rows, stepTo, rowAt };
}

const ASKS = [[0.28, 100]] as const;
const BIDS = [[0.26, 100]] as const;

/** A purchase of 35.7 shares at 0.28, decided at 10 s and known at 11 s; later the asks are others. */
function bought(): TapeWriter {
  return new TapeWriter()
    .book({ at: 10_000, bids: BIDS, asks: ASKS })
    .book({ at: 11_000, bids: BIDS, asks: [[0.28, 99]] })
    .book({ at: 12_000, bids: BIDS, asks: [[0.4, 10]] });
}

describe('an exit that has begun', () => {
  /** Only five shares are bid when the sale is first tried. */
  const tape = () =>
    bought()
      .book({ at: 20_000, bids: [[0.26, 5]], asks: [[0.4, 11]] })
      .book({ at: 21_000, bids: [[0.26, 6]], asks: [[0.4, 12]] })
      .book({ at: 22_000, bids: [[0.26, 100]], asks: [[0.4, 13]] })
      .book({ at: 23_000, bids: [[0.26, 101]], asks: [[0.4, 14]] });

  test.each([
    ['stop_loss', STOP_LOSS, TAKE_PROFIT],
    ['take_profit', TAKE_PROFIT, STOP_LOSS],
  ] as const)('keeps its first reason: %s', (reason, first, second) => {
    const { session, stepTo } = sessionOn(tape(), {
      intents: { 10000: BUY_YES, 20000: first, 21000: second, 22000: second },
    });
    stepTo(23_000);
    expect(session.orders).toMatchObject({ placed: 4, filled: 4 });
    expect(session.trades()).toMatchObject([{ closedMs: START_MS + 22_200, exitReason: reason }]);
  });

  test('is decided by its first time: a gap from between the two decisions does not undo it', () => {
    const writer = bought()
      .book({ at: 20_000, bids: [[0.26, 5]], asks: [[0.4, 11]] })
      .book({ at: 21_000, bids: [[0.26, 6]], asks: [[0.4, 12]] })
      .book({ at: 21_500, bids: [[0.26, 7]], asks: [[0.4, 13]] })
      .gap({ start: 20_500, known: 21_600, end: 21_700 })
      .book({ at: 22_000, bids: [[0.26, 100]], asks: [[0.4, 13]] })
      .book({ at: 23_000, bids: [[0.26, 101]], asks: [[0.4, 14]] });
    const { session, stepTo } = sessionOn(writer, {
      intents: { 10000: BUY_YES, 20000: STOP_LOSS, 21000: STOP_LOSS },
    });
    stepTo(23_000);
    expect(session.trades()).toMatchObject([{ closedMs: START_MS + 22_200, exitReason: 'stop_loss' }]);
  });
});

test('fills that several gaps reverse are all counted', () => {
  const writer = new TapeWriter();
  const book = (at: number, size: number) => writer.book({ at, bids: BIDS, asks: [[0.28, size]] });
  book(10_000, 100).book({ at: 11_000, bids: BIDS, asks: [[0.28, 99]] });
  writer.gap({ start: 10_100, known: 12_000, end: 13_000 });
  book(14_000, 100);
  book(30_000, 100);
  book(31_000, 99);
  writer.gap({ start: 30_100, known: 32_000, end: 33_000 });
  book(34_000, 100);
  const { session, stepTo } = sessionOn(writer, { intents: { 10000: BUY_YES, 30000: BUY_YES } });
  stepTo(12_000);
  expect(session.orders).toMatchObject({ placed: 1, filled: 0, takenBack: 1 });
  stepTo(34_000);
  expect(session.orders).toMatchObject({ placed: 2, filled: 0, takenBack: 2 });
  expect(session.trades()).toEqual([]);
});

test('counts of orders that were read earlier do not change', () => {
  const writer = new TapeWriter()
    .book({ at: 10_000, bids: BIDS, asks: ASKS })
    .book({ at: 10_100, bids: BIDS, asks: [[0.9, 1]] })
    .book({ at: 11_000, bids: BIDS, asks: [[0.9, 2]] });
  const { session, stepTo } = sessionOn(writer, { intents: { 10000: BUY_YES } });
  stepTo(10_000);
  const earlier = session.orders;
  stepTo(11_000);
  expect([earlier.missed.price, session.orders.missed.price]).toEqual([0, 1]);
});

describe('a session is idle', () => {
  test('except with an order in flight, and while a level that it consumed is displayed', () => {
    const { session, stepTo } = sessionOn(bought(), { intents: { 10000: BUY_YES } });
    expect(session.isIdle).toBe(true);
    stepTo(10_000);
    expect(session.isIdle).toBe(false);
    stepTo(11_000);
    expect([session.holds, session.isIdle]).toEqual([true, false]);
    stepTo(12_000);
    expect([session.holds, session.isIdle]).toEqual([true, true]);
  });

  test('except with a purchase that rests', () => {
    const wanted: Wanted = { intents: { 10000: BUY_YES }, execution: MAKER };
    const { session, stepTo, rowAt } = sessionOn(bought(), wanted);
    stepTo(11_000);
    expect([session.holds, session.isIdle]).toEqual([false, false]);
    expect(session.next()).toBe(rowAt(12_000));
    stepTo(12_000);
    expect(session.isIdle).toBe(false);
  });

  test('except while shares are to be sold, even if the book allows no order', () => {
    const writer = bought()
      .book({ at: 20_000, bids: BIDS, asks: [[0.4, 11]] })
      .book({ at: 20_100, bids: BIDS, asks: [[0.4, 12]], trusted: false })
      .book({ at: 21_000, bids: BIDS, asks: [[0.4, 13]], trusted: false })
      .book({ at: 22_000, bids: BIDS, asks: [[0.4, 14]], trusted: false });
    const { session, stepTo, rowAt } = sessionOn(writer, { intents: { 10000: BUY_YES, 20000: STOP_LOSS } });
    stepTo(20_100);
    expect(session.isIdle).toBe(false);
    stepTo(21_000);
    expect(session.orders).toMatchObject({ placed: 2, missed: { untrusted: 1 } });
    expect([session.holds, session.isIdle]).toEqual([true, false]);
    expect(session.next()).toBe(rowAt(22_000));
  });
});

describe('a session is done', () => {
  const sold = () =>
    bought()
      .book({ at: 20_000, bids: [[0.6, 100]], asks: [[0.9, 10]] })
      .book({ at: 21_000, bids: [[0.6, 99]], asks: [[0.9, 10]] })
      .book({ at: 22_000, bids: [[0.5, 99]], asks: [[0.9, 10]] });

  test('after its last sale, once no level that it consumed is displayed', () => {
    const { session, stepTo } = sessionOn(sold(), { intents: { 10000: BUY_YES, 20000: TAKE_PROFIT } });
    stepTo(20_000);
    expect([session.finished, session.isDone]).toEqual([false, false]);
    stepTo(21_000);
    expect([session.finished, session.isDone]).toEqual([true, false]);
    stepTo(22_000);
    expect([session.finished, session.isDone]).toEqual([true, true]);
  });

  test('when the venue has paid out what it held', () => {
    const { session, stepTo } = sessionOn(bought(), { intents: { 10000: BUY_YES } });
    stepTo(11_000);
    expect([session.holds, session.finished]).toEqual([true, false]);
    session.settle(RESOLUTION);
    expect([session.holds, session.finished, session.trades().length]).toEqual([false, true, 1]);
  });

  test('with its last purchase if it never sells', () => {
    const strategy = { exits: false };
    const { session, stepTo } = sessionOn(bought(), { intents: { 10000: BUY_YES }, strategy });
    stepTo(11_000);
    expect([session.finished, session.isDone]).toEqual([true, true]);
  });

  test('not while a purchase that was filled in part still rests', () => {
    const writer = new TapeWriter()
      .book({ at: 10_000, bids: BIDS, asks: ASKS })
      .book({ at: 10_100, bids: BIDS, asks: [[0.28, 99]] })
      .trade({ at: 11_000, side: 'SELL_YES', price: 0.26, shares: 110 })
      .book({ at: 12_000, bids: [[0.25, 7]], asks: ASKS })
      .trade({ at: 13_000, side: 'SELL_YES', price: 0.26, shares: 50 })
      .book({ at: 14_000, bids: [[0.25, 8]], asks: ASKS });
    const strategy = { exits: false };
    const wanted: Wanted = { intents: { 10000: BUY_YES }, strategy, execution: MAKER };
    const { session, stepTo } = sessionOn(writer, wanted);
    stepTo(12_000);
    expect(session.trades()).toMatchObject([{ size: 10 * SHARE }]);
    expect([session.finished, session.isDone]).toEqual([false, false]);
    stepTo(14_000);
    expect([session.finished, session.isDone]).toEqual([true, true]);
    expect(session.trades()).toMatchObject([{ size: 38_461_538 }]);
  });
});

test('a purchase that is to rest is missed if the best prices are crossed when it meets the book', () => {
  const writer = new TapeWriter()
    .book({ at: 10_000, bids: BIDS, asks: ASKS })
    .quote({ at: 10_040, bid: 2_900, ask: 2_800, trusted: true })
    .quote({ at: 11_000, bid: 2_600, ask: 2_800, trusted: true });
  const { session, stepTo } = sessionOn(writer, { intents: { 10000: BUY_YES }, execution: MAKER });
  stepTo(11_000);
  expect(session.orders).toMatchObject({ placed: 1, missed: { untrusted: 1 } });
});

describe('rows that are skipped', () => {
  test('still show which consumed levels others have refilled', () => {
    const writer = new TapeWriter();
    const book = (at: number, asks: readonly (readonly [number, number])[]) =>
      writer.book({ at, bids: [[0.26, 100 + at]], asks });
    for (const [at, size] of [100, 99, 98, 97].entries()) book(10_000 + 1_000 * at, [[0.28, size]]);
    // Both are skipped: the level is gone, and is back.
    book(14_000, [[0.3, 50]]);
    book(14_500, [[0.28, 41]]);
    book(15_000, [[0.28, 40]]);
    book(16_000, [[0.28, 39]]);
    const intents: Wanted['intents'] = { 10000: BUY_YES, 12000: TAKE_PROFIT, 15000: BUY_YES };
    const { session, rowAt } = sessionOn(writer, { intents, strategy: { tradesMax: 2 } });
    for (const second of [10, 11, 12, 13, 15, 16]) session.step(rowAt(1_000 * second));
    session.settle(RESOLUTION);
    expect(session.trades()).toMatchObject([
      { exitReason: 'take_profit', size: 35_714_285 },
      { openedMs: START_MS + 15_200, size: 35_714_285 },
    ]);
  });

  test('are the prices in force of an order in flight', () => {
    const writer = new TapeWriter()
      .book({ at: 10_000, bids: [[0.26, 100]], asks: [[0.28, 100]] })
      .book({ at: 10_100, bids: [[0.27, 100]], asks: [[0.29, 100]] })
      .book({ at: 11_000, bids: [[0.2, 100]], asks: [[0.9, 100]] });
    const { session, rowAt } = sessionOn(writer, {
      intents: { 10000: BUY_YES },
      params: { fill_mode: 'mid' },
    });
    session.step(rowAt(10_000));
    expect(session.next()).toBe(rowAt(11_000));
    session.step(session.next());
    expect(session.trades()).toMatchObject([{ openedMs: START_MS + 10_200, entryPrice: 0.28 }]);
  });

  test('are all that no order, exit, intent or gap needs', () => {
    const writer = bought()
      .book({ at: 20_000, bids: [[0.26, 5]], asks: [[0.4, 11]] })
      .book({ at: 21_000, bids: [[0.26, 6]], asks: [[0.4, 12]] })
      .book({ at: 22_000, bids: [[0.26, 100]], asks: [[0.4, 13]] })
      .book({ at: 23_000, bids: [[0.26, 101]], asks: [[0.4, 14]] })
      .gap({ start: 23_500, known: 24_000, end: 25_000 })
      .book({ at: 26_000, bids: BIDS, asks: ASKS });
    const intents: Wanted['intents'] = { 10000: BUY_YES, 20000: STOP_LOSS };
    const { session, rows, stepTo, rowAt } = sessionOn(writer, { intents });
    stepTo(10_000);
    expect(session.next()).toBe(rowAt(11_000));
    stepTo(11_000);
    // The strategy wishes nothing any more.
    expect(session.next()).toBe(rows.count);
    stepTo(23_000);
    expect(session.finished).toBe(true);
    expect(session.next()).toBe(rowAt(24_000));
  });
});
