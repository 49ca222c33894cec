import { describe, expect, test } from 'vitest';
import { drawnStrategy } from '../../../test/support/drawnConditions.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { withNoApart, withPricesAhead, withPricesBeside } from '../../../test/support/oddTapes.ts';
import {
  marketOf,
  openPaperRig,
  printedRows,
  recordedEventsOf,
  replayedRows,
} from '../../../test/support/paperRig.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, type Level, randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { Random } from '../../core/random.ts';
import type { MarketTape } from '../../core/session/tape.ts';
import { QUEUE_MODELS, type Strategy } from '../../schema/strategy.ts';
import { sumsOf } from '../paper/positions.ts';

const SIZE_USD = 10;
const NEVER = Number.POSITIVE_INFINITY;
const RESOLVED = {
  status: 'resolved',
  outcome: 'Up',
  payoutYes: 1,
  resolvedTimeMs: START_MS + 420_000,
} as const;

/** @param speed Times the recorded speed; infinite: as fast as possible. */
async function tradedLive(
  tape: MarketTape,
  { speed = NEVER, dealing = STRATEGIES }: { speed?: number; dealing?: Readonly<Record<string, Strategy>> },
) {
  const told = recordedEventsOf(tape);
  const clock = new FakeClock((told[0]?.atMs ?? 0) - 10_000);
  const { db, bus, userId, trading } = await openPaperRig({ dataDir: temporaryDirectory(), clock });
  for (const [name, strategy] of Object.entries(dealing)) {
    const wanted = { userId, name, strategy, universe: { ticker: 'BTC', event_type: '5m' } as const };
    const made = await trading.paperStrategies.create({
      ...wanted,
      sizeUsd: SIZE_USD,
      baselineId: null,
      cap: 100,
    });
    if (typeof made === 'string') throw new Error(made);
  }
  bus.publish('market', { ...marketOf(tape), seq: 1 });
  for (const { atMs, publish } of told) {
    if (speed < NEVER) await clock.advance((atMs - clock.now()) / speed);
    publish(bus);
  }
  bus.publish('market', { ...marketOf(tape, RESOLVED), seq: 2 });
  const settled = trading.settled();
  await clock.advance(60_000);
  await settled;
  const rows = await db.selectFrom('paper_positions').selectAll().orderBy('opened_ms').execute();
  const strategies = await trading.paperStrategies.strategies.list(userId);
  await trading.close();
  await db.destroy();
  return { rows, strategies };
}

async function expectParity(
  tape: MarketTape,
  { atLeast = 6, ...how }: Parameters<typeof tradedLive>[1] & { atLeast?: number },
): Promise<void> {
  const { rows, strategies } = await tradedLive(tape, how);
  expect(rows.length).toBeGreaterThanOrEqual(atLeast);
  for (const own of strategies) {
    const live = rows.filter((row) => row.paper_strategy_id === own.strategyId);
    const { strategyId, strategy, activeFromMs: fromMs } = own;
    const replayed = replayedRows(tape, { strategyId, strategy, fromMs, sizeUsd: SIZE_USD }, RESOLVED);
    expect(printedRows(live), own.name).toBe(printedRows(replayed));
    const { pnl, open, closed } = sumsOf(live);
    expect([own.netPnl, own.openPositions, own.closedPositions]).toEqual([pnl, open, closed]);
  }
}

describe.each([
  ['1', 1],
  ['100', 100],
  ['unlimited', NEVER],
] as const)('a live stream at speed %s', (_, speed) => {
  const tapes = (seed: string) => {
    const shape = { books: 1_200, levels: 6 };
    const late = withLateGaps(randomTape(`parity ${seed}`, { ...shape, gaps: false }), seed);
    return { [seed]: randomTape(`parity ${seed}`, shape), [`${seed}, gaps detected late`]: late };
  };
  const all = Object.entries({ ...tapes('one'), ...tapes('two'), ...tapes('three') });
  test.each(all)('trades exactly as the backtester does: tape %s', async (_name, tape) => {
    await expectParity(tape, { speed });
  });
});

test('strategies with conditions of every kind trade exactly as the backtester does, asleep or not', async () => {
  const random = new Random('drawn conditions');
  const dealing = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`drawn ${n}`, drawnStrategy(random)]),
  );
  await expectParity(randomTape('parity drawn', { books: 800, levels: 6 }), { dealing, atLeast: 100 });
});

/** The same strategies, with purchases that rest. */
const RESTING = Object.fromEntries(
  Object.entries(STRATEGIES).map(([name, strategy], at): [string, Strategy] => {
    const queue_model = QUEUE_MODELS[at % QUEUE_MODELS.length] as (typeof QUEUE_MODELS)[number];
    return [
      name,
      { ...strategy, execution: { entry: 'maker', offset: 0.01, timeout_s: 2 + at, queue_model } },
    ];
  }),
);

