import { describe, expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { marketOf, tapeBetween } from '../../../test/support/paperRig.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import {
  added,
  BEFORE_MS,
  BOUGHT,
  BUYS,
  liveStrategyOf,
  marketAt,
  processed,
  RESOLVED,
  STARTED,
  traderEventsOf,
  traderOf,
} from '../../../test/support/traderRig.ts';
import { Random } from '../../core/random.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import type { Market } from '../../schema/market.ts';
import type { Strategy } from '../../schema/strategy.ts';
import { PaperTrader } from './paperTrader.ts';
import { NO_EFFECTS, type TraderEffect } from './traderEffects.ts';
import type { TraderEvent } from './traderEvents.ts';

describe('the effects of an event', () => {
  test('are one shared empty list if nothing happens, however many strategies watch', () => {
    const never: Strategy = { ...BUYS, threshold: 0.01 };
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', never), liveStrategyOf('ps_2', never)]);
    for (const event of traderEventsOf(BOUGHT)) expect(trader.process(event)).toBe(NO_EFFECTS);
    expect(trader.process({ kind: 'tick', nowMs: START_MS })).toBe(NO_EFFECTS);
    expect(Object.isFrozen(NO_EFFECTS)).toBe(true);
  });

  test('are the first terms of a market, then a position that opens, then the one that is paid out', () => {
    const trader = new PaperTrader();
    const market = marketOf(BOUGHT);
    const events = [
      added(liveStrategyOf('ps_1', BUYS)),
      STARTED,
      marketAt(market),
      ...traderEventsOf(BOUGHT),
      marketAt({ ...market, ...RESOLVED }),
    ];
    const effects = processed(trader, events).filter((own) => own !== NO_EFFECTS);
    const feeds = ['chainlink', 'binance_spot'].map((source) => ({ ticker: 'BTC', source }));
    const state = { strategyId: 'ps_1', marketId: '0xtape', fromMs: BEFORE_MS };
    const trade = { token: 'yes', openedMs: START_MS + 1_200, entryPrice: 0.48 };
    expect(effects).toEqual([
      [
        { kind: 'read_prices', feeds },
        { kind: 'read_ended', series: 'BTC 5m' },
      ],
      [{ kind: 'terms_changed', version: expect.objectContaining({ marketId: '0xtape', afterSeq: 0 }) }],
      [
        {
          kind: 'positions_changed',
          state: { ...state, outcome: null, trades: [expect.objectContaining({ ...trade, closedMs: null })] },
        },
      ],
      [
        {
          kind: 'positions_changed',
          state: {
            ...{ ...state, outcome: 'Up' },
            trades: [
              expect.objectContaining({ ...trade, closedMs: END_MS + 60_000, exitReason: 'resolved' }),
            ],
          },
        },
      ],
    ]);
  });

  test('state the terms before the positions, and each position once', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS), liveStrategyOf('ps_2', BUYS)]);
    processed(trader, traderEventsOf(BOUGHT));
    const record = { ...marketOf(BOUGHT), ...RESOLVED, strikePrice: 97_001 };
    const effects = trader.process(marketAt(record));
    const ids = effects.map((effect) =>
      effect.kind === 'positions_changed' ? effect.state.strategyId : effect.kind,
    );
    expect(ids).toEqual(['terms_changed', 'ps_1', 'ps_2']);
  });

  test('do not change when the position changes later', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    const [opened] = processed(trader, traderEventsOf(BOUGHT)).flat();
    const before = structuredClone(opened);
    processed(trader, [marketAt({ ...marketOf(BOUGHT), ...RESOLVED })]);
    expect(opened).toEqual(before);
  });

  test('report a session that fails, once, and the other sessions trade on', () => {
    const error = new Error('a fault of the strategy');
    const compiled = compileStrategy(BUYS);
    const start: typeof compiled.start = () => ({
      decide: () => {
        throw error;
      },
    });
    const trader = traderOf(BOUGHT, [
      liveStrategyOf('ps_bad', BUYS, { compiled: { ...compiled, start } }),
      liveStrategyOf('ps_1', BUYS),
    ]);
    const effects = processed(trader, traderEventsOf(BOUGHT)).flat();
    expect(effects).toMatchObject([
      { kind: 'session_failed', marketId: '0xtape', strategyId: 'ps_bad', error },
      { kind: 'positions_changed', state: { strategyId: 'ps_1' } },
    ]);
  });
});

