/** Poisoned future: whatever comes after a time, no decision, no view and no money before it moves. */
import { expect, test } from 'vitest';
import { RUN_TERMS, strategyOf } from '../../../test/support/runs.ts';
import { END_MS, laterTape, randomTape, START_MS } from '../../../test/support/tapes.ts';
import { Random } from '../random.ts';
import type { Context, ParamSpecs, StrategyEvent } from './definition.ts';
import { itemsOf } from './itemsOf.ts';
import type { RunItem } from './runner.ts';
import type { RunTape } from './runTape.ts';
import { startRun } from './startRun.ts';
import type { RunTerms } from './terms.ts';

const MOMENTS = 1_000;
const MOMENTS_A_TAPE = 20;
const TERMS: RunTerms = {
  ...RUN_TERMS,
  ...{ orderLatency: { kind: 'uniform', minMs: 20, maxMs: 400 }, cashUsd: 200 },
  exposure: { perMarketUsd: 60, perTickerUsd: null, totalUsd: 100 },
  redemptionDelayMs: 5_000,
};

/** Two neighbouring windows, the second with its own prices, and trades at the books' best prices. */
function tapesOf(seed: string, payoutYes: number): RunTape[] {
  const market = { strikeKnownTimeMs: START_MS + 2_000 };
  const first = withTrades(randomTape(seed, { books: 120, levels: 4, market }), seed);
  const second = laterTape(first, { marketId: '0xlater', laterMs: 300_000, afterSeq: 100_000 });
  const late = (marketEndMs: number, payout: number) => ({
    payoutYes: payout,
    resolvedTimeMs: marketEndMs + 9_000,
  });
  return [
    { tape: first, resolution: late(END_MS, payoutYes) },
    {
      tape: { ...second, trades: null, prices: second.prices },
      resolution: late(END_MS + 300_000, 1 - payoutYes),
    },
  ];
}

/** The windows overlap, but their arrival numbers do not: numbered by receive time. */
function itemsInOrder(tapes: readonly RunTape[]): RunItem[] {
  const items = [...itemsOf(tapes)].sort((a, b) => a.timeMs - b.timeMs);
  return items.map((item, at) => ({ ...item, seq: at + 1 }));
}

function withTrades(tape: RunTape['tape'], seed: string): RunTape['tape'] {
  const random = new Random(`${seed} trades`);
  const { quotes } = tape;
  const at = Array.from(quotes.seq, (_, row) => row).filter(() => random.chance(0.4));
  const column = (of: (row: number) => number) => Float64Array.from(at, of);
  return {
    ...tape,
    trades: {
      // Trades come with their quote, in the order of arrival before it.
      seq: column((row) => (quotes.seq[row] as number) - 0.5),
      receivedMs: column((row) => quotes.receivedMs[row] as number),
      eventMs: column((row) => (quotes.receivedMs[row] as number) - 40),
      side: Uint8Array.from(at, () => random.below(4)),
      price: column((row) => quotes.yesBid[row] || 5_000),
      size: column(() => 1_000_000 * (1 + random.below(80))),
    },
  };
}

/** Trades and rests by chance, and writes down every event and all that it can see. */
function strategy(seen: string[]) {
  let last: number | null = null;
  return strategyOf(
    (event, context) => {
      if (event.type === 'order') last = event.order.orderId;
      seen.push(JSON.stringify([event, ...viewsOf(event, context)]));
      const marketId = 'marketId' in event ? event.marketId : null;
      if (marketId === null || event.type === 'resolved' || context.random() > 0.2) return;
      act(marketId, context, last);
    },
    { trades: true, model: true, clockMs: 7_000 },
  );
}

function viewsOf(event: StrategyEvent, context: Context<ParamSpecs, unknown>): unknown[] {
  const money = [context.nowMs, context.cash, context.equity, context.openOrders()];
  const markets = context.markets().map(({ marketId, strikePrice, trusted, tickSize }) => {
    const { yesProbability, distanceSigma, volatility } = context.model(marketId);
    const book = context.book(marketId);
    const held = [context.position(marketId, 'yes'), context.position(marketId, 'no')];
    return [
      ...[marketId, strikePrice, trusted, tickSize, yesProbability, distanceSigma, volatility, ...held],
      ...[book.levels('yes', 'asks'), book.bestBid('no'), book.imbalance('no'), context.price(marketId)],
    ];
  });
  return [event.type, money, markets];
}

