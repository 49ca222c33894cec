import { describe, expect, test } from 'vitest';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { withPricesBeside } from '../../../test/support/oddTapes.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import type { ReplayParams, Strategy } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { LiveMarket } from './liveMarket.ts';
import { prepareMarket } from './prepare.ts';
import { replayMarket } from './replay.ts';
import { MarketSession } from './session.ts';
import type { SessionEvent } from './sessionEvents.ts';
import { type MarketTape, TapeLadders, type TapeSide } from './tape.ts';
import { UnderlyingState } from './underlyingState.ts';

const PARAMS: ReplayParams = {
  fill_mode: 'walk_book',
  latency_ms: 50,
  max_fill_price: 0.985,
  max_slippage: null,
};
const MOMENTS = 1_000;
const TAPES = 4;
/** Per stream and tape. */
const STREAM_MOMENTS = 8;
const SHAPE = { books: 120, levels: 4 };

function decisions(tape: MarketTape, strategy: Strategy, payoutYes = 1): SessionEvent[] {
  const compiled = compileStrategy(strategy);
  const events: SessionEvent[] = [];
  const terms = { strategy: compiled, size: 25_000_000, params: PARAMS };
  const resolution = { payoutYes, resolvedTimeMs: START_MS + 400_000 };
  const listener = (event: SessionEvent) => events.push(event);
  replayMarket(prepareMarket(tape, compiled.needs), terms, { resolution, listener });
  return events;
}

type Columns = { readonly seq: Float64Array; readonly receivedMs: Float64Array };

/** The rows of `truth` received up to a time, then those of `garbage` received after it. */
function splice<T extends Columns>(truth: T, garbage: T, timeMs: number): T {
  const kept = truth.receivedMs.findIndex((received) => received > timeMs);
  const head = kept < 0 ? truth.receivedMs.length : kept;
  const tail = garbage.receivedMs.findIndex((received) => received > timeMs);
  const from = tail < 0 ? garbage.receivedMs.length : tail;
  const column = (name: keyof T) => {
    const [a, b] = [truth[name], garbage[name]] as unknown as [Float64Array, Float64Array];
    if (!ArrayBuffer.isView(a))
      return a === null ? null : spliceSide(a, b as unknown as TapeSide, { head, from });
    const after = name === 'seq' ? b.map((seq) => seq + 1e9) : b;
    return joined(a.subarray(0, head), after.subarray(from));
  };
  return Object.fromEntries(
    Object.keys(truth).map((name) => [name, column(name as keyof T)]),
  ) as unknown as T;
}

function spliceSide(a: TapeSide, b: TapeSide, { head, from }: { head: number; from: number }): TapeSide {
  const cut = a.offsets[head] as number;
  const begin = b.offsets[from] as number;
  const shifted = b.offsets.subarray(from + 1).map((offset) => offset - begin + cut);
  return {
    offsets: joined(a.offsets.subarray(0, head + 1), shifted),
    prices: joined(a.prices.subarray(0, cut), b.prices.subarray(begin)),
    sizes: joined(a.sizes.subarray(0, cut), b.sizes.subarray(begin)),
  };
}