describe('the same events', () => {
  const RESTING = { entry: 'maker', offset: 0.01, timeout_s: 5, queue_model: 'optimistic' } as const;
  const strategies = Object.entries(STRATEGIES).flatMap(([name, strategy]) => [
    liveStrategyOf(name, strategy),
    liveStrategyOf(`${name}, resting`, { ...strategy, execution: RESTING }),
  ]);

  /** A tape's events, among them strategies that are stopped, started and removed, and a corrected strike. */
  function drawnEvents(seed: string): TraderEvent[] {
    const random = new Random(seed);
    const shape = { books: 400, levels: 6, trades: true, gaps: false };
    const tape = withLateGaps(randomTape(seed, shape), seed);
    const market = marketOf(tape);
    const events = [...strategies.map((strategy) => added(strategy)), STARTED, marketAt(market)];
    let nowMs = BEFORE_MS;
    for (const event of traderEventsOf(tape)) {
      if ('record' in event) nowMs = Math.max(nowMs, event.record.receivedTimeMs);
      events.push(event);
      if (!random.chance(0.02)) continue;
      const { strategyId } = strategies[random.below(strategies.length)]!;
      const later = nowMs + 1_000;
      const changes: TraderEvent[] = [
        { kind: 'strategy_deactivated', strategyId, untilMs: later, nowMs },
        { kind: 'strategy_activated', strategyId, fromMs: later, nowMs },
        { kind: 'strategy_removed', strategyId },
        { kind: 'tick', nowMs },
        marketAt({ ...market, strikePrice: 97_000 + random.below(20) }, nowMs),
      ];
      events.push(changes[random.below(changes.length)]!);
    }
    return [...events, marketAt({ ...market, ...RESOLVED }, nowMs)];
  }

  test.each(['one', 'two', 'three', 'four'])('have the same effects in the same order: %s', (seed) => {
    const events = drawnEvents(`trader ${seed}`);
    const [first, second] = [processed(new PaperTrader(), events), processed(new PaperTrader(), events)];
    expect(second).toEqual(first);
    const kinds = first.flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'positions_changed').length).toBeGreaterThan(20);
    for (const effects of first) {
      const at = effects.findIndex(({ kind }) => kind === 'positions_changed');
      const changed = at < 0 ? [] : effects.slice(at);
      expect(changed.every(({ kind }) => kind === 'positions_changed')).toBe(true);
      const sessions = changed.map((effect) => 'state' in effect && effect.state.strategyId);
      expect(new Set(sessions).size).toBe(sessions.length);
    }
  });
});

