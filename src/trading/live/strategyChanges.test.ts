/** Strategies that are added, stopped and started, and markets that begin: what the trader makes of them. */
import { describe, expect, test } from 'vitest';
import { marketOf } from '../../../test/support/paperRig.ts';
import { END_MS, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import {
  added,
  BEFORE_MS,
  BOUGHT,
  BUYS,
  liveStrategyOf,
  marketAt,
  processed,
  STARTED,
  traderEventsOf,
  traderOf,
} from '../../../test/support/traderRig.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { UnderlyingRecord } from '../../schema/records.ts';
import { PaperTrader } from './paperTrader.ts';
import { NO_EFFECTS } from './traderEffects.ts';
import type { TraderEvent } from './traderEvents.ts';

const market = marketOf(BOUGHT);
const replayed = [{ kind: 'read_past', market }];
const AT_MS = START_MS + 500;

describe('a change that applies from a time on', () => {
  const stopped = (untilMs: number, nowMs: number) =>
    ({ kind: 'strategy_deactivated', strategyId: 'ps_1', untilMs, nowMs }) as const;
  const started = (fromMs: number, nowMs: number) =>
    ({ kind: 'strategy_activated', strategyId: 'ps_1', fromMs, nowMs }) as const;

  test.each([
    ['a stop', stopped],
    ['a start', started],
  ])('%s known before that time needs no replay, and one known at it does', (_, change) => {
    expect(traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]).process(change(AT_MS, AT_MS - 1))).toBe(
      NO_EFFECTS,
    );
    expect(traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]).process(change(AT_MS, AT_MS))).toEqual(replayed);
  });

  test('a new strategy known at its time needs a replay', () => {
    const late = liveStrategyOf('ps_2', BUYS, { activeFromMs: AT_MS });
    expect(traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]).process(added(late, AT_MS - 1))).toBe(NO_EFFECTS);
    expect(traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]).process(added(late, AT_MS))).toEqual(replayed);
  });

  test('a stop refuses purchases decided from its time on', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    trader.process(stopped(START_MS + 1_000, START_MS));
    expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toEqual([]);
  });

  test('a start of another time, whose stop was not noticed, applies', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    trader.process(started(START_MS + 2_500, START_MS));
    // Decided at three seconds, and not confirmed by a later book.
    expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toEqual([]);
  });

  test('a start that is known already changes nothing', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    expect(trader.process(started(BEFORE_MS, START_MS))).toBe(NO_EFFECTS);
  });

  test('a start of the same time as the one before, after a stop, applies', () => {
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    processed(trader, [stopped(BEFORE_MS, BEFORE_MS - 1), started(BEFORE_MS, BEFORE_MS - 1)]);
    expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toHaveLength(1);
  });

  test('a start leaves a market in which the strategy has traded as it is', () => {
    const writer = new TapeWriter();
    for (const second of [1, 2, 3, 8, 9, 10])
      writer.book({ at: 1_000 * second, bids: [[0.45, 100 + second]], asks: [[0.48, 100]] });
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
    const events = traderEventsOf(writer.tape());
    const isEarly = (event: TraderEvent) =>
      'record' in event && event.record.receivedTimeMs < START_MS + 5_000;
    expect(processed(trader, events.filter(isEarly)).flat()).toHaveLength(1);
    trader.process(stopped(START_MS + 5_000, START_MS + 4_000));
    trader.process(started(START_MS + 7_000, START_MS + 6_000));
    expect(
      processed(
        trader,
        events.filter((event) => !isEarly(event)),
      ).flat(),
    ).toEqual([]);
  });

  test.each([
    ['was not noticed', [started(START_MS + 9_000, START_MS + 8_000)]],
    ['was', [stopped(START_MS + 8_500, START_MS + 8_000), started(START_MS + 11_000, START_MS + 8_200)]],
  ])('a start whose stop %s buys nothing more where the strategy has traded', (_, changes) => {
    const price = { metric: 'token_price' } as const;
    const again = {
      ...({ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 3, stop_loss: [] } as const),
      entry: [{ ...price, operator: 'below', value: 0.5 } as const],
      take_profit: [{ ...price, operator: 'above', value: 0.5 } as const],
    };
    const writer = new TapeWriter();
    const books = (from: number, bid: number, ask: number) => {
      for (const second of [0, 1, 2])
        writer.book({ at: 1_000 * (from + second), bids: [[bid, 100 + second]], asks: [[ask, 100]] });
    };
    books(1, 0.45, 0.48);
    books(5, 0.55, 0.58);
    books(10, 0.45, 0.48);
    const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', again)]);
    const events = traderEventsOf(writer.tape());
    const isEarly = (event: TraderEvent) =>
      'record' in event && event.record.receivedTimeMs < START_MS + 8_000;
    // Bought and sold.
    expect(processed(trader, events.filter(isEarly)).flat()).toHaveLength(2);
    processed(trader, changes);
    const later = events.filter((event) => !isEarly(event));
    expect(processed(trader, later).flat()).toEqual([]);
  });
});

