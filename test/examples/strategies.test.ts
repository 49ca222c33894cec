import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import fadeTheMove from '../../examples/strategies/fadeTheMove.ts';
import fairValueEdge from '../../examples/strategies/fairValueEdge.ts';
import lateFavourite from '../../examples/strategies/lateFavourite.ts';
import marketMaker from '../../examples/strategies/marketMaker.ts';
import underround from '../../examples/strategies/underround.ts';
import { Random } from '../../src/core/random.ts';
import type { StrategyDefinition } from '../../src/core/run/definition.ts';
import { itemsOf } from '../../src/core/run/itemsOf.ts';
import type { RunResult } from '../../src/core/run/result.ts';
import { startRun } from '../../src/core/run/startRun.ts';
import type { RunTerms } from '../../src/core/run/terms.ts';
import { type MarketTape, TAPE_TRADE_SIDES } from '../../src/core/session/tape.ts';
import { withNoApart } from '../support/oddTapes.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { END_MS, randomTape, START_MS } from '../support/tapes.ts';

const TAPES = 8;
const SHAPE = { books: 600, levels: 4 };
const TICKS = 10_000;
const TERMS: RunTerms = {
  seed: 1,
  orderLatency: { kind: 'uniform', minMs: 30, maxMs: 90 },
  queueModel: 'pessimistic',
  cashUsd: 1_000,
  exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null },
  redemptionDelayMs: 60_000,
};

/** The tape with takers that now and then sell through several levels, so that resting orders fill. */
function withTakers(tape: MarketTape, seed: string): MarketTape {
  const random = new Random(seed);
  const { seq, receivedMs, yesBid, noBid } = tape.quotes;
  const rows = Array.from(seq.keys()).flatMap((at) => {
    const side = random.chance(0.5) ? 'SELL_YES' : 'SELL_NO';
    const bid = (side === 'SELL_YES' ? yesBid : noBid)[at] as number;
    if (Number.isNaN(bid) || !random.chance(0.3)) return [];
    const size = (50 + random.below(400)) * 1_000_000;
    const price = Math.max(100, bid - 300);
    return [{ seq: (seq[at] as number) + 0.5, ms: receivedMs[at] as number, side, price, size } as const];
  });
  const column = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of);
  return {
    ...tape,
    trades: {
      ...{
        seq: column((row) => row.seq),
        receivedMs: column(({ ms }) => ms),
        eventMs: column(({ ms }) => ms),
      },
      side: Uint8Array.from(rows, ({ side }) => TAPE_TRADE_SIDES.indexOf(side)),
      ...{ price: column(({ price }) => price), size: column(({ size }) => size) },
    },
  };
}

interface Example {
  readonly definition: unknown;
  /** Where the defaults rarely trade on random tapes. */
  readonly params?: Readonly<Record<string, number>>;
  readonly tapeOf: (seed: string) => MarketTape;
}

const plain = (seed: string) => randomTape(seed, SHAPE);
const EXAMPLES: Readonly<Record<string, Example>> = {
  fadeTheMove: { definition: fadeTheMove, tapeOf: plain },
  fairValueEdge: { definition: fairValueEdge, tapeOf: plain },
  lateFavourite: { definition: lateFavourite, params: { minPrice: 0.55 }, tapeOf: plain },
  marketMaker: { definition: marketMaker, tapeOf: (seed) => withTakers(plain(seed), seed) },
  underround: {
    definition: underround,
    tapeOf: (seed) => withNoApart(plain(seed), randomTape(`${seed} no`, SHAPE)),
  },
};

function runOf({ definition, params = {} }: Example, tape: MarketTape, terms = TERMS): RunResult {
  const runner = startRun({ definition: definition as StrategyDefinition, params, terms });
  const resolution = { payoutYes: 1, resolvedTimeMs: END_MS + 90_000 };
  for (const item of itemsOf([{ tape, resolution }])) runner.push(item);
  return runner.result();
}

const resultsOf = (example: Example) =>
  Array.from({ length: TAPES }, (_, n) => runOf(example, example.tapeOf(`example ${n}`)));

