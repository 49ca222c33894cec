/** Laws of the money of a run, whatever its strategy orders, cancels and replaces. */
import { expect, test } from 'vitest';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { RUN_TERMS, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, randomTape, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { QUEUE_MODELS } from '../../schema/strategy.ts';
import { Random } from '../random.ts';
import type { MarketTape } from '../session/tape.ts';
import type { Context, ParamSpecs } from './definition.ts';
import { itemsOf } from './itemsOf.ts';
import type { RunResult } from './result.ts';
import { startRun } from './startRun.ts';
import type { RunTerms } from './terms.ts';

const SEEDS = 30;
const MICRO = 1_000_000;
const ID = TAPE_MARKET.marketId;
const PAYOUTS = [1, 0, 0.5, null] as const;

/** Orders of all kinds near the best prices, and changes of those that rest. */
function act(context: Context<ParamSpecs, unknown>, random: Random): void {
  const token = random.chance(0.5) ? 'yes' : 'no';
  const action = random.chance(0.6) ? 'buy' : 'sell';
  const book = context.book(ID);
  const [bid, ask] = [book.bestBid(token), book.bestAsk(token)];
  if (bid === null || ask === null) return;
  const cents = Math.round(100 * (action === 'buy' ? ask : bid)) + random.below(7) - 3;
  const limitPrice = Math.min(99, Math.max(1, cents)) / 100;
  const size = 5 + random.below(60) + random.below(MICRO) / MICRO;
  const order = { marketId: ID, token, action, limitPrice } as const;
  const open = context.openOrders();
  const one = open[random.below(open.length)];
  const kind = random.below(10);
  if (one !== undefined && kind === 0) context.cancel(one.orderId);
  else if (one?.state === 'resting' && kind < 6)
    // The last of them is the smallest.
    for (const part of [1, 0.5, 0.2]) context.replace(one.orderId, { limitPrice, size: 5 + size * part });
  else if (kind === 6 && action === 'buy') context.place({ ...order, budget: 1 + random.below(30) });
  else if (kind < 8) context.place({ ...order, size, timeInForce: random.chance(0.5) ? 'fak' : 'fok' });
  else context.place({ ...order, size, timeInForce: 'gtc', postOnly: random.chance(0.5) });
}

function run(
  tape: MarketTape,
  seed: string,
  terms: Partial<RunTerms>,
): { result: RunResult; cash: number[] } {
  const random = new Random(seed);
  const cash: number[] = [];
  const definition = strategyOf(
    (event, context) => {
      cash.push(context.cash ?? 0);
      if (event.type === 'book' && random.chance(0.3)) act(context, random);
    },
    { trades: true },
  );
  const payoutYes = PAYOUTS[random.below(PAYOUTS.length)] ?? null;
  const resolution = { payoutYes, resolvedTimeMs: END_MS + 90_000 };
  const queueModel = QUEUE_MODELS[random.below(QUEUE_MODELS.length)] ?? 'pessimistic';
  const orderLatency = { kind: 'uniform', minMs: 10, maxMs: 3_000 } as const;
  const runner = startRun({
    definition,
    params: {},
    terms: { ...RUN_TERMS, queueModel, orderLatency, countsRebate: random.chance(0.5), ...terms },
  });
  for (const item of itemsOf([{ tape, resolution }])) runner.push(item);
  return { result: runner.result(), cash };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test('the cash at the end is the deposit and the P&L of all trades; every fill is in one trade', () => {
  let [fills, takenBack] = [0, 0];
  for (let n = 0; n < SEEDS; n++) {
    const seed = `money ${n}`;
    const plain = randomTape(seed, { books: 250, levels: 4, trades: true, gaps: n % 3 === 0 });
    const tape = n % 3 === 1 ? withLateGaps(plain, seed) : plain;
    const { result } = run(tape, seed, { cashUsd: 150 });
    const { trades, orders } = result;
    const last = result.equity.at(-1);
    expect(last, seed).toMatchObject({ reserved: 0, locked: 0, marked: 0 });
    expect(last?.cash, seed).toBe(150 * MICRO + sum(trades.map(({ pnl }) => pnl ?? Number.NaN)));
    expect(sum(result.fills.map(({ fee }) => fee)), seed).toBe(sum(trades.map((trade) => trade.fees)));
    const isBuy = (orderId: number) => orders[orderId - 1]?.terms.action === 'buy';
    const bought = result.fills.filter(({ orderId }) => isBuy(orderId)).map(({ size }) => size);
    expect(sum(bought), seed).toBe(sum(trades.map(({ size }) => size)));
    for (const { orderId, filledSize, terms } of orders) {
      const own = result.fills.filter((fill) => fill.orderId === orderId).map(({ size }) => size);
      expect(sum(own), seed).toBe(filledSize);
      expect(filledSize, seed).toBeLessThanOrEqual(terms.size ?? Number.POSITIVE_INFINITY);
    }
    fills += result.fills.length;
    takenBack += orders.filter(({ outcome }) => outcome === 'taken_back').length;
  }
  expect(fills).toBeGreaterThan(10 * SEEDS);
  expect(takenBack).toBeGreaterThan(5);
});

test('a run never spends more cash than it has, unless a gap takes a sale back', () => {
  let [noCash, least] = [0, Number.POSITIVE_INFINITY];
  for (let n = 0; n < SEEDS; n++) {
    const seed = `spends ${n}`;
    const tape = randomTape(seed, { books: 250, levels: 4, trades: true, gaps: false });
    const { result, cash } = run(tape, seed, { cashUsd: 40 });
    least = Math.min(least, ...cash);
    noCash += result.orders.filter(({ reason }) => reason === 'no_cash').length;
  }
  expect(least).toBeGreaterThanOrEqual(0);
  expect(noCash).toBeGreaterThan(SEEDS);
});