describe('purchases that rest', () => {
  const tapes = (seed: string) => {
    const shape = { books: 1_200, levels: 6, trades: true };
    const late = withLateGaps(randomTape(`resting ${seed}`, { ...shape, gaps: false }), seed);
    return { [seed]: randomTape(`resting ${seed}`, shape), [`${seed}, gaps detected late`]: late };
  };
  test.each(Object.entries({ ...tapes('one'), ...tapes('two') }))(
    'are traded live exactly as by the backtester: tape %s',
    async (_name, tape) => {
      await expectParity(tape, { dealing: RESTING, atLeast: 4 });
    },
  );
});

test('a purchase that rests is filled by the first trade after a gap, whether or not a price came before it', async () => {
  const strategy: Strategy = {
    ...{ type: 'time_before_resolution', minutes_before: 4.95, side: 'buy_yes' },
    execution: { entry: 'maker', offset: 0, timeout_s: 60, queue_model: 'pessimistic' },
  };
  for (const prices of [[], [5_500]]) {
    const writer = new TapeWriter();
    const book = (second: number, shares: number) =>
      writer.book({ at: second * 1_000, bids: [[0.4, shares]], asks: [[0.5, 100]] });
    book(1, 10);
    // The book received at the end of the gap is still in it: the next record shows that the gap is over.
    book(5, 11).gap({ start: 1_000, known: 3_000, end: 5_000 });
    for (const at of prices) writer.price(at, 97_000);
    writer.trade({ at: 6_000, side: 'SELL_YES', price: 0.39, shares: 500 });
    book(7, 12);
    await expectParity(writer.tape(), { dealing: { strategy }, atLeast: 1 });
  }
});

/** Prices beside the quotes from the start, prices of the deciding feed only from a later time on. */
function blind(tape: MarketTape, untilMs: number): MarketTape {
  const { prices, ...rest } = withPricesBeside(tape);
  const from = prices?.receivedMs.findIndex((ms) => ms >= untilMs) ?? -1;
  if (prices === null || from < 0) return { ...rest, prices: null };
  const { seq, receivedMs, eventMs, price } = prices;
  const cut = (column: Float64Array) => column.subarray(from);
  return {
    ...rest,
    prices: { seq: cut(seq), receivedMs: cut(receivedMs), eventMs: cut(eventMs), price: cut(price) },
  };
}

describe('an odd stream', () => {
  const drawn = (seed: string) => randomTape(seed, { books: 1_200, levels: 6, gaps: false });
  test.each([
    ['NO does not mirror YES', withNoApart(drawn('yes'), drawn('no'))],
    ['prices are received after books that were published later', withPricesAhead(drawn('ahead'), 700)],
    ['no price of the deciding feed, only those beside quotes', blind(drawn('beside'), END_MS)],
    ['a deciding feed that starts in mid-window', blind(drawn('begins'), START_MS + 150_000)],
  ])('is traded exactly as by the backtester: %s', async (_, tape) => {
    await expectParity(tape, {});
  });
});

test('consumed liquidity is available again if a gap detected late reverses only the last trade', async () => {
  const strategy: Strategy = {
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 2 },
    entry: [
      { metric: 'token_price', operator: 'below', value: 0.41 },
      { metric: 'spread', operator: 'above', value: 0.015 },
    ],
    take_profit: [{ metric: 'spread', operator: 'below', value: 0.015 }],
    stop_loss: [],
  };
  const asks: Level[] = [
    [0.4, 20],
    [0.45, 100],
  ];
  const writer = new TapeWriter();
  const book = (second: number, bid: Level, of = asks) =>
    writer.book({ at: second * 1_000, bids: [bid], asks: of });
  const wide = (second: number) => book(second, [0.38, 1_000]).price(second * 1_000, 97_000);
  // Two trades, the second after the start of a gap that is detected when it is over; meanwhile the level was refilled.
  for (const second of [1, 5]) {
    wide(second);
    book(second + 1, [0.38, 1_001]);
    book(second + 2, [0.39, 1_000]);
    book(second + 3, [0.39, 1_001]);
  }
  book(9, [0.38, 1_000], asks.slice(1));
  wide(10).gap({ start: 4_500, known: 10_500, end: 10_600 });
  book(11, [0.38, 1_001]);
  book(12, [0.38, 1_002]);
  await expectParity(writer.tape(), { dealing: { strategy }, atLeast: 2 });
});

test('a price that fell while the book was untrusted crossed nothing, also for a sleeping session', async () => {
  const strategy: Strategy = {
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 9 },
    entry: [{ metric: 'token_price', operator: 'crosses_below', value: 0.5 }],
    take_profit: [],
    stop_loss: [],
  };
  const writer = new TapeWriter();
  const book = (second: number, ask: number, trusted = true) =>
    writer.book({ at: second * 1_000, bids: [[0.4, 100]], asks: [[ask, 100]], trusted });
  for (const second of [1, 2]) book(second, 0.54 + second / 100);
  book(3, 0.55, false);
  book(4, 0.48);
  book(5, 0.47);
  book(6, 0.55);
  book(7, 0.46);
  book(8, 0.45);
  const { rows } = await tradedLive(writer.tape(), { dealing: { strategy } });
  expect(rows.map(({ opened_ms }) => opened_ms - START_MS)).toEqual([7_200]);
  await expectParity(writer.tape(), { dealing: { strategy }, atLeast: 1 });
});
