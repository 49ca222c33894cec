/** What one item tells a strategy: which events, in what order, and when. */
import { expect, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { Context, Inputs, ParamSpecs, StrategyEvent } from './definition.ts';
import type { RunItem } from './runner.ts';
import { startRun } from './startRun.ts';

const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
const LEVELS = { bids: [[0.38, 100]], asks: [[0.4, 100]] } as const;
type Act = (context: Context<ParamSpecs, unknown>) => void;

const buy =
  (more: object = {}): Act =>
  (context) => {
    context.place({ marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size: 10, ...more });
  };
/** More than is held: refused at once. */
const sell: Act = (context) => {
  context.place({ marketId: ID, token: 'yes', action: 'sell', limitPrice: 0.3, size: 10 });
};

/** The events from a time on (ms after the window's start), of a strategy that acts at the first event of a kind. */
function eventsOf(
  writer: TapeWriter,
  { at, act, fromMs = 0, inputs }: { at: string; act: Act; fromMs?: number; inputs?: Partial<Inputs> },
): unknown[] {
  const seen: unknown[] = [];
  let acted = false;
  const strategy = strategyOf((event, context) => {
    const name = event.type === 'order' ? event.order.state : event.type;
    if (event.timeMs >= START_MS + fromMs) seen.push([event.timeMs - START_MS, name]);
    if (acted || event.type !== at) return;
    acted = true;
    act(context);
  }, inputs);
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  return seen;
}

const quiet = (...times: readonly number[]) => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS });
  for (const at of times) writer.book({ at, ...LEVELS });
  return writer;
};

test('a fill comes before the book that confirms it', () => {
  expect(eventsOf(quiet(0, 1_000), { at: 'book', act: buy() })).toEqual([
    ...[
      [0, 'market'],
      [0, 'book'],
    ],
    ...[
      [1_000, 'filled'],
      [1_000, 'book'],
    ],
    [360_000, 'resolved'],
  ]);
});

test('a fill comes before the trade that makes it', () => {
  const writer = quiet(0, 1_000).trade({ at: 1_500, side: 'SELL_YES', price: 0.39, shares: 10 });
  const act = buy({ limitPrice: 0.39, timeInForce: 'gtc' });
  expect(eventsOf(writer, { at: 'book', act, fromMs: 1_500, inputs: { trades: true } })).toEqual([
    [1_500, 'filled'],
    [1_500, 'trade'],
    [360_000, 'resolved'],
  ]);
});

test('a fill that a gap takes back comes before the gap', () => {
  const writer = quiet(0, 1_000)
    .gap({ start: 100, known: 1_500, end: null })
    .book({ at: 2_000, ...LEVELS });
  expect(eventsOf(writer, { at: 'book', act: buy(), fromMs: 1_500 })).toEqual([
    [1_500, 'taken_back'],
    [1_500, 'gap'],
    [2_000, 'book'],
    [360_000, 'resolved'],
  ]);
});

test('an order that the resolution ends comes before the resolution', () => {
  const act = buy({ limitPrice: 0.3, timeInForce: 'gtc' });
  expect(eventsOf(quiet(0, 1_000), { at: 'book', act, fromMs: 1_001 })).toEqual([
    [360_000, 'expired'],
    [360_000, 'resolved'],
  ]);
});

test.each([
  ['the end of a gap', 'gap_end', 3_000],
  ['a clock event', 'clock', 2_000],
])('an order refused at %s is told at that time, before what follows it', (_, at, atMs) => {
  const writer = quiet(0, 1_000)
    .gap({ start: 1_100, known: 1_500, end: 3_000 })
    .book({ at: 4_500, ...LEVELS });
  const inputs = at === 'clock' ? { clockMs: 2_000 } : {};
  const events = eventsOf(writer, { at, act: sell, inputs });
  const place = events.findIndex((event) => (event as unknown[])[1] === 'refused');
  expect(events.slice(place - 1, place + 1)).toEqual([
    [atMs, at],
    [atMs, 'refused'],
  ]);
  expect(events.length).toBeGreaterThan(place + 1);
});