describe.each(Object.entries(EXAMPLES))('the example %s', (name, example) => {
  const results = resultsOf(example);
  const orders = results.flatMap((result) => result.orders);

  test('trades, and keeps its orders few', () => {
    expect(results.flatMap(({ trades }) => trades).length).toBeGreaterThan(TAPES / 2);
    const refused = orders.filter(({ outcome }) => outcome === 'refused');
    // An order may fill while its replacement is on its way, which the venue then refuses.
    expect(refused.length, JSON.stringify(refused.slice(0, 3))).toBeLessThan(0.1 * orders.length + 1);
    // A window has 600 books.
    for (const result of results) expect(result.orders.length).toBeLessThan(200);
  });

  test('asks for nothing that its purse cannot pay', () => {
    const poor = runOf(example, example.tapeOf('example 0'), { ...TERMS, cashUsd: 4 });
    expect(poor.orders.filter(({ reason }) => reason === 'no_cash').length).toBeLessThan(3);
  });

  test('gives the same bytes again', () => {
    expect(JSON.stringify(resultsOf(example))).toBe(JSON.stringify(results));
  });

  test('explains itself in ten lines or fewer, and in the list of examples', () => {
    const [first = '', ...rest] = readFileSync(
      join(PROJECT_ROOT, `examples/strategies/${name}.ts`),
      'utf8',
    ).split('\n');
    const lines = rest.slice(0, rest.indexOf(' */'));
    expect([first, lines.length >= 6, lines.length <= 10]).toEqual(['/**', true, true]);
    const list = readFileSync(join(PROJECT_ROOT, 'examples/README.md'), 'utf8');
    expect(list).toContain(`strategies/${name}.ts`);
  });
});

test('every strategy of the folder is tested', () => {
  const files = readdirSync(join(PROJECT_ROOT, 'examples/strategies'));
  expect(files.sort()).toEqual(
    Object.keys(EXAMPLES)
      .map((name) => `${name}.ts`)
      .sort(),
  );
});

describe('the market maker', () => {
  const { orders, fills } = resultsOf(EXAMPLES.marketMaker as Example)[0] as RunResult;

  test('fills both tokens as a maker only', () => {
    expect(new Set(fills.map(({ liquidity }) => liquidity))).toEqual(new Set(['maker']));
    const tokens = orders.filter(({ filledSize }) => filledSize > 0).map(({ terms }) => terms.token);
    expect(new Set(tokens)).toEqual(new Set(['yes', 'no']));
  });

  test('has no order in the book in the last seconds of the window', () => {
    const stopMs = END_MS - 30_000;
    // A second until the clock's event, and the latency of the cancel.
    for (const { endedMs, decidedMs } of orders) {
      expect(decidedMs).toBeLessThan(stopMs);
      expect(endedMs).toBeLessThan(stopMs + 2_000);
    }
  });

  test('rests nothing around a release', () => {
    const minute = new Date(START_MS).getUTCHours() * 60 + new Date(START_MS).getUTCMinutes();
    const example = {
      ...EXAMPLES.marketMaker,
      params: { newsMinuteUtc: minute + 2, newsMinutes: 1 },
    } as Example;
    const quiet = [START_MS + 60_000, START_MS + 180_000] as const;
    const own = runOf(example, example.tapeOf('example 0')).orders;
    expect(own.length).toBeGreaterThan(3);
    for (const { decidedMs } of own) expect(decidedMs < quiet[0] || decidedMs > quiet[1]).toBe(true);
    const across = own.filter(
      ({ decidedMs, endedMs }) => decidedMs < quiet[0] && (endedMs ?? END_MS) > quiet[0] + 2_000,
    );
    expect(across).toEqual([]);
  });

  test('moves a bid only by whole requotes of two ticks', () => {
    const prices = orders
      .filter(({ terms }) => terms.token === 'yes')
      .map(({ terms }) => terms.limitPrice / TICKS);
    const moved = prices.filter((price, at) => at > 0 && price !== prices[at - 1]);
    expect(moved.length).toBeGreaterThan(2);
  });
});
