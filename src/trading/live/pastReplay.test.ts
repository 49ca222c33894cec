/** The replay of a market's past, as the trader does it: answers in, next steps out. */
import { describe, expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { marketOf, tapeBetween } from '../../../test/support/paperRig.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape, START_MS } from '../../../test/support/tapes.ts';
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
import type { MarketTape } from '../../core/session/tape.ts';
import { firstTerms, type TermsVersion } from './marketTerms.ts';
import type { LiveStrategy } from './paperSession.ts';
import { PaperTrader } from './paperTrader.ts';
import type { KnownSession } from './sessionFactory.ts';
import type { TraderEffect } from './traderEffects.ts';
import type { TraderEvent } from './traderEvents.ts';

const TAPE = randomTape('trader past', { books: 300, levels: 6, gaps: false });
const MANY = STRATEGIES['condition_based on the book']!;
const { marketId } = TAPE.market;

/** A trader that has asked for the past of a market, and its first step. */
function begun(
  tape: MarketTape,
  strategy: LiveStrategy,
  known: readonly KnownSession[] = [],
  terms: readonly TermsVersion[] = [],
) {
  const trader = new PaperTrader();
  processed(trader, [added(strategy), STARTED, { kind: 'past_market', market: marketOf(tape) }]);
  const step = trader.process({ kind: 'past_begun', marketId, known, terms });
  return { trader, step };
}

/** Answers with the rows after one number and up to another, and resumes until the next step. */
function read(
  trader: PaperTrader,
  tape: MarketTape,
  { afterSeq = 0, toSeq, isAll = true }: { afterSeq?: number; toSeq: number; isAll?: boolean },
): TraderEffect[] {
  const stretch = { tape: tapeBetween(tape, { afterSeq, toSeq }), toSeq: isAll ? null : toSeq };
  const effects = [...trader.process({ kind: 'stretch_read', marketId, stretch })];
  while (effects.at(-1)?.kind === 'past_paused') {
    effects.pop();
    effects.push(...trader.process({ kind: 'past_resumed', marketId }));
  }
  return effects;
}

const statesOf = (effects: readonly TraderEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'positions_changed' ? [effect.state] : []));
const seqOf = (event: TraderEvent | undefined) => (event && 'record' in event ? event.record.seq : 0);

/** The trades of a trader that was always there. */
function undisturbed(strategy: LiveStrategy) {
  const trader = traderOf(TAPE, [strategy]);
  return statesOf(processed(trader, traderEventsOf(TAPE)).flat()).at(-1)?.trades ?? [];
}

describe('a session that the table knows', () => {
  const events = traderEventsOf(TAPE);
  const toSeq = seqOf(events.at(-1));

  test('of the current activation trades on', () => {
    const strategy = liveStrategyOf('ps_1', MANY);
    const expected = undisturbed(strategy);
    expect(expected.length).toBeGreaterThan(2);
    const known = { strategyId: 'ps_1', fromMs: BEFORE_MS, lastDecidedMs: expected[0]!.decidedMs };
    const { trader } = begun(TAPE, strategy, [known]);
    expect(statesOf(read(trader, TAPE, { toSeq }))).toMatchObject([{ fromMs: BEFORE_MS, trades: expected }]);
  });

  test('of an earlier activation has the trades that it decided, and no others', () => {
    const strategy = liveStrategyOf('ps_1', MANY);
    const [first, second] = undisturbed(strategy);
    const known = { strategyId: 'ps_1', fromMs: BEFORE_MS, lastDecidedMs: second!.decidedMs };
    const { trader } = begun(TAPE, { ...strategy, activeFromMs: END_MS }, [known]);
    const [state] = statesOf(read(trader, TAPE, { toSeq }));
    expect(state?.trades.map(({ openedMs }) => openedMs)).toEqual([first!.openedMs, second!.openedMs]);
  });
});