test('a strategy can still read a market when it receives the refusal of an order at the resolution', () => {
  const read: unknown[] = [];
  const strategy = strategyOf((event, context) => {
    if (event.type === 'resolved') sell(context);
    if (event.type === 'order') read.push(event.order.state, context.market(ID).marketId);
  });
  resultOf(strategy, { runs: [{ tape: quiet(0).tape(), resolution: WON }] });
  expect(read).toEqual(['refused', ID]);
});

/** A run of a strategy that gets items one by one, after the listing of a market. */
function started(onEvent: (event: StrategyEvent) => void, inputs: Partial<Inputs> = {}) {
  const runner = startRun({ definition: strategyOf(onEvent, inputs), params: {}, terms: RUN_TERMS });
  const push = (item: object) => runner.push(item as RunItem);
  push({ kind: 'market', seq: 1, timeMs: START_MS, market: TAPE_MARKET });
  return push;
}

test('an event has the arrival number of its item', () => {
  const seen: unknown[] = [];
  const push = started(({ seq, type }) => seen.push([seq, type]));
  push({ kind: 'gap', seq: 5, timeMs: START_MS + 10, id: 1, marketId: ID, startMs: START_MS });
  push({ kind: 'market', seq: 9, timeMs: START_MS + 20, market: TAPE_MARKET });
  expect(seen).toEqual([
    [1, 'market'],
    [5, 'gap'],
    [9, 'market'],
  ]);
});

test('the news that a gap has ended moves the clock', () => {
  const beats: number[] = [];
  const push = started(({ type, timeMs }) => type === 'clock' && beats.push(timeMs - START_MS), {
    clockMs: 4_000,
  });
  push({ kind: 'gap', seq: 2, timeMs: START_MS + 10, id: 1, marketId: ID, startMs: START_MS });
  const endMs = START_MS + 5_000;
  push({ kind: 'gap_end', seq: 3, timeMs: endMs, id: 1, marketId: ID, endMs });
  expect(beats).toEqual([4_000]);
});

test('what becomes known of a market after its outcome does not move the clock: a gap or its strike', () => {
  const seen: unknown[] = [];
  const push = started(({ type, timeMs }) => seen.push([timeMs - START_MS, type]), { clockMs: 60_000 });
  push({ kind: 'resolved', seq: 2, timeMs: START_MS + 10, marketId: ID, resolution: WON });
  const later = { seq: 3, timeMs: START_MS + 120_000, id: 1, marketId: ID };
  push({ ...later, kind: 'gap', startMs: START_MS + 119_000 });
  push({ ...later, kind: 'gap_end', endMs: START_MS + 120_000 });
  push({ ...later, kind: 'market', timeMs: START_MS + 180_000, market: TAPE_MARKET });
  expect(seen).toEqual([
    [0, 'market'],
    [10, 'resolved'],
  ]);
});

test('a market of a kind of window that the strategy did not ask for is left out', () => {
  const seen: string[] = [];
  const push = started(({ type }) => seen.push(type));
  push({
    ...{ kind: 'market', seq: 2, timeMs: START_MS },
    market: { ...TAPE_MARKET, marketId: '0xhour', eventType: '1h' },
  });
  expect(seen).toEqual(['market']);
});

test('the volatility is known from ten seconds before the window on', () => {
  const writer = new TapeWriter().book({ at: -701_000, ...LEVELS });
  for (let second = -700; second <= 0; second++)
    writer.price(1_000 * second, 97_000 * (1 + 0.0001 * (second % 3)));
  const known: number[] = [];
  const strategy = strategyOf(
    ({ type, timeMs }, context) => {
      if (type === 'price' && context.model(ID).volatility !== null) known.push(timeMs - START_MS);
    },
    { model: true },
  );
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect(known).toEqual(Array.from({ length: 11 }, (_, second) => 1_000 * second - 10_000));
});
