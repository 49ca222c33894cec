import { describe, expect, test } from 'vitest';
import { RUN_TERMS, resultOf, strategyOf } from '../../../test/support/runs.ts';
import {
  END_MS,
  type Level,
  ladder,
  laterTape,
  START_MS,
  TAPE_MARKET,
  TapeWriter,
} from '../../../test/support/tapes.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Context, ParamSpecs } from './definition.ts';
import type { StrategyRunner } from './runner.ts';
import { startRun } from './startRun.ts';

const WON = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const ID = TAPE_MARKET.marketId;
type Read = (context: Context<ParamSpecs, unknown>) => unknown;

/** Offered at 0.40 and bid at 0.38 and 0.37, one book a second. */
function quiet(untilMs = 5_000): TapeWriter {
  const writer = new TapeWriter();
  for (let at = 0; at <= untilMs; at += 1_000)
    writer.book({
      ...{ at, asks: [[0.4, 200 + at / 1_000]] },
      bids: [
        [0.38, 100],
        [0.37, 50],
      ],
    });
  return writer;
}

/** The values that a strategy reads at each event of one kind. */
function read(type: string, of: Read, writer = quiet(), inputs = {}): unknown[] {
  const seen: unknown[] = [];
  const strategy = strategyOf((event, context) => {
    if (event.type === type) seen.push(of(context));
  }, inputs);
  resultOf(strategy, { runs: [{ tape: writer.tape(), resolution: WON }] });
  return seen;
}

