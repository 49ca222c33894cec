import { expect, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, laterTape, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { PlaceOrder } from './definition.ts';
import { itemsOf } from './itemsOf.ts';
import { countedTrades } from './result.ts';
import { startRun } from './startRun.ts';

const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
const LEVELS = { bids: [[0.38, 100]], asks: [[0.4, 100]] } as const;

test('a trade is an event with its side, its price in USDC and its size in shares', () => {
  const seen: unknown[] = [];
  const strategy = strategyOf((event) => event.type === 'trade' && seen.push(event), { trades: true });
  const writer = new TapeWriter().book({ at: 0, ...LEVELS });
  writer.trade({ at: 500, side: 'SELL_YES', price: 0.39, shares: 6 });
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  const timeMs = START_MS + 500;
  expect(seen).toMatchObject([
    { timeMs, marketId: ID, side: 'SELL_YES', price: 0.39, size: 6, eventTimeMs: timeMs },
  ]);
});

test('clock events keep to whole periods, whenever items arrive', () => {
  const beats: number[] = [];
  const strategy = strategyOf(({ type, timeMs }) => type === 'clock' && beats.push(timeMs - START_MS), {
    clockMs: 4_000,
  });
  const writer = new TapeWriter();
  for (const at of [0, 4_500, 8_100, 12_000]) writer.book({ at, ...LEVELS });
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: null }] });
  expect(beats).toEqual([4_000, 8_000, 12_000]);
});

test('a trade of the result has the model’s probability of its token and the volatility at its decision', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS }).book({ at: 0, ...LEVELS });
  for (let second = 0; second <= 120; second++)
    writer.price(second * 1_000, 97_000 * (1 + 0.0001 * (second % 3)));
  for (const at of [120_500, 121_500, 122_500]) writer.book({ at, ...LEVELS });
  let model: { yesProbability: number | null; volatility: number | null } | null = null;
  const strategy = strategyOf(
    ({ type }, context) => {
      if (type !== 'book' || model !== null || context.nowMs === START_MS) return;
      const { yesProbability, volatility } = context.model(ID);
      model = { yesProbability, volatility };
      context.place({ marketId: ID, token: 'no', action: 'buy', limitPrice: 0.7, size: 10 });
    },
    { model: true },
  );
  const { trades } = resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  const { yesProbability, volatility } = model as unknown as Record<string, number>;
  expect([yesProbability, volatility]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(trades.map(({ atEntry }) => atEntry)).toEqual([
    { secondsToEnd: 179.5, volatility, modelProbability: 1 - (yesProbability as number) },
  ]);
});

test('markets are listed by the start of their windows, and those of the same start by id', () => {
  const runner = startRun({ definition: strategyOf(() => {}), params: {}, terms: RUN_TERMS });
  for (const [marketId, laterMs] of [
    ['0xa', 300_000],
    ['0xd', 0],
    ['0xb', 0],
    ['0xc', 0],
  ] as const) {
    const market = { ...TAPE_MARKET, marketId, startTimeMs: START_MS + laterMs };
    runner.push({ kind: 'market', seq: 1, timeMs: START_MS, market });
  }
  expect(runner.result().markets.map(({ marketId }) => marketId)).toEqual(['0xb', '0xc', '0xd', '0xa']);
});

test('a market without a book in its window, or without a strike for the model, is skipped', () => {
  const skipped = (writer: TapeWriter) =>
    resultOf(
      strategyOf(() => {}, { model: true }),
      { runs: [{ tape: writer.tape(), resolution: WON }] },
    ).markets.map((market) => market.skipped);
  const unknown = { strikePrice: null, strikeKnownTimeMs: null };
  expect(skipped(new TapeWriter().book({ at: 300_500, ...LEVELS }))).toEqual(['no_data']);
  expect(skipped(new TapeWriter(unknown).book({ at: 0, ...LEVELS }))).toEqual(['no_strike']);
  expect(skipped(new TapeWriter().book({ at: 0, ...LEVELS }))).toEqual([null]);
});

test('a maker’s rebate is a negative fee where the run counts it', () => {
  const strategy = strategyOf(({ type }, context) => {
    if (type !== 'book' || context.nowMs !== START_MS) return;
    const terms = { limitPrice: 0.39, size: 10, timeInForce: 'gtc' } as const;
    context.place({ marketId: ID, token: 'yes', action: 'buy', ...terms });
  });
  const writer = new TapeWriter().book({ at: 0, ...LEVELS }).book({ at: 1_000, ...LEVELS });
  writer.trade({ at: 1_500, side: 'SELL_YES', price: 0.39, shares: 10 }).book({ at: 2_000, ...LEVELS });
  const runs = [{ tape: writer.tape(), resolution: WON }];
  const fees = [true, false].map((countsRebate) =>
    resultOf(strategy, { runs, terms: { countsRebate } }).fills.map(({ fee }) => fee),
  );
  // A fifth of 0.16653 USD.
  expect(fees).toEqual([[-33_306], [0]]);
});

