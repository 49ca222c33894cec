import { expect, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
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

test('markets are listed by the start of their windows', () => {
  const runner = startRun({ definition: strategyOf(() => {}), params: {}, terms: RUN_TERMS });
  for (const [marketId, laterMs] of [
    ['0xa', 300_000],
    ['0xb', 0],
  ] as const) {
    const market = { ...TAPE_MARKET, marketId, startTimeMs: START_MS + laterMs };
    runner.push({ kind: 'market', seq: 1, timeMs: START_MS, market });
  }
  expect(runner.result().markets.map(({ marketId }) => marketId)).toEqual(['0xb', '0xa']);
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