function joined<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(a: T, b: T): T {
  const both = new (a.constructor as new (length: number) => T)(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Everything not yet received at a time is replaced by another market's. */
function poisoned(truth: MarketTape, garbage: MarketTape, timeMs: number): MarketTape {
  const { market } = truth;
  const knewStrike = (market.strikeKnownTimeMs ?? Infinity) <= timeMs;
  return {
    market: knewStrike ? market : { ...market, strikePrice: 1, strikeKnownTimeMs: timeMs + 1 },
    quotes: splice(truth.quotes, garbage.quotes, timeMs),
    books: truth.books && garbage.books && splice(truth.books, garbage.books, timeMs),
    prices: truth.prices && garbage.prices && splice(truth.prices, garbage.prices, timeMs),
    gaps: [
      ...truth.gaps
        .filter(({ knownMs }) => knownMs <= timeMs)
        .map((gap) => ((gap.endMs ?? Infinity) <= timeMs ? gap : { ...gap, endMs: timeMs + 7 })),
      { startMs: market.startTimeMs, knownMs: timeMs + 5, endMs: null },
    ],
  };
}

/**
 * The tape with one stream at other receive times (null: never received), renumbered in the order of receipt. A stream
 * without rows is null, like from a loader.
 */
function arriving(
  tape: MarketTape,
  stream: 'quotes' | 'books' | 'prices',
  receivedAt: (receivedMs: number) => number | null,
): MarketTape {
  const rows = tape[stream];
  if (rows === null) return tape;
  const times = Array.from(rows.receivedMs, receivedAt);
  let latest = Number.NEGATIVE_INFINITY;
  const kept = times.flatMap((time, at) => (time === null ? [] : [at]));
  const receivedMs = Float64Array.from(kept, (at) => {
    latest = Math.max(latest, times[at] as number);
    return latest;
  });
  const changed = { ...pick(rows, kept), receivedMs };
  const isNone = kept.length === 0 && stream !== 'quotes';
  return renumbered({ ...tape, [stream]: isNone ? null : changed });
}

/** Some rows of a stream. */
function pick<T extends Columns>(rows: T, kept: readonly number[]): T {
  const column = (values: unknown) => {
    if (values === null) return null;
    if (!ArrayBuffer.isView(values)) return pickSide(values as TapeSide, kept);
    const all = values as Float64Array;
    return new (all.constructor as typeof Float64Array)(kept.map((at) => all[at] as number));
  };
  return Object.fromEntries(Object.entries(rows).map(([name, values]) => [name, column(values)])) as T;
}

function pickSide({ offsets, prices, sizes }: TapeSide, kept: readonly number[]): TapeSide {
  const levels = kept.flatMap((book) => {
    const [from, to] = [offsets[book] as number, offsets[book + 1] as number];
    return Array.from({ length: to - from }, (_, at) => from + at);
  });
  let end = 0;
  const ends = kept.map((book) => (end += (offsets[book + 1] as number) - (offsets[book] as number)));
  return {
    offsets: Uint32Array.from([0, ...ends]),
    prices: Uint16Array.from(levels, (at) => prices[at] as number),
    sizes: Float64Array.from(levels, (at) => sizes[at] as number),
  };
}

/** Arrival numbers by receive time; equal times keep their order. */
function renumbered({ quotes, books, prices, ...rest }: MarketTape): MarketTape {
  const streams = [quotes, books, prices].map((rows) => rows && { ...rows, seq: rows.seq.slice() });
  const all = streams.flatMap((rows) =>
    Array.from(rows?.seq ?? [], (seq, at) => ({ rows, at, seq, timeMs: rows?.receivedMs[at] as number })),
  );
  all.sort((a, b) => a.timeMs - b.timeMs || a.seq - b.seq);
  for (const [seq, { rows, at }] of all.entries()) if (rows !== null) rows.seq[at] = seq + 1;
  const [q, b, p] = streams as [MarketTape['quotes'], MarketTape['books'], MarketTape['prices']];
  return { ...rest, quotes: q, books: b, prices: p };
}

describe('poison: replacing everything after a time leaves the decisions before it unchanged byte for byte', () => {
  test.each(Object.entries(STRATEGIES))('%s', (_, strategy) => {
    let compared = 0;
    for (let n = 0; n < TAPES; n++) {
      const truth = randomTape(`truth ${n}`, SHAPE);
      const garbage = randomTape(`garbage ${n}`, { ...SHAPE, books: 90 });
      const random = new Random(`moments ${n}`);
      const all = decisions(truth, strategy);
      for (let i = 0; i < MOMENTS / TAPES; i++) {
        const timeMs = START_MS + random.below(300_000);
        const upTo = ({ knownMs }: SessionEvent) => knownMs <= timeMs;
        const expected = all.filter(upTo);
        const seen = decisions(poisoned(truth, garbage, timeMs), strategy, 0).filter(upTo);
        expect(JSON.stringify(seen), `tape ${n}, moment ${timeMs}`).toBe(JSON.stringify(expected));
        compared += expected.length;
      }
    }
    expect(compared).toBeGreaterThan(MOMENTS / 2);
  });

  test.each(Object.entries(STRATEGIES))(
    '%s, with a whole stream removed, added or delayed',
    (_, strategy) => {
      let compared = 0;
      for (let n = 0; n < TAPES; n++) {
        const tape = withPricesBeside(randomTape(`streams ${n}`, SHAPE));
        const random = new Random(`streams moments ${n}`);
        for (const stream of ['quotes', 'books', 'prices'] as const) {
          for (let i = 0; i < STREAM_MOMENTS; i++) {
            const timeMs = START_MS + random.below(300_000);
            const upTo = ({ knownMs }: SessionEvent) => knownMs <= timeMs;
            const [none, until, from] = [
              arriving(tape, stream, () => null),
              arriving(tape, stream, (receivedMs) => (receivedMs <= timeMs ? receivedMs : null)),
              arriving(tape, stream, (receivedMs) => (receivedMs <= timeMs ? null : receivedMs)),
            ];
            const delayed = arriving(tape, stream, (receivedMs) =>
              receivedMs <= timeMs ? receivedMs : receivedMs + 1 + random.below(3) * 20_000,
            );
            for (const [one, other, what] of [
              [tape, until, 'removed'],
              [none, from, 'added'],
              [tape, delayed, 'delayed'],
            ] as const) {
              const expected = decisions(one, strategy).filter(upTo);
              const seen = decisions(other, strategy, 0).filter(upTo);
              expect(JSON.stringify(seen), `tape ${n}, ${stream} ${what} after ${timeMs}`).toBe(
                JSON.stringify(expected),
              );
              compared += expected.length;
            }
          }
        }
      }
      expect(compared).toBeGreaterThan(STREAM_MOMENTS);
    },
  );

  test('two replays give the same bytes', () => {
    for (const strategy of Object.values(STRATEGIES)) {
      const tape = randomTape('twice', SHAPE);
      expect(JSON.stringify(decisions(tape, strategy))).toBe(JSON.stringify(decisions(tape, strategy)));
    }
  });
});

/** Feeds a tape event by event, like the live runner. */
function liveDecisions(tape: MarketTape, strategy: Strategy): SessionEvent[] {
  const { market, quotes, books, prices, gaps } = tape;
  if (books === null || prices === null) throw new Error('a tape with everything is needed');
  const compiled = compileStrategy(strategy);
  const underlying = new UnderlyingState({ openMs: market.startTimeMs });
  const { strikePrice, strikeKnownTimeMs } = market;
  const live = new LiveMarket(
    { ...market, strikePrice: null, strikeKnownTimeMs: null },
    {
      underlying: compiled.needs.model ? underlying : null,
      ...{ depth: Number.POSITIVE_INFINITY, fromMs: Number.NEGATIVE_INFINITY },
    },
  );
  const events: SessionEvent[] = [];
  const terms = { strategy: compiled, size: 25_000_000, params: PARAMS };
  const session = new MarketSession(live, {
    terms,
    ledger: new Ledger(),
    listener: (event) => events.push(event),
  });
  const ladders = new TapeLadders(books);
  const view = (at: number, token: 'yes' | 'no') => ({
    bids: ladders.side(at, token, 'bids'),
    asks: ladders.side(at, token, 'asks'),
  });
  const shared = (at: number, rows: Columns & { trusted: Uint8Array }) => {
    const receivedTimeMs = rows.receivedMs[at]!;
    const times = { seq: rows.seq[at]!, eventTimeMs: receivedTimeMs, receivedTimeMs };
    return { ...times, marketId: market.marketId, trusted: rows.trusted[at] === 1, underlyingPrice: null };
  };
  const orNull = (value: number) => (Number.isNaN(value) ? null : value);
  const feed: { timeMs: number; order: number; emit: () => boolean }[] = [];
  books.seq.forEach((order, at) => {
    const record = { ...shared(at, books), yes: view(at, 'yes'), no: view(at, 'no'), mirrored: true };
    feed.push({ timeMs: record.receivedTimeMs, order, emit: () => live.book(record) });
  });
  quotes.seq.forEach((order, at) => {
    const [yesBid, yesAsk] = [orNull(quotes.yesBid[at]!), orNull(quotes.yesAsk[at]!)];
    const [noBid, noAsk] = [orNull(quotes.noBid[at]!), orNull(quotes.noAsk[at]!)];
    const record = { ...shared(at, quotes), yesBid, yesAsk, noBid, noAsk, yesChanged: true };
    feed.push({ timeMs: record.receivedTimeMs, order, emit: () => live.quote(record) });
  });
  prices.seq.forEach((order, at) => {
    const [receivedMs, eventMs, price] = [prices.receivedMs[at]!, prices.eventMs[at]!, prices.price[at]!];
    const emit = () => {
      underlying.push({ receivedMs, eventMs, price });
      return live.price(receivedMs);
    };
    feed.push({ timeMs: receivedMs, order, emit });
  });
  for (const gap of gaps) {
    feed.push({ timeMs: gap.knownMs, order: gap.knownSeq ?? 0, emit: () => live.gapDetected(gap) });
    const endMs = gap.endMs;
    if (endMs !== null) feed.push({ timeMs: endMs, order: Infinity, emit: () => live.gapEnded(endMs) });
  }
  const learn = () => {
    live.strike({ strikePrice, strikeKnownTimeMs });
    return false;
  };
  feed.push({ timeMs: strikeKnownTimeMs ?? Infinity, order: -1, emit: learn });
  feed.sort((a, b) => a.timeMs - b.timeMs || a.order - b.order);
  for (const { emit } of feed) {
    if (emit()) session.step(0);
  }
  session.settle({ payoutYes: 1, resolvedTimeMs: START_MS + 400_000 });
  return events;
}

test.each(Object.entries(STRATEGIES))('live and replay decide the same: %s', (_, strategy) => {
  let events = 0;
  for (let n = 0; n < 8; n++) {
    const early = randomTape(`live ${n}`, SHAPE);
    const late = withLateGaps(randomTape(`live ${n}`, { ...SHAPE, gaps: false }), `${n}`);
    for (const tape of [early, late]) {
      const replayed = decisions(tape, strategy);
      events += replayed.length;
      const live = liveDecisions(tape, strategy);
      expect(JSON.stringify(live)).toBe(JSON.stringify(replayed));
    }
  }
  expect(events).toBeGreaterThan(5);
});

const ON_MODEL: Strategy = {
  type: 'condition_based',
  side: 'buy_yes',
  entry: [{ metric: 'underlying_distance_pct', operator: 'above', value: 0.05 }],
  take_profit: [],
  stop_loss: [],
  max_trades_per_market: 1,
};

describe('knowledge over time', () => {
  const quoted = { bids: [[0.49, 900]], asks: [[0.51, 900]] } as const;
  const books = (writer: TapeWriter, from: number, to: number) => {
    for (let at = from; at <= to; at += 1_000)
      writer.book({ at, bids: [[0.49, 100 + at]], asks: quoted.asks });
    return writer;
  };

  test('trap 2: the strike is unseen before it was known and before the window opens', () => {
    const firstOrder = (strikeKnownTimeMs: number) => {
      const writer = new TapeWriter({ strikeKnownTimeMs });
      for (let at = -5_000; at < 30_000; at += 1_000) {
        writer.price(at, 97_100);
        writer.book({ at, bids: [[0.49, 9_000 + at]], asks: quoted.asks });
      }
      return decisions(writer.tape(), ON_MODEL)[0]?.knownMs;
    };
    expect(firstOrder(START_MS + 7_000)).toBe(START_MS + 7_000);
    expect(firstOrder(START_MS - 3_000)).toBe(START_MS);
  });

  test('trap 4: a price stamped earlier applies from its receive time', () => {
    const writer = books(new TapeWriter({ strikeKnownTimeMs: START_MS }), 0, 9_000);
    const tape = books(writer.price(10_000, 97_100), 11_000, 20_000).tape();
    tape.prices?.eventMs.fill(START_MS + 5_000);
    expect(decisions(tape, ON_MODEL)[0]?.knownMs).toBe(START_MS + 10_000);
  });

  test('trap 4: a price stamped more than five seconds before its receipt is not a current price', () => {
    const writer = books(new TapeWriter({ strikeKnownTimeMs: START_MS }), 0, 9_000);
    const tape = books(writer.price(10_000, 97_100), 11_000, 20_000).tape();
    tape.prices?.eventMs.fill(START_MS + 4_999);
    expect(decisions(tape, ON_MODEL)).toEqual([]);
  });

  test('trap 4: a price of the deciding feed changes nothing before it is received', () => {
    const writer = books(new TapeWriter({ strikeKnownTimeMs: START_MS }), 0, 40_000);
    const none = { ...writer.tape(), prices: null };
    none.quotes.underlying.fill(
      97_100,
      none.quotes.receivedMs.findIndex((ms) => ms >= START_MS),
    );
    const one = { ...writer.price(100_500, 96_000).tape(), quotes: none.quotes };
    expect(decisions(none, ON_MODEL)[0]?.knownMs).toBe(START_MS + 1_000);
    expect(decisions(one, ON_MODEL)).toEqual(decisions(none, ON_MODEL));
  });

  test('trap 4: the price at the open is one received by then, not one stamped for it that is received later', () => {
    const moved: Strategy = {
      ...ON_MODEL,
      entry: [{ metric: 'underlying_move_usd', operator: '>=', value: 50 }],
    };
    const writer = books(new TapeWriter().price(-1_000, 97_000).price(3_000, 97_100), 0, 9_000);
    const tape = books(writer.price(9_500, 97_060), 10_000, 20_000).tape();
    // A price of 97,100 for the open that arrives three seconds later; measured from it, nothing ever rises.
    if (tape.prices !== null) tape.prices.eventMs[1] = START_MS;
    const [first] = decisions(tape, moved);
    expect(first?.knownMs).toBe(START_MS + 3_000);
  });

  test('once a price of the deciding feed has been received, those beside quotes are ignored', () => {
    const writer = books(new TapeWriter({ strikeKnownTimeMs: START_MS }).price(-1_000, 96_900), 0, 8_000);
    const tape = writer.tape();
    tape.quotes.underlying.fill(97_100);
    expect(decisions(tape, ON_MODEL)).toEqual([]);
  });

  test('trap 5: a book is used from its receive time, whatever its timestamp', () => {
    const early: Strategy = { type: 'time_before_resolution', minutes_before: 5, side: 'buy_yes' };
    const tape = books(new TapeWriter(), 4_000, 6_000).tape();
    expect(decisions(tape, early)[0]?.knownMs).toBe(START_MS + 4_000);
  });

  test('trap 9: a price older than ten seconds is ignored, and a crossing is not detected across a break', () => {
    const writer = new TapeWriter({ strikeKnownTimeMs: START_MS }).price(-10_500, 97_100);
    expect(decisions(books(writer, 0, 20_000).tape(), ON_MODEL)).toEqual([]);
    const falls: Strategy = {
      ...ON_MODEL,
      entry: [{ metric: 'token_price', operator: 'crosses_below', value: 0.4 }],
    } as Strategy;
    const broken = new TapeWriter()
      .book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]] })
      .book({ at: 1_000, bids: [[0.2, 1]], asks: [[0.5, 1]], trusted: false })
      .book({ at: 2_000, bids: [[0.2, 1]], asks: [[0.3, 1]] });
    expect(decisions(broken.tape(), falls)).toEqual([]);
    const whole = new TapeWriter()
      .book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]] })
      .book({ at: 2_000, bids: [[0.2, 1]], asks: [[0.3, 1]] });
    expect(decisions(whole.tape(), falls)[0]?.knownMs).toBe(START_MS + 2_000);
  });
});