/** Places a purchase of ten shares of YES with each book of these times after the window's start. */
function buyingAt(
  times: readonly number[],
  order: Partial<PlaceOrder> = {},
  inputs: Parameters<typeof strategyOf>[1] = {},
) {
  return strategyOf(({ type, timeMs }, context) => {
    if (type === 'book' && times.includes(timeMs - START_MS))
      context.place({ marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size: 10, ...order });
  }, inputs);
}

test('a market is covered up to the start of a gap, and not up to its detection', () => {
  const writer = new TapeWriter();
  for (let at = 0; at <= 9_000; at += 1_000) writer.book({ at, ...LEVELS });
  writer.gap({ start: 5_100, known: 9_500, end: null }).book({ at: 10_000, ...LEVELS });
  const { markets } = resultOf(
    strategyOf(() => {}),
    { runs: [{ tape: writer.tape(), resolution: WON }] },
  );
  expect(markets).toMatchObject([{ coverage: 5_100 / 300_000 }]);
});

test('the fee and the delay of a changed listing apply from then on', () => {
  const writer = new TapeWriter();
  for (let at = 0; at <= 5_000; at += 1_000) writer.book({ at, ...LEVELS, bids: [[0.38, 1 + at]] });
  const definition = buyingAt([0, 3_000]);
  const runner = startRun({ definition, params: {}, terms: RUN_TERMS });
  for (const item of itemsOf([{ tape: writer.tape(), resolution: WON }])) {
    runner.push(item);
    if (item.kind !== 'book' || item.timeMs !== START_MS + 2_000) continue;
    const market = { ...TAPE_MARKET, takerFeeRate: 0.01, takerFeeExponent: 1, takerDelayMs: 300 };
    runner.push({ kind: 'market', seq: item.seq, timeMs: item.timeMs, market });
  }
  expect(runner.result().fills.map(({ timeMs, fee }) => [timeMs - START_MS, fee])).toEqual([
    [200, 168_000],
    [3_350, 24_000],
  ]);
});

test('a price of the window’s start moves the model, and one of its end does not', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS - 5_000 }).book({ at: -2_000, ...LEVELS });
  for (const at of [-1_000, 0, 299_000, 300_000]) writer.price(at, 97_000 + at / 100);
  const seen: unknown[] = [];
  const strategy = strategyOf(
    ({ type, timeMs }, context) =>
      type === 'price' && seen.push([timeMs - START_MS, context.model(ID).distancePct]),
    { model: true },
  );
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  const atLast = expect.closeTo((100 * 2_990) / 97_000, 9);
  expect(seen).toEqual([
    [-1_000, null],
    [0, 0],
    [299_000, atLast],
    [300_000, atLast],
  ]);
});

test.each([
  [299_999, { locked: 0, marked: 3_800_000 }],
  [300_000, { locked: 4_000_000, marked: 0 }],
])('a position is locked at its cost from the end of the window on: at %i ms', (last, expected) => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000, last]) writer.book({ at, ...LEVELS });
  const runs = [{ tape: writer.tape(), resolution: null }];
  const { equity } = resultOf(buyingAt([0]), { runs });
  expect(equity.at(-1)).toMatchObject({ timeMs: START_MS + last, ...expected });
});

test('the redemption delay of a payout counts from the resolution, also if a gap delayed the payout', () => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000, 2_000]) writer.book({ at, ...LEVELS });
  writer.gap({ start: 299_000, known: 400_000, end: null });
  const later = laterTape(new TapeWriter().book({ at: 0, ...LEVELS }).tape(), {
    ...{ marketId: '0xlater', laterMs: 415_000, afterSeq: 1_000 },
  });
  const { equity } = resultOf(buyingAt([0]), {
    runs: [
      { tape: writer.tape(), resolution: WON },
      { tape: later, resolution: null },
    ],
    terms: { cashUsd: 100, redemptionDelayMs: 50_000 },
  });
  const left = 100_000_000 - 4_168_000;
  expect(equity.slice(-2)).toMatchObject([
    { timeMs: START_MS + 400_000, cash: left, locked: 10_000_000 },
    { timeMs: START_MS + 415_000, cash: left + 10_000_000, locked: 0 },
  ]);
});