describe('a stretch', () => {
  const events = traderEventsOf(TAPE);
  const half = Math.floor(events.length / 2);
  const firstSeq = seqOf(events[half]);

  test('that ends just before the first record published meanwhile is the last', () => {
    const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
    processed(trader, events.slice(half));
    const effects = read(trader, TAPE, { toSeq: firstSeq - 1, isAll: false });
    expect(effects[0]).toEqual({ kind: 'past_replayed', marketId });
  });

  test('that ends one record earlier is followed by another', () => {
    const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
    processed(trader, events.slice(half));
    const effects = read(trader, TAPE, { toSeq: firstSeq - 2, isAll: false });
    expect(effects).toEqual([{ kind: 'read_stretch', marketId, afterSeq: firstSeq - 2 }]);
  });

  test.each([true, false])(
    'during which more was published than is kept is followed by one from there on (all was read: %s)',
    (isAll) => {
      const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
      const record = {
        ...({ kind: 'underlying', source: 'chainlink', ticker: 'BTC' } as const),
        ...{ price: 97_000, eventTimeMs: START_MS, receivedTimeMs: START_MS },
      };
      for (let n = 0; n <= 50_000; n++)
        trader.process({ kind: 'underlying', record: { ...record, seq: firstSeq + n } });
      const effects = read(trader, TAPE, { toSeq: seqOf(events.at(-1)), isAll });
      expect(effects).toEqual([{ kind: 'read_stretch', marketId, afterSeq: firstSeq - 1 }]);
    },
  );

  test('takes on the orders in flight of the one before', () => {
    const { trader } = begun(BOUGHT, liveStrategyOf('ps_1', BUYS));
    const early = BOUGHT.books!.seq[0]!;
    expect(read(trader, BOUGHT, { toSeq: early, isAll: false })).toMatchObject([{ afterSeq: early }]);
    const effects = read(trader, BOUGHT, { afterSeq: early, toSeq: 1_000 });
    expect(statesOf(effects)).toMatchObject([{ trades: [{ openedMs: START_MS + 1_200 }] }]);
  });
});

test('a market that is replayed again writes nothing of a strategy that has not traded in it', () => {
  const later = liveStrategyOf('ps_2', BUYS, { activeFromMs: END_MS });
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS), later]);
  const before = statesOf(processed(trader, traderEventsOf(BOUGHT)).flat());
  expect(before.map(({ strategyId }) => strategyId)).toEqual(['ps_1']);
  const stop = { strategyId: 'ps_1', untilMs: START_MS + 9_000, nowMs: START_MS + 9_000 };
  trader.process({ kind: 'strategy_deactivated', ...stop });
  trader.process({ kind: 'past_begun', marketId, known: [], terms: [] });
  const again = statesOf(read(trader, BOUGHT, { toSeq: 1_000 }));
  expect(again.map(({ strategyId }) => strategyId)).toEqual(['ps_1']);
});

describe('terms that changed during a replay apply', () => {
  const corrected = { ...marketOf(TAPE), strikePrice: 97_001 };
  const events = traderEventsOf(TAPE);
  const toSeq = seqOf(events.at(-1));
  const lastTerms = (effects: readonly TraderEffect[]) =>
    effects.findLast((effect) => effect.kind === 'terms_changed')?.version.afterSeq;

  test('after the newest replayed row, if nothing newer was published', () => {
    const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
    processed(trader, [marketAt(corrected)]);
    expect(lastTerms(read(trader, TAPE, { toSeq }))).toBe(toSeq);
  });

  test('after the newest published record', () => {
    const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
    const [other] = traderEventsOf(BOUGHT);
    const record = { ...(other as { record: object }).record, marketId: '0xother', seq: toSeq + 7 };
    processed(trader, [{ ...other, record } as TraderEvent, marketAt(corrected)]);
    expect(lastTerms(read(trader, TAPE, { toSeq }))).toBe(toSeq + 7);
  });

  test('and settle a market that was resolved meanwhile', () => {
    const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY));
    processed(trader, [marketAt({ ...corrected, ...RESOLVED })]);
    const [state] = statesOf(read(trader, TAPE, { toSeq }));
    expect(state?.outcome).toBe('Up');
    expect(state?.trades.every(({ closedMs }) => closedMs !== null)).toBe(true);
  });
});

test('terms that the table has are not written again', () => {
  const terms = [firstTerms(marketId, TAPE.market)];
  const { trader } = begun(TAPE, liveStrategyOf('ps_1', MANY), [], terms);
  const effects = read(trader, TAPE, { toSeq: seqOf(traderEventsOf(TAPE).at(-1)) });
  expect(effects.map(({ kind }) => kind)).toEqual(['past_replayed', 'positions_changed']);
});

test('a gap published while the past is read reverses the fills made in it', () => {
  const { trader } = begun(BOUGHT, liveStrategyOf('ps_1', BUYS));
  const gap = oneClock({
    ...{
      gapId: 'gap',
      marketId,
      feed: 'polymarket.clob',
      cause: 'silent_feed' as const,
      repairedBy: null,
      seq: 2_000,
    },
    ...{ startTimeMs: START_MS + 500, endTimeMs: null, knownTimeMs: START_MS + 3_500, knownSeq: 2_000 },
  });
  expect(trader.process({ kind: 'gap', gap })).toEqual([]);
  expect(statesOf(read(trader, BOUGHT, { toSeq: 1_000 }))).toEqual([]);
  expect(trader.process(marketAt({ ...marketOf(BOUGHT), ...RESOLVED }))).toEqual([]);
});