function act(marketId: string, context: Context<ParamSpecs, unknown>, last: number | null): void {
  const random = () => context.random();
  const token = random() < 0.5 ? 'yes' : 'no';
  const { size } = context.position(marketId, token);
  const price = Math.round(random() * 99) / 100;
  const choice = random();
  if (choice < 0.15 && last !== null) context.cancel(last);
  else if (choice < 0.4) context.place({ marketId, token, action: 'buy', limitPrice: 0.6, budget: 5 });
  else if (choice < 0.8)
    context.place({
      marketId,
      token,
      action: 'buy',
      limitPrice: price,
      size: 5 + Math.round(10 * random()),
      timeInForce: 'gtc',
    });
  else if (size > 0) context.place({ marketId, token, action: 'sell', limitPrice: 0.02, size });
}

function replay(items: Iterable<RunItem>): { seen: string[]; money: string[] } {
  const seen: string[] = [];
  const runner = startRun({ definition: strategy(seen), params: {}, terms: TERMS });
  for (const item of items) runner.push(item);
  return { seen, money: runner.result().equity.map((point) => JSON.stringify(point)) };
}

const upTo = (lines: readonly string[], timeMs: number, timeOf: (line: string) => number) =>
  lines.filter((line) => timeOf(line) <= timeMs).join('\n');
const timeOfEvent = (line: string) => JSON.parse(line)[0].timeMs as number;
const timeOfPoint = (line: string) => JSON.parse(line).timeMs as number;

test('trap 8: replacing everything after a time changes no event, no view and no equity before it', () => {
  let [orders, fills] = [0, 0];
  for (let n = 0; n < MOMENTS / MOMENTS_A_TAPE; n++) {
    const truth = tapesOf(`run truth ${n}`, n % 2);
    const garbage = itemsInOrder(tapesOf(`run garbage ${n}`, 1 - (n % 2)));
    const all = itemsInOrder(truth);
    const whole = replay(all);
    const random = new Random(`run moments ${n}`);
    for (let i = 0; i < MOMENTS_A_TAPE; i++) {
      const timeMs = START_MS + random.below(600_000);
      const kept = all.filter((item) => item.timeMs <= timeMs);
      const listed = new Set(kept.flatMap((item) => (item.kind === 'market' ? [item.market.marketId] : [])));
      const isKnown = (item: RunItem) => !('marketId' in item) || listed.has(item.marketId);
      const after = garbage.filter((item) => item.timeMs > timeMs && item.kind !== 'market' && isKnown(item));
      const poisoned = replay([...kept, ...after]);
      const where = `tape ${n}, moment ${timeMs}`;
      expect(upTo(poisoned.seen, timeMs, timeOfEvent), where).toBe(upTo(whole.seen, timeMs, timeOfEvent));
      expect(upTo(poisoned.money, timeMs, timeOfPoint), where).toBe(upTo(whole.money, timeMs, timeOfPoint));
    }
    orders += whole.seen.filter(
      (line) => line.startsWith('[{"seq"') && line.includes('"type":"order"'),
    ).length;
    fills += whole.money.length;
  }
  // The comparison is about something.
  expect(orders).toBeGreaterThan(MOMENTS);
  expect(fills).toBeGreaterThan(MOMENTS / 4);
});

test('two runs over one recording give the same bytes', () => {
  const items = itemsInOrder(tapesOf('run twice', 1));
  expect(replay(items)).toEqual(replay(items));
});

test('pushing in parts, with results read in between, changes nothing', () => {
  const items = itemsInOrder(tapesOf('run parts', 1));
  const seen: string[] = [];
  const runner = startRun({ definition: strategy(seen), params: {}, terms: TERMS });
  for (const [at, item] of items.entries()) {
    runner.push(item);
    if (at % 50 === 0) runner.result();
  }
  expect(seen).toEqual(replay(items).seen);
});