test('a strategy that is removed trades no more in the markets that it watched', () => {
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS), liveStrategyOf('ps_2', BUYS)]);
  trader.process({ kind: 'strategy_removed', strategyId: 'ps_1' });
  expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toMatchObject([{ state: { strategyId: 'ps_2' } }]);
  expect([...trader.strategies()].map(({ strategyId }) => strategyId)).toEqual(['ps_2']);
});

test('a strategy that is removed leaves the others of its series, also for later markets', () => {
  const trader = new PaperTrader();
  processed(trader, [added(liveStrategyOf('ps_1', BUYS)), added(liveStrategyOf('ps_2', BUYS)), STARTED]);
  processed(trader, [{ kind: 'strategy_removed', strategyId: 'ps_1' }, marketAt(market)]);
  expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toMatchObject([{ state: { strategyId: 'ps_2' } }]);
});

test('a strategy of another series does not join a market', () => {
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', { ...BUYS, threshold: 0.01 })]);
  trader.process(added(liveStrategyOf('ps_2', BUYS, { series: 'BTC 15m' })));
  expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toEqual([]);
});

test('the markets of a series are asked for once', () => {
  const trader = new PaperTrader();
  processed(trader, [added(liveStrategyOf('ps_1', BUYS)), STARTED]);
  const nowMs = BEFORE_MS - 1_000;
  const second = { kind: 'strategy_added', nowMs, markets: [market] } as const;
  expect(trader.process({ ...second, strategy: liveStrategyOf('ps_2', BUYS) })).toBe(NO_EFFECTS);
  const other = liveStrategyOf('ps_3', BUYS, { series: 'BTC 15m' });
  const long = { ...market, marketId: '0xlong', eventType: '15m' as const };
  const resolved = { ...long, marketId: '0xold', status: 'resolved' as const };
  expect(trader.process({ ...second, strategy: other, markets: [market, long, resolved] })).toEqual([
    { kind: 'read_past', market: long },
  ]);
});

/** Answers the reads of the market's past, of which the table knows nothing: the last effects. */
function readPast(trader: PaperTrader) {
  const { marketId } = market;
  const begun = trader.process({ kind: 'past_begun', marketId, known: [], terms: [] });
  expect(begun).toMatchObject([{ kind: 'read_stretch' }]);
  const stretch = { tape: BOUGHT, toSeq: null };
  let effects = trader.process({ kind: 'stretch_read', marketId, stretch });
  while (effects.at(-1)?.kind === 'past_paused') effects = trader.process({ kind: 'past_resumed', marketId });
  return effects;
}

test('the markets of a new series are read once, though its first strategy is known late', () => {
  const trader = new PaperTrader();
  processed(trader, [STARTED]);
  const late = { ...added(liveStrategyOf('ps_1', BUYS), AT_MS), markets: [market] } as TraderEvent;
  expect(trader.process(late).slice(1)).toEqual(replayed);
  expect(readPast(trader).map(({ kind }) => kind)).toEqual([
    ...['past_replayed', 'terms_changed', 'positions_changed'],
  ]);
});

test('a position that a stop known late undoes is deleted, though the table does not have it yet', () => {
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
  expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toHaveLength(1);
  const nowMs = START_MS + 5_000;
  trader.process({ kind: 'strategy_deactivated', strategyId: 'ps_1', untilMs: AT_MS, nowMs });
  expect(readPast(trader).at(-1)).toMatchObject({
    ...{ kind: 'positions_changed', state: { strategyId: 'ps_1', trades: [] } },
  });
});

test('corrected terms of a market apply to later trades, and are stored once', () => {
  const trader = traderOf(BOUGHT, [liveStrategyOf('ps_1', BUYS)]);
  const corrected = marketAt({ ...market, takerDelayMs: 700 });
  expect(trader.process(corrected)).toMatchObject([
    { kind: 'terms_changed', version: { terms: { takerDelayMs: 700 } } },
  ]);
  expect(trader.process(corrected)).toBe(NO_EFFECTS);
  expect(processed(trader, traderEventsOf(BOUGHT)).flat()).toMatchObject([
    { kind: 'positions_changed', state: { trades: [{ openedMs: START_MS + 1_750 }] } },
  ]);
});

test('a market that is first seen at its end is not begun', () => {
  const trader = new PaperTrader();
  processed(trader, [added(liveStrategyOf('ps_1', BUYS)), STARTED]);
  expect(trader.process(marketAt(market, END_MS))).toBe(NO_EFFECTS);
  expect(trader.process(marketAt(market, END_MS - 1))).toMatchObject([{ kind: 'terms_changed' }]);
});