describe('a strategy reads', () => {
  test('the facts of a market', () => {
    const [facts] = read('book', (context) => context.market(ID));
    const { marketId, ticker, eventType, startTimeMs, endTimeMs } = TAPE_MARKET;
    expect(facts).toMatchObject({ marketId, ticker, eventType, startTimeMs, endTimeMs, trusted: true });
    expect(facts).toMatchObject({ tickSize: 0.01, minimumOrderSize: 5 });
  });

  test('no volatility before there are prices, and its annual value afterwards', () => {
    const writer = quiet(0);
    for (let at = 0; at <= 200_000; at += 1_000) writer.price(at, 97_000 + (at % 2_000 === 0 ? 10 : 0));
    writer.book({ at: 201_000, bids: [[0.3, 1]], asks: [[0.4, 1]] });
    const seen = read('book', (context) => context.model(ID).volatility, writer, { model: true });
    expect(seen[0]).toBeNull();
    expect(seen.at(-1)).toBeGreaterThan(0);
    const unpriced = read('book', (context) => context.model(ID).volatility, quiet(), { model: true });
    expect(unpriced.at(-1)).toBeNull();
  });

  test('whether the book is proven', () => {
    const trusted: Read = (context) => context.market(ID).trusted;
    const writer = quiet().book({ at: 6_000, bids: [[0.3, 1]], trusted: false });
    expect([read('market', trusted)[0], ...read('book', trusted, writer).slice(-2)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('the book of each token, and none before the first', () => {
    const book: Read = (context) => {
      const of = context.book(ID);
      const tokens = (['yes', 'no'] as const).map((token) => [
        ...[of.bestBid(token), of.bestAsk(token), of.imbalance(token)],
        ...[of.levels(token, 'bids'), of.levels(token, 'asks')],
      ]);
      return tokens;
    };
    expect(read('market', book)[0]).toEqual([
      [null, null, null, [], []],
      [null, null, null, [], []],
    ]);
    const bids = [
      { price: 0.38, size: 100 },
      { price: 0.37, size: 50 },
    ];
    const mirrored = [
      { price: 0.62, size: 100 },
      { price: 0.63, size: 50 },
    ];
    const imbalance = expect.closeTo((150 - 200) / 350, 12);
    expect(read('book', book)[0]).toEqual([
      [0.38, 0.4, imbalance, bids, [{ price: 0.4, size: 200 }]],
      [0.6, 0.62, expect.closeTo(1 / 7, 12), [{ price: 0.6, size: 200 }], mirrored],
    ]);
  });

  test('its position with its average price and cost, without fees', () => {
    const seen = read('book', (context) => {
      const order = { marketId: ID, token: 'no', action: 'buy', limitPrice: 0.7, size: 10 } as const;
      if (context.nowMs === START_MS) context.place(order);
      return [context.position(ID, 'yes'), context.position(ID, 'no')];
    });
    const none = { size: 0, averagePrice: null, costUsd: 0 };
    expect(seen[0]).toEqual([none, none]);
    expect(seen.at(-1)).toEqual([none, { size: 10, averagePrice: 0.62, costUsd: 6.2 }]);
  });

  test('the distance from the strike in per cent', () => {
    const writer = quiet()
      .price(5_500, 97_970)
      .book({ at: 6_000, bids: [[0.3, 1]], asks: [[0.4, 1]] });
    const seen = read('book', (context) => context.model(ID).distancePct, writer, { model: true });
    expect([seen[0], seen.at(-1)]).toEqual([null, expect.closeTo(1, 9)]);
  });

  test('the open markets by the start of their windows, each until its end', () => {
    const first = quiet(299_000).tape();
    const next = laterTape(quiet().tape(), { marketId: '0xnext', laterMs: 300_000, afterSeq: 1_000 });
    const seen = new Set<string>();
    const strategy = strategyOf((_, context) => {
      const ids = context.markets().map(({ marketId }) => marketId);
      seen.add(`${Math.floor((context.nowMs - START_MS) / 60_000)} ${ids.join(' ')}`);
    });
    const runs = [first, next].map((tape) => ({ tape, resolution: null }));
    resultOf(strategy, { runs });
    expect([...seen]).toEqual([0, 1, 2, 3, 4].map((minute) => `${minute} ${ID}`).concat('5 0xnext'));
  });

  test('no market from the very end of its window on', () => {
    const writer = quiet(1_000).book({ at: 300_000, bids: [[0.3, 1]] });
    expect(read('book', (context) => context.markets().length, writer)).toEqual([1, 1, 0]);
  });

  test('of windows of several lengths each until its own end, in the order of their starts', () => {
    let seen: string[] = [];
    const runner = started(
      (context) => {
        seen = context.markets().map(({ marketId }) => marketId);
      },
      { priceSources: ['chainlink'] },
    );
    const listed = (marketId: string, startMs: number, endMs: number) =>
      runner.push({
        ...({ kind: 'market', seq: 2, timeMs: START_MS } as const),
        market: {
          ...{ ...TAPE_MARKET, marketId },
          ...{ startTimeMs: START_MS + startMs, endTimeMs: START_MS + endMs },
        },
      });
    listed('0xlong', 0, 900_000);
    listed('0xlater', 300_000, 600_000);
    listed('0xlater too', 300_000, 450_000);
    expect(seen).toEqual([ID, '0xlong', '0xlater', '0xlater too']);
    const at = (ms: number) => {
      const times = { eventTimeMs: START_MS + ms, receivedTimeMs: START_MS + ms };
      const price = {
        kind: 'underlying',
        ticker: 'BTC',
        source: 'chainlink',
        price: 97_000,
        ...times,
      } as const;
      runner.push({ kind: 'price', seq: 3 + ms, timeMs: START_MS + ms, price });
      return seen;
    };
    expect(at(299_999)).toHaveLength(4);
    expect(at(300_000)).toEqual(['0xlong', '0xlater', '0xlater too']);
    expect(at(450_000)).toEqual(['0xlong', '0xlater']);
    expect(at(599_999)).toEqual(['0xlong', '0xlater']);
    runner.push({
      ...{ kind: 'resolved', seq: 1e6, timeMs: START_MS + 599_999, marketId: '0xlater' },
      resolution: { payoutYes: 1, resolvedTimeMs: START_MS + 599_999 },
    } as const);
    expect(at(599_999)).toEqual(['0xlong']);
    expect(at(900_000)).toEqual([]);
  });

  test('the market of an earlier window first, though it was listed later', () => {
    let seen: string[] = [];
    const runner = started((context) => {
      seen = context.markets().map(({ marketId }) => marketId);
    });
    const earlier = { ...TAPE_MARKET, marketId: '0xearlier', startTimeMs: START_MS - 300_000 };
    runner.push({ kind: 'market', seq: 2, timeMs: START_MS, market: earlier });
    expect(seen).toEqual(['0xearlier', ID]);
  });
});

/** A run with the market listed. */
function started(onEvent: Read, inputs = {}): StrategyRunner {
  const definition = strategyOf((_, context) => onEvent(context), inputs);
  const runner = startRun({ definition, params: {}, terms: RUN_TERMS });
  runner.push({ kind: 'market', seq: 1, timeMs: START_MS, market: TAPE_MARKET });
  return runner;
}

test('a strike is known from the start of its window, or from its later receipt', () => {
  const strikes: unknown[] = [];
  const runner = started((context) => strikes.push(context.market(ID).strikePrice));
  for (const [sinceMs, knownMs] of [
    [1, null],
    [1_500, -5_000],
    [2_000, -5_000],
    [3_000, 4_000],
    [4_000, 4_000],
  ] as const) {
    const strikeKnownTimeMs = knownMs === null ? null : START_MS + knownMs;
    const market = { ...TAPE_MARKET, startTimeMs: START_MS + 2_000, strikeKnownTimeMs };
    runner.push({ kind: 'market', seq: 2, timeMs: START_MS + sinceMs, market });
  }
  expect(strikes).toEqual([null, null, null, 97_000, null, 97_000]);
});

describe('of feeds a strategy reads', () => {
  test('the newest price of each source, but none that arrives late or is history', () => {
    let seen: unknown[] = [];
    const sources = [undefined, 'chainlink', 'binance_spot', 'coinbase_spot'] as const;
    const runner = started(
      (context) => {
        seen = sources.map((source) => context.price(ID, source)?.price ?? null);
      },
      { priceSources: ['chainlink', 'binance_spot'] },
    );
    const push = (seq: number, source: UnderlyingSource, price: number, more = {}) => {
      const receivedTimeMs = START_MS + seq;
      const times = { eventTimeMs: receivedTimeMs - 100, receivedTimeMs };
      const event = { kind: 'underlying', ticker: 'BTC', source, price, ...times, ...more } as const;
      runner.push({ kind: 'price', seq, timeMs: receivedTimeMs, price: event });
      return seen;
    };
    expect(push(2, 'chainlink', 97_000)).toEqual([97_000, 97_000, null, null]);
    expect(push(3, 'binance_spot', 97_001)).toEqual([97_000, 97_000, 97_001, null]);
    expect(push(4, 'chainlink', 96_000, { eventTimeMs: START_MS + 4 - 5_001 })[0]).toBe(97_000);
    expect(push(5, 'chainlink', 95_000, { isHistory: true })[0]).toBe(97_000);
    expect(push(6, 'chainlink', 0)[0]).toBe(97_000);
    expect(push(7, 'chainlink', 97_002)[0]).toBe(97_002);
  });

  test('without naming a source, the price of the feed that decides the market', () => {
    let seen: unknown[] = [];
    const runner = started(
      (context) => {
        seen = context.markets().map(({ marketId }) => context.price(marketId)?.price ?? null);
      },
      { eventTypes: ['5m', '1h'], priceSources: ['chainlink', 'binance_spot'] },
    );
    const hour = {
      ...TAPE_MARKET,
      marketId: '0xhour',
      eventType: '1h',
      endTimeMs: START_MS + 3_600_000,
    } as const;
    runner.push({ kind: 'market', seq: 2, timeMs: START_MS, market: hour });
    for (const [seq, source] of [
      [3, 'chainlink'],
      [4, 'binance_spot'],
    ] as const) {
      const times = { eventTimeMs: START_MS, receivedTimeMs: START_MS + seq };
      const price = { kind: 'underlying', ticker: 'BTC', source, price: 97_000 + seq, ...times } as const;
      runner.push({ kind: 'price', seq, timeMs: START_MS + seq, price });
    }
    expect(seen).toEqual([97_003, 97_004]);
  });

  test('the newest book of each perpetual', () => {
    let seen: unknown[] = [];
    const runner = started((context) => {
      seen = [
        context.perpDepth('BTC', 'bybit'),
        context.perpDepth('BTC', 'okx'),
        context.perpDepth('ETH', 'bybit'),
      ];
    });
    const depth = {
      ...({ seq: 2, kind: 'perp_depth', venue: 'bybit', ticker: 'BTC', updateId: 1 } as const),
      ...{ eventTimeMs: START_MS, engineTimeMs: null, receivedTimeMs: START_MS + 2, roundTripMs: null },
      ...{ bids: [['97000.5', '1.25']], asks: [['97001', '2']] },
    };
    runner.push({ kind: 'perp_depth', seq: 2, timeMs: START_MS + 2, depth: depth as never });
    const book = { bids: [{ price: 97_000.5, size: 1.25 }], asks: [{ price: 97_001, size: 2 }] };
    expect(seen).toEqual([book, null, null]);
  });
});

test('of the lines that a strategy logs, 10,000 of 1,000 characters are kept', () => {
  const runner = started((context) => {
    for (let line = 0; line <= 10_001; line++) context.log(`${line}`.padEnd(1_001, '.'));
  });
  const { log, logLinesLeftOut } = runner.result();
  expect([log.length, logLinesLeftOut]).toEqual([10_000, 2]);
  expect(log[7]).toEqual({ timeMs: START_MS, text: '7'.padEnd(1_000, '.') });
});

test('the equity has a point every ten seconds while shares are held, and none before', () => {
  const strategy = strategyOf(({ type }, context) => {
    const order = { marketId: ID, token: 'yes', action: 'buy', limitPrice: 0.4, size: 10 } as const;
    if (type === 'book' && context.nowMs === START_MS + 25_000) context.place(order);
  });
  const runs = [{ tape: quiet(50_000).tape(), resolution: WON }];
  const { equity } = resultOf(strategy, { runs, terms: { cashUsd: 100 } });
  expect(equity.map(({ timeMs }) => timeMs - START_MS)).toEqual([0, 26_000, 36_000, 46_000, 360_000]);
});

test('a book in which any one best price of a token changed is an event, also without `books`', () => {
  let events = 0;
  const runner = started(() => events++, { books: false });
  const level = (price: number): Level[] => [[price, 10]];
  const push = (seq: number, [yesBid, yesAsk, noBid, noAsk]: readonly [number, number, number, number]) => {
    const before = events;
    const sides = {
      yes: { bids: ladder('bids', level(yesBid)), asks: ladder('asks', level(yesAsk)) },
      no: { bids: ladder('bids', level(noBid)), asks: ladder('asks', level(noAsk)) },
    };
    const ladders = {
      side: (_: number, token: 'yes' | 'no', side: 'bids' | 'asks') => sides[token][side],
      isMirrored: () => false,
    };
    const item = { seq, timeMs: START_MS + seq, marketId: ID, trusted: true, book: seq, ladders } as const;
    runner.push({ kind: 'book', ...item });
    return events - before;
  };
  const seen = [
    [0.4, 0.5, 0.5, 0.6],
    [0.4, 0.5, 0.5, 0.6],
    [0.4, 0.5, 0.5, 0.61],
    [0.4, 0.5, 0.49, 0.61],
    [0.4, 0.51, 0.49, 0.61],
    [0.39, 0.51, 0.49, 0.61],
  ].map((best, at) => push(at + 2, best as [number, number, number, number]));
  expect(seen).toEqual([1, 0, 1, 1, 1, 1]);
});
