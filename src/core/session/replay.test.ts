import { describe, expect, test } from 'vitest';
import { buyAndSell } from '../../../test/support/strategies.ts';
import { START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import type { ReplayParams, Strategy } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { prepareMarket } from './prepare.ts';
import { coverageOf, replayMarket } from './replay.ts';
import { MarketSession } from './session.ts';
import type { SessionEvent } from './sessionEvents.ts';
import type { MarketTape, Resolution, TapeMarket } from './tape.ts';

const USD = 1_000_000;
const YES_WINS: Resolution = { payoutYes: 1, resolvedTimeMs: START_MS + 420_000 };
const PARAMS: ReplayParams = {
  fill_mode: 'walk_book',
  latency_ms: 50,
  max_fill_price: 0.985,
  max_slippage: null,
};
const CHEAP_YES: Strategy = { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' };

interface Asked {
  strategy?: Strategy;
  params?: Partial<ReplayParams>;
  resolution?: Resolution | null;
  size?: number;
}

function replay(
  tape: MarketTape,
  { strategy = CHEAP_YES, params = {}, resolution = YES_WINS, size = 10 }: Asked = {},
) {
  const compiled = compileStrategy(strategy);
  const events: SessionEvent[] = [];
  const ledger = new Ledger();
  const prepared = prepareMarket(tape, compiled.needs);
  const terms = { strategy: compiled, size: size * USD, params: { ...PARAMS, ...params } };
  const result = replayMarket(prepared, terms, {
    resolution,
    ledger,
    listener: (event) => events.push(event),
  });
  return { ...result, events, ledger, prepared };
}

/** Quoted around one half until `at`, then offered at 0.27 and 0.29. */
function cheapAt(at: number, market: Partial<TapeMarket> = {}): TapeWriter {
  return new TapeWriter(market).book({ at: 0, bids: [[0.49, 100]], asks: [[0.51, 100]] }).book({
    at,
    bids: [[0.25, 100]],
    asks: [
      [0.27, 20],
      [0.29, 100],
    ],
  });
}

describe('a taker order', () => {
  test('is not placed while nothing is for sale', () => {
    const strategy = { type: 'time_before_resolution', minutes_before: 2, side: 'buy_yes' } as const;
    const tape = new TapeWriter()
      .book({ at: 0, bids: [[0.49, 100]], asks: [[0.51, 100]] })
      .book({ at: 180_000, bids: [[0.49, 100]], asks: [] })
      .book({ at: 190_000, bids: [[0.49, 100]], asks: [[0.6, 100]] })
      .book({ at: 200_000, bids: [[0.49, 100]], asks: [[0.61, 100]] });
    const { trades, orders } = replay(tape.tape(), { strategy });
    expect(trades).toMatchObject([{ decidedMs: START_MS + 190_000, entryPrice: 0.6 }]);
    expect(orders.placed).toBe(1);
  });

  test.each([
    [0.57, 0.57, 1],
    [0.5701, 0.57, 0],
    [0.5701, 0.57006, 0],
    [0.5701, 0.5701, 1],
  ])('offered at %d fills with a maximum price of %d, rounded down to ticks: %d', (ask, most, filled) => {
    const strategy: Strategy = {
      type: 'threshold_entry',
      threshold: 0.6,
      direction: 'below',
      side: 'buy_yes',
    };
    const offer = { bids: [[0.5, 100]], asks: [[ask, 100]] } as const;
    const tape = new TapeWriter().book({ at: 0, ...offer }).book({ at: 10_000, ...offer });
    const { orders } = replay(tape.tape(), { strategy, params: { max_fill_price: most } });
    expect([orders.filled, orders.missed.price > 0]).toEqual([filled, filled === 0]);
  });

  test('walks the book in force after latency and hold, with the fee added', () => {
    const tape = cheapAt(10_000)
      .book({
        at: 20_000,
        bids: [[0.25, 100]],
        asks: [
          [0.27, 20],
          [0.29, 100],
        ],
      })
      .tape();
    const { trades, ledger } = replay(tape);
    const size = 20 * USD + Math.floor(((10 - 5.4) / 0.29) * USD);
    expect(trades).toHaveLength(1);
    expect(trades[0]).toMatchObject({
      token: 'yes',
      decidedMs: START_MS + 10_000,
      openedMs: START_MS + 10_200,
      closedMs: YES_WINS.resolvedTimeMs,
      size,
      principal: 10 * USD,
      exitPrice: 1,
      exitReason: 'resolved',
    });
    const [trade] = trades;
    expect(trade?.entrySlippage).toBeCloseTo((20e6 * 0.27 + (size - 20e6) * 0.29) / size - 0.27, 12);
    expect(trade?.fees).toBe(
      Math.round(20 * 0.07 * 0.27 * 0.73 * 1e5) * 10 +
        Math.round((size / USD - 20) * 0.07 * 0.29 * 0.71 * 1e5) * 10,
    );
    expect(trade?.pnl).toBe(size - 10 * USD - (trade?.fees ?? 0));
    expect(ledger.cash).toBe(trade?.pnl);
    expect(ledger.positions).toBe(0);
  });

  test('trap 8: meets the book of its due time, not the one of its decision', () => {
    const gone = cheapAt(10_000)
      .book({ at: 10_199, bids: [[0.25, 100]], asks: [[0.6, 100]] })
      .book({ at: 20_000, bids: [[0.25, 100]], asks: [[0.6, 50]] });
    expect(replay(gone.tape()).trades[0]).toMatchObject({
      entryPrice: expect.closeTo(0.6, 6),
      openedMs: START_MS + 10_200,
    });
    const stillThere = cheapAt(10_000)
      .book({ at: 10_201, bids: [[0.25, 100]], asks: [[0.6, 100]] })
      .book({ at: 20_000, bids: [[0.25, 100]], asks: [[0.6, 50]] });
    expect(replay(stillThere.tape()).trades[0]?.entryPrice).toBeLessThan(0.29);
  });

  test('trap 8: meets the book received in the exact millisecond of its due time', () => {
    const tape = cheapAt(10_000)
      .book({ at: 10_200, bids: [[0.25, 100]], asks: [[0.6, 100]] })
      .book({ at: 20_000, bids: [[0.25, 100]], asks: [[0.7, 50]] })
      .tape();
    expect(replay(tape).trades[0]).toMatchObject({
      entryPrice: expect.closeTo(0.6, 6),
      openedMs: START_MS + 10_200,
    });
  });

  test('trap 8: the hold is that of the day', () => {
    const opened = (startTimeMs: number) => {
      const shift = startTimeMs - START_MS;
      const tape = new TapeWriter({ startTimeMs, endTimeMs: startTimeMs + 300_000, eventType: '15m' })
        .book({ at: shift, asks: [[0.27, 100]], bids: [[0.25, 1]] })
        .book({ at: shift + 10_000, asks: [[0.28, 100]], bids: [[0.25, 1]] })
        .tape();
      return (replay(tape).trades[0]?.openedMs ?? 0) - startTimeMs;
    };
    expect(opened(Date.UTC(2025, 10, 1))).toBe(50);
    expect(opened(Date.UTC(2025, 11, 1))).toBe(550);
    expect(opened(Date.UTC(2026, 10, 1))).toBe(200);
  });

  test('trap 8: consumes no displayed size twice, on either token, until others refill it', () => {
    const strategy = buyAndSell({ below: 0.4, above: 0, tradesMax: 10 });
    const tape = new TapeWriter();
    const shown = { bids: [[0.2, 1_000]], asks: [[0.25, 40]] } as const;
    for (let at = 0; at < 8_000; at += 200) tape.book({ at, ...shown, bids: [[0.2, 1_000 + at]] });
    const fills = replay(tape.tape(), { strategy, size: 7.5 }).events.filter(
      (event) => event.kind === 'fill',
    );
    const bought = fills.filter(({ order }) => order.action === 'buy').map(({ fill }) => fill.size);
    expect(bought).toEqual([30 * USD, 10 * USD]);
    tape.book({ at: 8_000, ...shown, asks: [[0.25, 50]] });
    for (let at = 8_200; at < 10_000; at += 200)
      tape.book({ at, ...shown, bids: [[0.2, 9_000 + at]], asks: [[0.25, 50]] });
    const refilled = replay(tape.tape(), { strategy, size: 7.5 }).events.filter(
      (event) => event.kind === 'fill',
    );
    expect(refilled.filter(({ order }) => order.action === 'buy').map(({ fill }) => fill.size)).toEqual(
      [30, 10, 30, 20].map((n) => n * USD),
    );
  });

  test('trap 8: a level missing only from an unproven book was not refilled', () => {
    const strategy = buyAndSell({ below: 0.4, above: 0, tradesMax: 10 });
    const bids = [[0.2, 1_000]] as const;
    const tape = new TapeWriter();
    for (let at = 0; at < 4_000; at += 200) {
      const asks = [[0.25, 40]] as const;
      if (at === 2_000) tape.book({ at, bids: [], asks: [], trusted: false });
      else tape.book({ at, bids: [[0.2, 1_000 + at]], asks });
    }
    const fills = replay(tape.tape(), { strategy, size: 100 }).events.filter(
      (event) => event.kind === 'fill' && event.order.action === 'buy',
    );
    expect(fills).toHaveLength(1);
    tape.book({ at: 4_000, bids, asks: [] });
    for (let at = 4_200; at < 6_000; at += 200) tape.book({ at, bids: [[0.2, at]], asks: [[0.25, 40]] });
    const refilled = replay(tape.tape(), { strategy, size: 100 }).events.filter(
      (event) => event.kind === 'fill' && event.order.action === 'buy',
    );
    expect(refilled).toHaveLength(2);
  });

  test('buys nothing above the maximum price, and reports it', () => {
    const tape = cheapAt(10_000)
      .book({ at: 10_100, bids: [[0.25, 1]], asks: [[0.99, 100]] })
      .book({ at: 20_000, bids: [[0.25, 1]], asks: [[0.99, 90]] })
      .tape();
    expect(replay(tape)).toMatchObject({ trades: [], orders: { missed: { price: 1 } } });
  });

  test('is not placed if it would meet the book only after the end', () => {
    const tape = cheapAt(299_800).book({ at: 299_990, bids: [[0.25, 1]], asks: [[0.27, 100]] });
    expect(replay(tape.book({ at: 310_000, asks: [[0.27, 5]] }).tape()).events).toEqual([]);
  });

  test('trap 9: fills nothing on a dead feed: no later message, no fill', () => {
    expect(replay(cheapAt(10_000).tape())).toMatchObject({
      trades: [],
      orders: { missed: { unconfirmed: 1 } },
    });
  });

  test('trap 9: fills at any tick size the book has by then', () => {
    const tape = cheapAt(10_000)
      .book({
        at: 10_100,
        bids: [[0.251, 9]],
        asks: [
          [0.268, 5],
          [0.2715, 100],
        ],
      })
      .book({ at: 20_000, bids: [[0.251, 9]], asks: [[0.268, 9]] });
    const [fill] = replay(tape.tape()).events.filter((event) => event.kind === 'fill');
    expect(fill?.fill.levels.map(({ price }) => price)).toEqual([2_680, 2_715]);
  });

  test('trap 10: the fee is that of the day it trades', () => {
    const feeOf = (startTimeMs: number) => {
      const shift = startTimeMs - START_MS;
      const tape = new TapeWriter({ startTimeMs, endTimeMs: startTimeMs + 300_000 })
        .book({ at: shift, asks: [[0.25, 1_000]], bids: [[0.2, 1]] })
        .book({ at: shift + 10_000, asks: [[0.25, 999]], bids: [[0.2, 1]] })
        .tape();
      return (replay(tape).trades[0]?.fees ?? 0) / USD;
    };
    const shares = 40;
    expect(feeOf(Date.UTC(2025, 11, 1))).toBe(0);
    expect(feeOf(Date.UTC(2026, 2, 10))).toBeCloseTo(shares * 0.25 * 0.25 * 0.1875 ** 2, 5);
    expect(feeOf(Date.UTC(2026, 3, 10))).toBeCloseTo(shares * 0.072 * 0.1875, 5);
    expect(feeOf(Date.UTC(2026, 10, 10))).toBeCloseTo(shares * 0.07 * 0.1875, 5);
  });
});

describe('fills at the mid', () => {
  test('fill any size at the mid of the due time, rounded against us, with fee and hold', () => {
    const tape = cheapAt(10_000)
      .book({ at: 10_100, bids: [[0.21, 1]], asks: [[0.2601, 1]] })
      .book({ at: 20_000, bids: [[0.22, 2]], asks: [[0.2601, 1]] })
      .tape({ books: false });
    const { trades } = replay(tape, { params: { fill_mode: 'mid' }, size: 1_000 });
    expect(trades[0]).toMatchObject({ entryPrice: expect.closeTo(0.2351, 6), openedMs: START_MS + 10_200 });
    expect(trades[0]?.principal).toBe(1_000 * USD);
  });

  test('without books nothing can be walked, and the reason is reported', () => {
    expect(replay(cheapAt(10_000).tape({ books: false })).skipped).toBe('no_books');
  });
});

describe('gaps', () => {
  const later = (writer: TapeWriter) => writer.book({ at: 20_000, bids: [[0.25, 1]], asks: [[0.27, 100]] });

  test('trap 9: an order in flight when a gap is detected is dropped', () => {
    const tape = later(cheapAt(10_000).gap({ start: 10_000, known: 10_200, end: 100_000 })).tape();
    expect(replay(tape)).toMatchObject({ trades: [], orders: { missed: { untrusted: 1 } } });
  });

  test('trap 9: a fill covered by a gap detected later is reversed, and its money with it', () => {
    const tape = cheapAt(10_000)
      .book({ at: 12_000, bids: [[0.25, 2]], asks: [[0.27, 100]] })
      .gap({ start: 10_100, known: 16_000, end: null })
      .tape();
    const { trades, ledger, events } = replay(tape);
    expect(trades).toEqual([]);
    expect([ledger.cash, ledger.positions, ledger.fees, ledger.won]).toEqual([0, 0, 0, 0]);
    expect(events.at(-1)).toEqual({
      kind: 'taken_back',
      knownMs: START_MS + 16_000,
      sinceMs: START_MS + 10_100,
    });
  });

  test('an order due in the exact millisecond a gap begins is filled: the feed was still good', () => {
    const tape = later(cheapAt(10_000).gap({ start: 10_200, known: 16_000, end: null })).tape();
    const { trades, orders, events } = replay(tape);
    expect(trades).toMatchObject([{ openedMs: START_MS + 10_200, exitReason: 'resolved' }]);
    expect(orders).toEqual({
      ...{ placed: 1, filled: 1, takenBack: 0 },
      missed: { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 },
    });
    expect(events.map(({ kind, knownMs }) => [kind, knownMs - START_MS])).toEqual([
      ['order', 10_000],
      ['fill', 16_000],
    ]);
    const before = later(cheapAt(10_000).gap({ start: 10_199, known: 16_000, end: null })).tape();
    expect(replay(before)).toMatchObject({ trades: [], orders: { missed: { untrusted: 1 } } });
  });

  test('a fill before it stays', () => {
    const tape = later(cheapAt(10_000)).gap({ start: 15_000, known: 16_000, end: null }).tape();
    expect(replay(tape).trades).toHaveLength(1);
  });

  test('a reversed sale leaves the position open, to be paid out', () => {
    const strategy = buyAndSell({ below: 0.3, above: 0.5, tradesMax: 1 });
    const base = () =>
      later(cheapAt(10_000))
        .book({ at: 30_000, bids: [[0.6, 500]], asks: [[0.7, 1]] })
        .book({ at: 40_000, bids: [[0.6, 500]], asks: [[0.7, 2]] });
    expect(replay(base().tape(), { strategy }).trades[0]).toMatchObject({
      exitReason: 'take_profit',
      exitPrice: expect.closeTo(0.6, 6),
    });
    const tape = base().gap({ start: 30_100, known: 50_000, end: null }).tape();
    const { trades, ledger } = replay(tape, { strategy });
    expect(trades[0]).toMatchObject({ exitReason: 'resolved', exitPrice: 1 });
    expect(ledger.cash).toBe(trades[0]?.pnl);
  });

  test('nothing is bought at a gap’s end on the book from before the gap', () => {
    const stale = new TapeWriter()
      .book({ at: -10_000, bids: [[0.25, 100]], asks: [[0.27, 100]] })
      .gap({ start: -5_000, known: -1_000, end: 100_000 });
    const tape = stale
      .book({ at: 150_000, bids: [[0.49, 100]], asks: [[0.51, 100]] })
      .book({ at: 160_000, bids: [[0.49, 100]], asks: [[0.52, 100]] })
      .tape();
    expect(replay(tape)).toMatchObject({ events: [], orders: { placed: 0 } });
  });

  test.each([
    ['the book from before the gap', [], [0, 0, 0, 1]],
    ['a book received inside the gap', [95_000], [0, 0, 0, 0, 1]],
    ['a book received at its end', [100_000], [0, 0, 1, 1, 1]],
  ] as const)('%s decides whether rows after a gap are trusted', (_, received, trusted) => {
    const writer = new TapeWriter()
      .book({ at: 0, bids: [[0.49, 1]], asks: [[0.51, 1]] })
      .gap({ start: 60_000, known: 90_000, end: 100_000 });
    for (const at of received) writer.book({ at, bids: [[0.49, 2]], asks: [[0.51, 2]] });
    const tape = writer
      .price(120_000, 97_100)
      .book({ at: 150_000, bids: [[0.49, 3]], asks: [[0.51, 3]] })
      .tape();
    const { rows } = prepareMarket(tape, { model: true });
    const after = Array.from({ length: rows.count }, (_, row) => row).filter(
      (row) => (rows.timeMs[row] as number) >= START_MS + 90_000,
    );
    expect(after.map((row) => rows.trusted[row])).toEqual(trusted);
  });

  test('best prices received after a gap are a new book too, even if they are equal to those before it', () => {
    const tape = new TapeWriter()
      .quote({ at: 0, bid: 4_900, ask: 5_100, trusted: true })
      .gap({ start: 60_000, known: 90_000, end: 100_000 })
      .quote({ at: 150_000, bid: 4_900, ask: 5_000, trusted: true })
      .tape();
    // The recording repeats 0.51: only the proof is new.
    tape.quotes.yesAsk[1] = 5_100;
    tape.quotes.noBid[1] = 4_900;
    const { rows } = prepareMarket(tape, { model: false });
    expect([...rows.trusted.subarray(0, rows.count)]).toEqual([1, 0, 0, 1]);
  });

  test('a market whose whole window is in gaps is skipped, with the reason', () => {
    const tape = new TapeWriter()
      .book({ at: 100, bids: [[0.25, 1]], asks: [[0.27, 100]], trusted: false })
      .book({ at: 200, bids: [[0.25, 1]], asks: [[0.28, 100]], trusted: false })
      .tape();
    expect(replay(tape).skipped).toBe('gap');
    expect(replay(new TapeWriter().book({ at: -100, bids: [[0.25, 1]] }).tape()).skipped).toBe('no_data');
    expect(replay(cheapAt(0).tape(), { resolution: null }).skipped).toBe('unresolved');
  });

  test('coverage is the share of the window with a proven book', () => {
    const tape = new TapeWriter()
      .book({ at: 30_000, bids: [[0.4, 1]], asks: [[0.5, 1]] })
      .book({ at: 60_000, bids: [[0.4, 1]], asks: [[0.51, 1]] })
      .gap({ start: 60_000, known: 90_000, end: 120_000 })
      .book({ at: 180_000, bids: [[0.4, 1]], asks: [[0.52, 1]] });
    // 30 to 60 s, and from 180 s on: no book arrived at the gap's end at 120 s.
    expect(coverageOf(replay(tape.tape()).prepared)).toBeCloseTo((30 + 120) / 300, 12);
  });

  test('a book proven before the window covers it from its start, not from its own time', () => {
    const tape = new TapeWriter()
      .book({ at: -60_000, bids: [[0.4, 1]], asks: [[0.5, 1]] })
      .book({ at: -30_000, bids: [[0.4, 1]], asks: [[0.51, 1]] })
      .book({ at: 60_000, bids: [[0.4, 1]], asks: [[0.52, 1]], trusted: false });
    expect(coverageOf(replay(tape.tape()).prepared)).toBe(60 / 300);
  });
});

test.each([
  [10_000, 0],
  [10_001, 1],
])('a session that may enter until %i ms opens %i positions at 10,000 ms', (untilMs, opened) => {
  const tape = cheapAt(10_000)
    .book({ at: 20_000, bids: [[0.49, 1]], asks: [[0.51, 100]] })
    .tape();
  const strategy = compileStrategy(CHEAP_YES);
  const prepared = prepareMarket(tape, strategy.needs);
  const session = new MarketSession(prepared, {
    terms: { strategy, size: 10 * USD, params: PARAMS },
    ledger: new Ledger(),
    entries: { untilMs: START_MS + untilMs },
  });
  for (let row = 0; row < prepared.rows.count; row++) session.step(row);
  expect(session.trades()).toHaveLength(opened);
});

describe('the end', () => {
  const held = () =>
    cheapAt(10_000)
      .book({ at: 20_000, bids: [[0.25, 1]], asks: [[0.27, 100]] })
      .tape();
  const size = 20 * USD + Math.floor((4.6 / 0.29) * USD);

  test.each([
    [1, size, 'resolved'],
    [0, 0, 'resolved'],
    [0.5, Math.floor(size / 2), 'resolved'],
    [null, 10 * USD, 'market_void'],
  ])('trap 6: a payout of %s, only from the venue’s resolution', (payoutYes, proceeds, reason) => {
    const { trades } = replay(held(), { resolution: { ...YES_WINS, payoutYes } });
    expect(trades[0]).toMatchObject({ exitReason: reason, closedMs: YES_WINS.resolvedTimeMs });
    expect(trades[0]?.pnl).toBe(proceeds - 10 * USD - (trades[0]?.fees ?? 0));
  });

  test.each([
    [0, 1, 'resolved'],
    [null, 0.5, 'market_void'],
  ] as const)(
    'a payout of %s for YES pays %d for a share of NO bought at 0.50',
    (payoutYes, paid, reason) => {
      const writer = new TapeWriter();
      for (const at of [0, 1_000]) writer.book({ at, bids: [[0.5, 1_000 + at]], asks: [[0.6, 1_000]] });
      const strategy: Strategy = { type: 'time_before_resolution', minutes_before: 5, side: 'buy_no' };
      const { trades } = replay(writer.tape(), { strategy, resolution: { ...YES_WINS, payoutYes } });
      expect(trades).toMatchObject([{ token: 'no', entryPrice: 0.5, exitPrice: paid, exitReason: reason }]);
    },
  );

  test.each([
    [0, 'no_strike', 0.2],
    [1, null, 0.3],
  ])('without a known strike, a market with %i trades is skipped as %j', (traded, skipped, threshold) => {
    const compiled = compileStrategy({ ...CHEAP_YES, threshold });
    const strategy = { ...compiled, needs: { ...compiled.needs, strike: true } };
    const tape = cheapAt(10_000, { strikeKnownTimeMs: null })
      .book({ at: 20_000, bids: [[0.25, 1]], asks: [[0.27, 100]] })
      .tape();
    const terms = { strategy, size: 10 * USD, params: PARAMS };
    const result = replayMarket(prepareMarket(tape, strategy.needs), terms, { resolution: YES_WINS });
    expect([result.trades.length, result.skipped]).toEqual([traded, skipped]);
  });

  test('NO pays 1 minus the payout of YES', () => {
    const strategy: Strategy = {
      type: 'threshold_entry',
      threshold: 0.7,
      direction: 'above',
      side: 'buy_no',
    };
    const tape = new TapeWriter()
      .book({ at: 10, bids: [[0.2, 100]], asks: [[0.25, 100]] })
      .book({ at: 900, bids: [[0.2, 90]], asks: [[0.25, 100]] })
      .tape();
    expect(replay(tape, { strategy }).trades[0]).toMatchObject({
      token: 'no',
      entryPrice: 0.8,
      exitPrice: 0,
    });
  });
});