describe('a market that has a past', () => {
  const tape = randomTape('trader past', { books: 300, levels: 6, gaps: false });
  const market = marketOf(tape);
  const events = traderEventsOf(tape);
  const strategy = liveStrategyOf('ps_1', STRATEGIES['condition_based on the book']!);
  const begun: TraderEvent = { kind: 'past_begun', marketId: market.marketId, known: [], terms: [] };
  const resolved = marketAt({ ...market, ...RESOLVED });

  /** The last state of the position that a trader reports. */
  const lastState = (effects: readonly TraderEffect[]) =>
    effects.findLast((effect) => effect.kind === 'positions_changed')?.state;
  const expected = () => {
    const trader = traderOf(tape, [strategy]);
    return lastState(processed(trader, [...events, resolved]).flat());
  };

  /** Answers a read of all events before one with the tape up to it, and resumes until the next step. */
  function read(trader: PaperTrader, afterSeq: number, toSeq: number): TraderEffect[] {
    const { marketId } = market;
    const stretch = { tape: tapeBetween(tape, { afterSeq, toSeq }), toSeq: null };
    const all = [...trader.process({ kind: 'stretch_read', marketId, stretch })];
    while (all.at(-1)?.kind === 'past_paused')
      all.push(...trader.process({ kind: 'past_resumed', marketId }));
    return all;
  }
  const seqOf = (event: TraderEvent | undefined) => (event && 'record' in event ? event.record.seq : 0);

  test('is asked for at the start: prices, held markets, markets in play, then those that ended', () => {
    const trader = new PaperTrader();
    trader.process(added(strategy));
    const effects = trader.process({ ...STARTED, held: ['0xheld'], markets: [market] } as TraderEvent);
    expect(effects.map(({ kind }) => kind)).toEqual([
      ...['read_prices', 'read_market', 'read_past', 'read_ended'],
    ]);
  });

  test('is replayed, then the records published meanwhile, to the positions of a trader that was always there', () => {
    const trader = new PaperTrader();
    processed(trader, [added(strategy), STARTED]);
    expect(trader.process({ kind: 'past_market', market })).toEqual([{ kind: 'read_past', market }]);
    expect(trader.process({ kind: 'past_market', market })).toBe(NO_EFFECTS);
    const half = Math.floor(0.4 * events.length);
    expect(trader.process(begun)).toEqual([{ kind: 'read_stretch', marketId: '0xtape', afterSeq: 0 }]);
    // Published while the store reads.
    expect(processed(trader, events.slice(half)).flat()).toEqual([]);
    const effects = read(trader, 0, seqOf(events[half - 1]));
    expect(effects.map(({ kind }) => kind).filter((kind) => kind !== 'past_paused')).toEqual([
      ...['past_replayed', 'terms_changed', 'positions_changed'],
    ]);
    expect(lastState(trader.process(resolved))).toEqual(expected());
  });

  test('begins again after an attempt that failed, with the same result', () => {
    const trader = new PaperTrader();
    processed(trader, [added(strategy), STARTED, { kind: 'past_market', market }, begun]);
    const early = tapeBetween(tape, { toSeq: seqOf(events[40]) });
    const stretch = { tape: early, toSeq: seqOf(events[40]) };
    trader.process({ kind: 'stretch_read', marketId: market.marketId, stretch });
    expect(trader.process(begun)).toEqual([{ kind: 'read_stretch', marketId: '0xtape', afterSeq: 0 }]);
    read(trader, 0, seqOf(events.at(-1)));
    expect(lastState(trader.process(resolved))).toEqual(expected());
  });

  test('is replayed once more for a strategy that was changed late meanwhile', () => {
    const trader = new PaperTrader();
    processed(trader, [added(strategy), STARTED, { kind: 'past_market', market }, begun]);
    const late = liveStrategyOf('ps_2', STRATEGIES.time_before_resolution!);
    expect(trader.process(added(late, END_MS))).toBe(NO_EFFECTS);
    const effects = read(trader, 0, seqOf(events.at(-1)));
    expect(effects.at(-1)).toMatchObject({ kind: 'positions_changed', state: { strategyId: 'ps_2' } });
    expect(effects).toContainEqual({ kind: 'read_past', market });
    trader.process(begun);
    read(trader, 0, seqOf(events.at(-1)));
    const paid = trader.process(resolved);
    expect(paid).toMatchObject([{ state: { strategyId: 'ps_1' } }, { state: { strategyId: 'ps_2' } }]);
  });

  test('that does not fit in memory is given up, and is not asked for again', () => {
    const trader = new PaperTrader();
    processed(trader, [added(strategy), STARTED, { kind: 'past_market', market }]);
    expect(trader.process({ kind: 'past_too_large', marketId: market.marketId })).toEqual([
      { kind: 'market_given_up', marketId: '0xtape' },
    ]);
    for (const event of [{ kind: 'past_market', market } as const, marketAt(market), ...events.slice(0, 50)])
      expect(trader.process(event)).toBe(NO_EFFECTS);
    expect(() => trader.process(begun)).toThrow(new RangeError('no past of this market is replayed'));
  });

  test('is not forgotten while it is replayed, though it has ended', () => {
    const trader = new PaperTrader();
    processed(trader, [added(strategy), STARTED, { kind: 'past_market', market }, begun]);
    expect(trader.process({ kind: 'tick', nowMs: END_MS + 60_000 })).toBe(NO_EFFECTS);
    read(trader, 0, seqOf(events.at(-1)));
    expect(lastState(trader.process(resolved))).toEqual(expected());
  });

  test('refuses an answer that it did not ask for', () => {
    const trader = traderOf(tape, [strategy]);
    expect(() => trader.process(begun)).toThrow(new RangeError('no past of this market is replayed'));
  });
});