test('figures count only trades of markets that were not skipped', () => {
  const markets = [
    { marketId: '0xa', skipped: null },
    { marketId: '0xb', skipped: 'gap' },
    { marketId: '0xc', skipped: null },
  ];
  const trades = ['0xa', '0xb', '0xc', '0xa'].map((marketId) => ({ marketId }));
  const counted = countedTrades({ markets, trades } as unknown as Parameters<typeof countedTrades>[0]);
  expect(counted.map(({ marketId }) => marketId)).toEqual(['0xa', '0xc', '0xa']);
});

test('an item received earlier than the one before does not set the clock of a run back', () => {
  const times: number[] = [];
  const definition = strategyOf(({ timeMs }, context) =>
    times.push(timeMs - START_MS, context.nowMs - START_MS),
  );
  const runner = startRun({ definition, params: {}, terms: RUN_TERMS });
  for (const [seq, at] of [0, 500, 300, 600].entries())
    runner.push({ kind: 'market', seq, timeMs: START_MS + at, market: TAPE_MARKET });
  expect(times).toEqual([0, 0, 500, 500, 500, 500, 600, 600]);
});

test('a position is marked down to a whole micro-USD', () => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000, 20_000]) writer.book({ at, ...LEVELS });
  const { equity } = resultOf(buyingAt([0], { size: 10.000_002 }), {
    runs: [{ tape: writer.tape(), resolution: null }],
  });
  // 10.000002 shares at 0.38 are 3.80000076 USD.
  expect(equity.at(-1)).toMatchObject({ timeMs: START_MS + 20_000, marked: 3_800_000 });
});

test('a price within the window counts as data of a strategy with the model', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS }).book({ at: -2_000, ...LEVELS });
  const tape = writer.price(1_000, 97_000).tape();
  const skipped = [true, false].map(
    (model) =>
      resultOf(
        strategyOf(() => {}, { model }),
        { runs: [{ tape, resolution: WON }] },
      ).markets[0]?.skipped,
  );
  expect(skipped).toEqual([null, 'no_data']);
});

test('an order that still rests at the end of the window expires at the resolution', () => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000]) writer.book({ at, ...LEVELS });
  const strategy = buyingAt([0], { limitPrice: 0.3, timeInForce: 'gtc' });
  const { orders } = resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect(orders).toMatchObject([{ outcome: 'expired', endedMs: WON.resolvedTimeMs }]);
});

test('the model uses the prices beside quotes while the deciding feed has none', () => {
  const writer = new TapeWriter({ strikeKnownTimeMs: START_MS - 5_000 });
  for (const at of [0, 1_000]) writer.book({ at, ...LEVELS });
  const tape = writer.tape();
  tape.quotes.underlying.fill(97_970);
  const seen: unknown[] = [];
  const strategy = strategyOf(
    ({ type }, context) => type === 'book' && seen.push(context.model(ID).distancePct),
    { model: true },
  );
  resultOf(strategy, { runs: [{ tape: { ...tape, prices: null }, resolution: WON }] });
  expect(seen).toEqual([null, expect.closeTo(1, 9)]);
});

test('an order that meets a crossed book is missed', () => {
  const writer = new TapeWriter().book({ at: 0, ...LEVELS });
  writer.book({ at: 100, bids: [[0.45, 100]], asks: [[0.4, 100]] }).book({ at: 1_000, ...LEVELS });
  const { orders } = resultOf(buyingAt([0]), { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect(orders).toMatchObject([{ outcome: 'missed', reason: 'untrusted' }]);
});

test('a market without a strike counts if a strategy with the model traded in it', () => {
  const writer = new TapeWriter({ strikePrice: null, strikeKnownTimeMs: null });
  for (const at of [0, 1_000]) writer.book({ at, ...LEVELS });
  const strategy = buyingAt([0], {}, { model: true });
  const { markets, trades } = resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  expect([markets[0]?.skipped, trades.length]).toEqual([null, 1]);
});

test('trades are listed in the order of their first purchases, and not of the resolutions', () => {
  const writer = new TapeWriter();
  for (const at of [0, 1_000, 2_000]) writer.book({ at, ...LEVELS });
  const first = writer.tape();
  const second = laterTape(first, { marketId: '0xsecond', laterMs: 500, afterSeq: 0.5 });
  const strategy = strategyOf((event, context) => {
    if (event.type !== 'book' || context.openOrders().length > 0) return;
    const { marketId } = event;
    if (context.position(marketId, 'yes').size === 0)
      context.place({ marketId, token: 'yes', action: 'buy', limitPrice: 0.4, size: 10 });
  });
  const runs = [
    { tape: first, resolution: null },
    { tape: second, resolution: WON },
  ];
  const { trades } = resultOf(strategy, { runs });
  expect(trades.map(({ marketId, exitReason }) => [marketId, exitReason])).toEqual([
    [ID, null],
    ['0xsecond', 'resolved'],
  ]);
});