test('a position that a stop noticed late forbids is gone, though the table does not have it yet', () => {
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
  expect(statesOf(processed(trader, traderEventsOf(BOUGHT)).flat())).toMatchObject([{ trades: [{}] }]);
  const stop = { strategyId: 'ps_1', untilMs: START_MS + 500, nowMs: START_MS + 4_000 };
  trader.process({ kind: 'strategy_deactivated', ...stop });
  trader.process({ kind: 'past_begun', marketId, known: [], terms: [] });
  expect(statesOf(read(trader, BOUGHT, { toSeq: 1_000 }))).toMatchObject([
    { strategyId: 'ps_1', trades: [] },
  ]);
});

test('a known position that a gap found later covers is gone', () => {
  const covered = { ...BOUGHT, gaps: [{ startMs: START_MS + 500, knownMs: START_MS + 3_500, endMs: null }] };
  const known = { strategyId: 'ps_1', fromMs: BEFORE_MS, lastDecidedMs: START_MS + 1_000 };
  const { trader } = begun(covered, liveStrategyOf('ps_1', BUYS), [known]);
  expect(statesOf(read(trader, covered, { toSeq: 1_000 }))).toMatchObject([{ trades: [] }]);
});

test('a known session of an earlier activation keeps its order in flight from one stretch to the next', () => {
  const known = { strategyId: 'ps_1', fromMs: BEFORE_MS, lastDecidedMs: START_MS + 1_000 };
  const { trader } = begun(BOUGHT, liveStrategyOf('ps_1', BUYS, { activeFromMs: END_MS }), [known]);
  const early = BOUGHT.books!.seq[0]!;
  read(trader, BOUGHT, { toSeq: early, isAll: false });
  const effects = read(trader, BOUGHT, { afterSeq: early, toSeq: 1_000 });
  expect(statesOf(effects)).toMatchObject([{ trades: [{ openedMs: START_MS + 1_200 }] }]);
});

describe('during the last stretch of a past', () => {
  const events = traderEventsOf(TAPE);
  const [past, later] = [events.slice(0, events.length / 2), events.slice(events.length / 2)];
  const toSeq = seqOf(past.at(-1));
  const timeOf = (event: TraderEvent | undefined) =>
    event && 'record' in event ? event.record.receivedTimeMs : 0;
  const [nowMs, fromMs] = [timeOf(past.at(-1)), timeOf(past.at(-1)) + 1_000];
  const started: TraderEvent = { kind: 'strategy_activated', strategyId: 'ps_1', fromMs, nowMs };

  /** The last states of all sessions, if events happen while the stretch is played. */
  function disturbed(strategy: LiveStrategy, meanwhile: readonly TraderEvent[]) {
    const { trader } = begun(TAPE, strategy);
    const stretch = { tape: tapeBetween(TAPE, { toSeq }), toSeq: null };
    expect(trader.process({ kind: 'stretch_read', marketId, stretch })).toMatchObject([
      { kind: 'past_paused' },
    ]);
    expect(processed(trader, meanwhile).flat()).toEqual([]);
    const effects: TraderEffect[] = [];
    do effects.splice(0, effects.length, ...trader.process({ kind: 'past_resumed', marketId }));
    while (effects[0]?.kind === 'past_paused');
    const states = statesOf([...effects, ...processed(trader, later).flat()]);
    return new Map(states.map((state) => [state.strategyId, state]));
  }

  test('a strategy that is added trades in the market', () => {
    const [own, other] = [
      liveStrategyOf('ps_1', MANY),
      liveStrategyOf('ps_2', MANY, { activeFromMs: fromMs }),
    ];
    const states = disturbed(own, [added(other, nowMs)]);
    expect(states.get('ps_2')).toMatchObject({ fromMs });
    expect(states.get('ps_2')?.trades.length).toBeGreaterThan(1);
  });

  test('a strategy that is removed has no position in the market', () => {
    const removed: TraderEvent = { kind: 'strategy_removed', strategyId: 'ps_1' };
    expect(disturbed(liveStrategyOf('ps_1', MANY), [removed])).toEqual(new Map());
  });

  test('a stopped strategy that is started trades in a market in which it had not', () => {
    const entries = { untilMs: BEFORE_MS };
    const state = disturbed(liveStrategyOf('ps_1', MANY, { entries }), [started]).get('ps_1');
    expect(state).toMatchObject({ fromMs });
    expect(state?.trades.every(({ decidedMs }) => decidedMs >= fromMs)).toBe(true);
  });

  test('a strategy that is stopped and started keeps its trades, and opens no other', () => {
    const stopped: TraderEvent = {
      kind: 'strategy_deactivated',
      ...{ strategyId: 'ps_1', untilMs: nowMs + 1, nowMs },
    };
    const strategy = liveStrategyOf('ps_1', MANY);
    const before = undisturbed(strategy).filter(({ decidedMs }) => decidedMs <= nowMs);
    const state = disturbed(strategy, [stopped, started]).get('ps_1');
    expect(state?.fromMs).toBe(BEFORE_MS);
    expect(state?.trades.map(({ openedMs }) => openedMs)).toEqual(before.map(({ openedMs }) => openedMs));
  });
});