test.each([
  ['at which it was detected', START_MS + 3_000, 3_000],
  ['of its start, if its detection has no time', null, 2_500],
])(
  'a book that arrives after the report of a gap is decided on not before the time %s',
  (_, knownTimeMs, at) => {
    const books = new TapeWriter()
      .book({ at: 2_500, bids: [[0.45, 100]], asks: [[0.48, 100]] })
      .book({ at: 4_000, bids: [[0.45, 101]], asks: [[0.48, 101]] })
      .tape();
    const gap = oneClock({
      ...{ gapId: 'gap', marketId: '0xtape', feed: 'polymarket.clob', repairedBy: null, knownTimeMs },
      ...{
        cause: 'silent_feed' as const,
        knownSeq: 1,
        startTimeMs: START_MS + 500,
        endTimeMs: START_MS + 1_500,
      },
    });
    const events: TraderEvent[] = [{ kind: 'gap', gap }, ...traderEventsOf(books)];
    const own = [liveStrategyOf('ps_1', BUYS)];
    const [decidedMs, openedMs] = [START_MS + at, START_MS + at + 200];
    const bought = { kind: 'positions_changed', state: { trades: [{ decidedMs, openedMs }] } };
    expect(processed(traderOf(books, own), events).flat()).toMatchObject([bought]);
    // The same if all of it arrives while the past, in which nothing was recorded, is being read.
    const trader = new PaperTrader();
    const { marketId } = books.market;
    const begun: TraderEvent = { kind: 'past_begun', marketId, known: [], terms: [] };
    processed(trader, [...own.map((one) => added(one)), STARTED]);
    processed(trader, [{ kind: 'past_market', market: marketOf(books) }, begun, ...events]);
    const stretch = { tape: tapeBetween(books, { toSeq: 0 }), toSeq: null };
    expect(trader.process({ kind: 'stretch_read', marketId, stretch }).at(-1)).toMatchObject(bought);
  },
);

describe('a market that has ended', () => {
  const { market: facts } = BOUGHT;
  const ended = (nowMs: number): TraderEvent => ({ kind: 'tick', nowMs });

  test('is asked for its resolution while it has fills, from a minute after its end', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    processed(trader, traderEventsOf(BOUGHT));
    expect(trader.process(ended(END_MS + 59_999))).toBe(NO_EFFECTS);
    const asked = [{ kind: 'read_resolution', marketId: facts.marketId }];
    expect(trader.process(ended(END_MS + 60_000))).toEqual(asked);
    trader.process(marketAt({ ...marketOf(BOUGHT), ...RESOLVED }));
    expect(trader.process(ended(END_MS + 90_000))).toBe(NO_EFFECTS);
  });

  test('is forgotten without fills', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', { ...BUYS, threshold: 0.01 })]);
    processed(trader, traderEventsOf(BOUGHT));
    expect(trader.process(ended(END_MS + 60_000))).toBe(NO_EFFECTS);
    expect(trader.process(marketAt({ ...marketOf(BOUGHT), strikePrice: 1 }, END_MS))).toBe(NO_EFFECTS);
  });

  test('moves its close for another time, and is replayed for another payout', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    const record = { ...marketOf(BOUGHT), ...RESOLVED };
    processed(trader, [...traderEventsOf(BOUGHT), marketAt(record)]);
    expect(trader.process(marketAt(record))).toBe(NO_EFFECTS);
    const moved = { ...record, resolvedTimeMs: END_MS + 61_000 };
    const { marketId, outcome, resolvedTimeMs } = moved;
    expect(trader.process(marketAt(moved))).toEqual([
      { kind: 'resolution_corrected', marketId, correction: 'time', outcome },
      { kind: 'resolution_moved', move: { marketId, outcome, resolvedTimeMs } },
    ]);
    expect(trader.process(marketAt(moved))).toBe(NO_EFFECTS);
    expect(trader.process(marketAt(record))).toMatchObject([
      { kind: 'resolution_corrected', correction: 'time' },
      { kind: 'resolution_moved', move: { resolvedTimeMs: record.resolvedTimeMs } },
    ]);
    const lost: Market = { ...moved, outcome: 'Down', payoutYes: 0 };
    expect(trader.process(marketAt(lost))).toEqual([
      { kind: 'resolution_corrected', marketId, correction: 'payout', outcome: 'Down' },
      { kind: 'read_past', market: lost },
    ]);
  });
});