describe('the prices of a market', () => {
  /** Buys once the underlying has moved by a dollar since the window's open. */
  const MOVES = {
    ...({ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1 } as const),
    entry: [{ metric: 'underlying_move_usd', operator: 'above', value: 1 } as const],
    ...{ take_profit: [], stop_loss: [] },
  };
  const price = (at: number, value: number, other: Partial<UnderlyingRecord> = {}) => {
    const times = { eventTimeMs: START_MS + at, receivedTimeMs: START_MS + at };
    const feed = { kind: 'underlying', source: 'chainlink', ticker: 'BTC', seq: 1 } as const;
    return { kind: 'underlying', record: { ...feed, price: value, ...times, ...other } } as const;
  };
  const trader = () => {
    const made = new PaperTrader();
    processed(made, [added(liveStrategyOf('ps_1', MOVES)), STARTED]);
    return made;
  };
  const opened = (made: PaperTrader) => processed(made, traderEventsOf(BOUGHT)).flat().length;

  test('are known from before it was first seen', () => {
    const made = trader();
    processed(made, [price(-1_000, 97_000), marketAt(market), price(500, 97_002)]);
    expect(opened(made)).toBe(1);
  });

  test('are known from the recording, from its first one on', () => {
    const made = trader();
    const feed = { ticker: 'BTC', source: 'chainlink' } as const;
    const points = [{ seq: 1, price: 97_000, eventMs: START_MS - 1_000, receivedMs: START_MS - 1_000 }];
    processed(made, [
      { kind: 'prices_read', feed, points },
      marketAt(market),
      price(500, 97_002, { seq: 2 }),
    ]);
    expect(opened(made)).toBe(1);
  });

  test('are known to a market that began before the recorded ones were read: it is replayed with them', () => {
    const made = trader();
    processed(made, [marketAt(market), price(500, 97_002, { seq: 2 })]);
    const points = [{ seq: 1, price: 97_000, eventMs: START_MS - 1_000, receivedMs: START_MS - 1_000 }];
    const read = (source: UnderlyingSource, own = points) =>
      made.process({ kind: 'prices_read', feed: { ticker: 'BTC', source }, points: own });
    expect(read('binance_spot')).toEqual([]);
    expect(read('chainlink')).toEqual([{ kind: 'read_past', market }]);
    expect(read('chainlink')).toEqual([]);
  });

  test('are those that it has seen if none were recorded before', () => {
    const made = trader();
    made.process(marketAt(market));
    const feed = { ticker: 'BTC', source: 'chainlink' } as const;
    expect(made.process({ kind: 'prices_read', feed, points: [] })).toEqual([]);
    processed(made, [price(-1_000, 97_000, { seq: 1 }), price(500, 97_002, { seq: 2 })]);
    expect(opened(made)).toBe(1);
  });

  test('are asked for when the first strategy of another ticker is added, and not again', () => {
    const made = trader();
    const add = (strategyId: string, series: string) =>
      made
        .process(added(liveStrategyOf(strategyId, BUYS, { series })))
        .filter(({ kind }) => kind === 'read_prices');
    const sources = ['chainlink', 'binance_spot'] as const;
    expect(add('ps_2', 'BTC 15m')).toEqual([]);
    expect(add('ps_3', 'ETH 5m')).toEqual([
      { kind: 'read_prices', feeds: sources.map((source) => ({ ticker: 'ETH', source })) },
    ]);
    expect(add('ps_4', 'ETH 15m')).toEqual([]);
  });

  test('are asked for at the start for the tickers of all series, each once', () => {
    const made = new PaperTrader();
    for (const [at, series] of ['BTC 5m', 'ETH 5m', 'BTC 15m'].entries())
      made.process(added(liveStrategyOf(`ps_${at}`, BUYS, { series })));
    const [asked] = made.process(STARTED);
    const sources = ['chainlink', 'binance_spot'] as const;
    const feeds = ['BTC', 'ETH'].flatMap((ticker) => sources.map((source) => ({ ticker, source })));
    expect(asked).toEqual({ kind: 'read_prices', feeds });
  });

  test.each([
    ['source', { source: 'binance_spot' }],
    ['ticker', { ticker: 'ETH' }],
  ] as const)('are those of the feed that resolves it, and of no other %s', (_, other) => {
    const made = trader();
    processed(made, [price(-1_000, 97_000), marketAt(market), price(400, 97_000)]);
    processed(made, [price(500, 97_002, other)]);
    expect(opened(made)).toBe(0);
  });

  test('are followed by the terms that were corrected after them', () => {
    const made = trader();
    processed(made, [marketAt(market), price(500, 97_000, { seq: 7 })]);
    expect(made.process(marketAt({ ...market, strikePrice: 97_001 }))).toMatchObject([
      { kind: 'terms_changed', version: { afterSeq: 7 } },
    ]);
  });
});
