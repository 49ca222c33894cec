import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { Recorder } from './recorder.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

function setUp(timeBy: 'receipt' | 'clock' = 'receipt') {
  const sink = new MemorySink();
  const clock = new FakeClock(T0);
  const resolved: Market[] = [];
  const metrics = new Metrics();
  const recorder = new Recorder({
    sink,
    clock,
    log: silentLogger,
    metrics,
    timeBy,
  });
  recorder.onResolved = (market) => resolved.push(market);
  recorder.track(MARKET);
  const wire = new WireMarket();
  for (let i = 1; i <= 10; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
  return { sink, clock, recorder, wire, resolved, metrics };
}

const sideOf = (wire: WireMarket, side: 'bids' | 'asks') =>
  Array.from({ length: wire[side].count }, (_, i) => [wire[side].prices[i]!, wire[side].sizes[i]!]);

describe('Recorder', () => {
  it('writes one book per venue action, equal to the venue’s, however the action is split', () => {
    const change = fc.record({
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      off: fc.integer({ min: 0, max: 9 }),
      size: fc.integer({ min: 0, max: 500 }),
    });
    const actions = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 60 });
    fc.assert(
      fc.property(actions, (list) => {
        const { sink, recorder, wire } = setUp();
        recorder.clobFrame(wire.snapshot(T0), T0);
        const truth = [[sideOf(wire, 'bids'), sideOf(wire, 'asks')]];
        // Actions that set a level twice: one that ends as it began is written although its book is not new.
        const settingTwice = new Set<number>();
        list.forEach((changes, i) => {
          const timeMs = T0 + 1 + i;
          const levels = changes.map(({ side, off, size }) => ({
            side,
            price: side === 'BUY' ? 4900 - off * 100 : 5000 + off * 100,
            size: size * 10_000,
          }));
          if (new Set(levels.map(({ price }) => price)).size < levels.length) settingTwice.add(timeMs);
          for (const frame of wire.action(timeMs, levels)) recorder.clobFrame(frame, timeMs);
          const state = [sideOf(wire, 'bids'), sideOf(wire, 'asks')];
          if (JSON.stringify(state) !== JSON.stringify(truth.at(-1))) truth.push(state);
        });
        recorder.close();
        const states = sink.books.map(({ yes }) => [yes.bids, yes.asks]);
        const isRepeated = states.map((state, i) => JSON.stringify(state) === JSON.stringify(states[i - 1]));
        expect(states.filter((_, i) => !isRepeated[i])).toEqual(truth);
        expect(
          sink.books.every(({ eventTimeMs }, i) => !isRepeated[i] || settingTwice.has(eventTimeMs)),
        ).toBe(true);
        expect(sink.books.every(({ trusted, mirrored }) => trusted && mirrored)).toBe(true);
        expect(sink.gaps).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('writes a quote only for a new best price', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    for (const frame of wire.action(T0 + 1, [{ side: 'BUY', price: 4900, size: 7 * SHARE }]))
      recorder.clobFrame(frame, T0 + 1);
    for (const frame of wire.action(T0 + 2, [{ side: 'BUY', price: 4900, size: 0 }]))
      recorder.clobFrame(frame, T0 + 2);
    expect(sink.books).toHaveLength(3);
    expect(sink.quotes.map(({ yesBid, yesAsk, noBid, noAsk }) => [yesBid, yesAsk, noBid, noAsk])).toEqual([
      [4900, 5000, 5000, 5100],
      [4800, 5000, 5000, 5200],
    ]);
  });

  it('marks a book untrusted after a lost frame, and trusted again at the next books', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const [first] = wire.action(T0 + 1, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: 0 },
    ]);
    recorder.clobFrame(first!, T0 + 1);
    expect(sink.books).toHaveLength(1);
    recorder.finishQuiet(T0 + 21);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false, eventTimeMs: T0 + 1 });
    for (const frame of wire.books(T0 + 500)) recorder.clobFrame(frame, T0 + 500);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 500 });
  });

  it('ends a quiet action by timer when time passes by the clock', async () => {
    const { sink, clock, recorder, wire } = setUp('clock');
    recorder.clobFrame(wire.snapshot(T0), T0);
    const [first] = wire.action(T0 + 1, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: 0 },
    ]);
    recorder.clobFrame(first!, T0);
    await clock.advance(19);
    expect(sink.books).toHaveLength(1);
    await clock.advance(1);
    expect(sink.books).toHaveLength(2);
    expect(clock.waiting).toBe(0);
  });

  it('verifies a book whose trade message is late, and stores a repeated trade once', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const trade = wire.trade(T0 + 3, { price: 5000, size: 2 * SHARE });
    wire.set({ side: 'SELL', price: 5000, size: 17 * SHARE });
    for (const frame of wire.books(T0 + 3)) recorder.clobFrame(frame, T0 + 3);
    recorder.clobFrame(trade, T0 + 5);
    recorder.clobFrame(trade, T0 + 6);
    recorder.close();
    expect(sink.books.map(({ trusted }) => trusted)).toEqual([true, true]);
    expect(sink.trades).toHaveLength(1);
    expect(sink.trades[0]).toMatchObject({
      side: 'BUY_YES',
      price: 5000,
      size: 2 * SHARE,
      eventTimeMs: T0 + 3,
    });
  });

  it('proves a state when a late message supplies the missing input of its hash', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    // A trade at a price that the action does not touch is not among the guesses: the state is published unproven.
    const trade = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    for (const frame of wire.action(T0 + 3, [{ side: 'BUY', price: 4000, size: SHARE }]))
      recorder.clobFrame(frame, T0 + 3);
    recorder.finishQuiet(T0 + 30);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    recorder.clobFrame(trade, T0 + 40);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true, yesChanged: true });
    expect(sink.books).toHaveLength(2);
  });

  it('proves a trade’s books by its message, even if the tick size changes before the next action', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const trade = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    wire.set({ side: 'SELL', price: 5000, size: 17 * SHARE });
    for (const frame of [...wire.books(T0 + 3), trade]) recorder.clobFrame(frame, T0 + 3);
    const token = { market: MARKET.marketId, asset_id: MARKET.yesTokenId, timestamp: String(T0 + 3) };
    const steps = { old_tick_size: '0.01', new_tick_size: '0.001', event_type: 'tick_size_change' };
    recorder.clobFrame(JSON.stringify({ ...token, ...steps }), T0 + 3);
    wire.tickSize = '0.001';
    for (const frame of wire.action(T0 + 3, [{ side: 'BUY', price: 4910, size: SHARE }]))
      recorder.clobFrame(frame, T0 + 3);
    recorder.close();
    expect(sink.books.map(({ trusted }) => trusted)).toEqual([true, true, true]);
  });

  it('applies a tick size change to the hash and to the market’s record', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    wire.tickSize = '0.001';
    // Changes hashed with the new tick size arrive before its message.
    for (const frame of wire.action(T0 + 3, [{ side: 'BUY', price: 4910, size: SHARE }]))
      recorder.clobFrame(frame, T0 + 3);
    recorder.finishQuiet(T0 + 30);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true });
    const token = { market: MARKET.marketId, asset_id: MARKET.yesTokenId, timestamp: String(T0 + 3) };
    const change = {
      ...token,
      old_tick_size: '0.01',
      new_tick_size: '0.001',
      event_type: 'tick_size_change',
    };
    for (let i = 0; i < 2; i++) recorder.clobFrame(JSON.stringify(change), T0 + 40);
    expect(sink.markets.map(({ tickSize }) => tickSize)).toEqual([100, 10]);
  });

  it('recognises the other token’s trade in the hash by either side of its price', () => {
    for (const inHash of ['0.400', '0.600']) {
      const { sink, recorder, wire } = setUp();
      recorder.clobFrame(wire.snapshot(T0), T0);
      const trade = wire
        .trade(T0 + 3, { price: 4000, size: SHARE })
        .replace(MARKET.yesTokenId, MARKET.noTokenId);
      wire.lastTradePrice = inHash;
      const frames = wire.action(T0 + 3, [{ side: 'BUY', price: 4800, size: SHARE }]);
      for (const frame of [trade, ...frames]) recorder.clobFrame(frame, T0 + 3);
      recorder.finishQuiet(T0 + 30);
      expect(sink.books.at(-1), inHash).toMatchObject({ trusted: true });
      expect(sink.trades[0]).toMatchObject({ side: 'BUY_NO', price: 4000 });
    }
  });

  it('separates two actions of one millisecond by the books of a trade between them', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const trade = wire.trade(T0 + 3, { price: 5000, size: 2 * SHARE });
    const taken = wire.action(T0 + 3, [{ side: 'SELL', price: 5000, size: 17 * SHARE }]);
    const books = wire.books(T0 + 3);
    const next = wire.action(T0 + 3, [
      { side: 'BUY', price: 4900, size: 3 * SHARE },
      { side: 'BUY', price: 4800, size: 0 },
    ]);
    for (const frame of [...taken, trade, ...books, ...next]) recorder.clobFrame(frame, T0 + 4);
    recorder.close();
    expect(
      sink.books.map(({ trusted, yes }) => [trusted, yes.asks[0]![1] / SHARE, yes.bids[0]![1] / SHARE]),
    ).toEqual([
      [true, 19, 1],
      [true, 17, 1],
      [true, 17, 3],
    ]);
  });

  it('opens a gap when the feed is lost and closes it with the next verified book', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], T0 + 100);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: null, cause: 'disconnected' }]);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: false, yesChanged: true });
    recorder.clobFrame(wire.snapshot(T0 + 50), T0 + 900);
    const end = { endTimeMs: T0 + 50, endReceivedMs: T0 + 900, repairedBy: 'snapshot' };
    expect(sink.gaps.at(-1)).toMatchObject({ startTimeMs: T0, startReceivedMs: T0, ...end });
    // The levels are unchanged, so there is no second book row, only a quote for the trust.
    expect(sink.books).toHaveLength(1);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
  });

  it('stamps the last spot price unless it is older than ten seconds', () => {
    const { sink, recorder, wire } = setUp();
    const spot = { kind: 'underlying', ticker: 'BTC', source: 'binance_spot' } as const;
    recorder.underlying({ ...spot, price: 97_000.12, eventTimeMs: T0, receivedTimeMs: T0 });
    recorder.underlying({ ...spot, source: 'chainlink', price: 1, eventTimeMs: T0, receivedTimeMs: T0 });
    recorder.clobFrame(wire.snapshot(T0), T0 + 10_000);
    for (const frame of wire.action(T0 + 10_001, [{ side: 'BUY', price: 4900, size: 0 }])) {
      recorder.clobFrame(frame, T0 + 10_001);
    }
    expect(sink.books.map(({ underlyingPrice }) => underlyingPrice)).toEqual([97_000.12, null]);
  });

  it.each([
    ['live, on time', 5_000, {}, [[97_000, T0 - 5_000]], 97_000],
    ['live, late', 5_001, {}, [], null],
    ['sent with the subscription', 5_001, { isHistory: true } as const, [[97_000, T0 - 5_001]], null],
  ])('stores a spot price that arrived %s, and uses it only if current', (_, lagMs, more, used, beside) => {
    const { sink, recorder, wire } = setUp('clock');
    const heard: [number, number][] = [];
    recorder.onUnderlying = ({ price, eventTimeMs }) => heard.push([price, eventTimeMs]);
    const spot = { kind: 'underlying', ticker: 'BTC', source: 'binance_spot', price: 97_000 } as const;
    recorder.underlying({ ...spot, eventTimeMs: T0 - lagMs, receivedTimeMs: T0, ...more });
    recorder.clobFrame(wire.snapshot(T0), T0);
    expect(sink.underlyings).toHaveLength(1);
    expect(heard).toEqual(used);
    expect(sink.books.at(-1)?.underlyingPrice).toBe(beside);
    // A live late price makes the market's books untrusted; history sent on subscription does not.
    expect(sink.books.at(-1)?.trusted).toBe(lagMs <= 5_000 || 'isHistory' in more);
    recorder.close();
  });

  it('stores a point that two feeds bring once, and counts another price for it', async () => {
    const { sink, recorder, metrics } = setUp('clock');
    const point = { kind: 'underlying', ticker: 'BTC', source: 'twap60', receivedTimeMs: T0 + 1000 } as const;
    const feeds: string[] = [];
    recorder.onUnderlying = (_event, feed) => feeds.push(feed);
    // The same price in the precision of each feed.
    recorder.underlying({ ...point, eventTimeMs: T0, price: 78803.71526109411 }, 'polymarket.polybolt');
    recorder.underlying({ ...point, eventTimeMs: T0, price: 78803.7152610941 });
    recorder.underlying({ ...point, eventTimeMs: T0 - 1000, price: 78803, isHistory: true });
    expect(await metrics.registry.metrics()).not.toMatch(/underround_price_conflicts_total\{/);
    recorder.underlying({ ...point, eventTimeMs: T0, price: 78803.8 });
    recorder.underlying({ ...point, eventTimeMs: T0 - 1000, price: 78804 }, 'polymarket.polybolt');
    recorder.close();
    expect(sink.underlyings.map(({ eventTimeMs, price }) => [eventTimeMs, price])).toEqual([
      [T0, 78803.71526109411],
    ]);
    expect(feeds).toEqual([
      ...['polymarket.polybolt', 'polymarket.rtds', 'polymarket.rtds'],
      ...['polymarket.rtds', 'polymarket.polybolt'],
    ]);
    const counted = await metrics.registry.metrics();
    expect(counted).toContain('underround_price_conflicts_total{source="twap60"} 2');
  });

  it('is late only if the first feed to bring a point is late, and names that feed', () => {
    const { recorder } = setUp('clock');
    const point = { kind: 'underlying', ticker: 'BTC', source: 'twap60', price: 1 } as const;
    recorder.underlying({ ...point, eventTimeMs: T0, receivedTimeMs: T0 + 1000 }, 'polymarket.polybolt');
    recorder.underlying({ ...point, eventTimeMs: T0, receivedTimeMs: T0 + 9000 });
    expect(recorder.lags?.lateFor(MARKET)).toBeNull();
    const late = { eventTimeMs: T0 + 1000, receivedTimeMs: T0 + 9000 };
    recorder.underlying({ ...point, ...late }, 'polymarket.polybolt');
    expect(recorder.lags?.lateFor(MARKET)?.feed).toBe('polymarket.polybolt');
    recorder.close();
  });

  it('is not late because a quiet market’s newest change or trade is repeated', () => {
    for (const repeated of ['change', 'trade'] as const) {
      const { recorder, wire, sink } = setUp('clock');
      recorder.clobFrame(wire.snapshot(T0), T0);
      const [change] = wire.action(T0 + 10, [{ side: 'BUY', price: 4800, size: SHARE }]);
      const trade = {
        price: '0.5',
        size: '1',
        side: 'BUY',
        timestamp: `${T0 + 10}`,
        transaction_hash: '0x1',
      };
      const ids = { market: MARKET.marketId, asset_id: MARKET.yesTokenId, event_type: 'last_trade_price' };
      const frames = { change: change!, trade: JSON.stringify({ ...ids, ...trade }) };
      for (const frame of Object.values(frames)) recorder.clobFrame(frame, T0 + 20);
      recorder.clobFrame(frames[repeated], T0 + 8_000);
      expect(recorder.lags?.lateFor(MARKET)).toBeNull();
      expect(sink.trades).toHaveLength(1);
      const [news] = wire.action(T0 + 11, [{ side: 'BUY', price: 4800, size: 2 * SHARE }]);
      recorder.clobFrame(news!, T0 + 8_000);
      expect(recorder.lags?.lateFor(MARKET)?.feed).toBe('polymarket.clob');
      recorder.close();
    }
  });

  it('keeps event times monotonic and ignores changes older than the book', async () => {
    const { sink, recorder, wire, metrics } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const [late] = wire.action(T0 - 10, [{ side: 'BUY', price: 4900, size: 5 }]);
    recorder.clobFrame(late!, T0 + 1);
    recorder.close();
    expect(sink.books).toHaveLength(1);
    expect(await metrics.registry.metrics()).toContain('underround_book_events_ignored_total{why="stale"} 1');
  });

  it('sets aside a frame with a time in microseconds, and continues to record the market', async () => {
    const { sink, recorder, wire, metrics } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const [right] = wire.action(T0 + 1, [{ side: 'BUY', price: 4900, size: 5 }]);
    recorder.clobFrame(right!.replaceAll(String(T0 + 1), String((T0 + 1) * 1000)), T0 + 1);
    recorder.clobFrame(right!, T0 + 2);
    recorder.close();
    expect(sink.books.map(({ eventTimeMs, trusted }) => [eventTimeMs, trusted])).toEqual([
      [T0, true],
      [T0 + 1, true],
    ]);
    expect(await metrics.registry.metrics()).toContain(
      'underround_frames_rejected_total{feed="polymarket.clob"} 1',
    );
  });

  it('ignores a trade of a token of another market', async () => {
    const { sink, recorder, wire, metrics } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0);
    const trade = wire.trade(T0 + 1, { price: 4900, size: SHARE });
    recorder.clobFrame(trade.replaceAll(MARKET.yesTokenId, '987654321'), T0 + 1);
    expect(sink.trades).toEqual([]);
    expect(await metrics.registry.metrics()).toContain(
      'underround_book_events_ignored_total{why="unknown_token"} 1',
    );
    recorder.clobFrame(trade, T0 + 2);
    expect(sink.trades.map(({ side }) => side)).toEqual(['BUY_YES']);
  });

  it('drops a perp book whose update id did not change at its venue', () => {
    const { sink, recorder } = setUp();
    const depth = {
      kind: 'perp_depth',
      venue: 'bybit',
      ticker: 'ETH',
      updateId: 5,
      eventTimeMs: T0,
      engineTimeMs: null,
      receivedTimeMs: T0,
      roundTripMs: 3,
      bids: [['3300.1', '1']],
      asks: [['3300.2', '1']],
    } as const;
    for (const updateId of [5, 5, 6]) recorder.perpDepth({ ...depth, updateId });
    recorder.perpDepth({ ...depth, venue: 'okx', updateId: 6 });
    recorder.perpDepth({ ...depth, updateId: 6 });
    recorder.perpDepth({ ...depth, ticker: 'BTC', updateId: 6 });
    expect(sink.depths.map(({ venue, ticker, updateId }) => [venue, ticker, updateId])).toEqual([
      ['bybit', 'ETH', 5],
      ['bybit', 'ETH', 6],
      ['okx', 'ETH', 6],
      ['bybit', 'BTC', 6],
    ]);
  });

  it.each([
    ['not JSON', '<html>'],
    ['not an object', '[1]'],
    [
      'a price above 1',
      '{"event_type":"last_trade_price","market":"0x1","asset_id":"1","timestamp":"1","side":"BUY","price":"1.5","size":"1"}',
    ],
    [
      'an invalid time',
      '{"event_type":"book","market":"0x1","asset_id":"1","timestamp":"soon","hash":"1","bids":[],"asks":[]}',
    ],
  ])('sets aside and counts a frame with %s', async (_, frame) => {
    const { sink, recorder, metrics } = setUp();
    recorder.clobFrame(frame, T0);
    expect(await metrics.registry.metrics()).toContain(
      'underround_frames_rejected_total{feed="polymarket.clob"} 1',
    );
    expect(sink.books).toEqual([]);
  });

  it.each(['PONG', '[]', 'NO NEW ASSETS', '{"event_type":"something_new"}'])('ignores %s', async (frame) => {
    const { recorder, metrics } = setUp();
    recorder.clobFrame(frame, T0);
    expect(await metrics.registry.metrics()).not.toContain('underround_frames_rejected_total{');
  });

  it('stores the winner named by the stream once, and reports it', () => {
    const { sink, recorder, resolved } = setUp();
    const named = (winning_asset_id: string) =>
      JSON.stringify({
        event_type: 'market_resolved',
        market: MARKET.marketId,
        winning_asset_id,
        winning_outcome: 'Down',
        timestamp: String(T0),
      });
    recorder.clobFrame(named('3'), T0 + 1);
    expect(resolved).toEqual([]);
    for (let i = 0; i < 2; i++) recorder.clobFrame(named(MARKET.noTokenId), T0 + 1);
    expect(resolved).toEqual([
      {
        ...MARKET,
        status: 'resolved',
        outcome: 'Down',
        payoutYes: 0,
        resolvedBy: 'stream',
        resolvedTimeMs: T0,
        resolvedTimeSource: 'stream',
      },
    ]);
    expect(sink.markets.map(({ status }) => status)).toEqual(['open', 'resolved']);
  });
});

describe('differences from the known formats', () => {
  it('reports a market whose whole books do not verify, from the third in a row on', () => {
    const { recorder, wire, metrics } = setUp();
    const wrong = (timeMs: number) => wire.snapshot(timeMs).replaceAll(/"hash":"\w+"/g, '"hash":"f00"');
    recorder.clobFrame(wrong(T0), T0);
    expect(metrics.venueDrift.findings()).toEqual([]);
    recorder.clobFrame(wrong(T0 + 1), T0 + 1);
    const subject = { category: 'hash_recipe', feed: 'polymarket.clob', kind: 'book', key: MARKET.marketId };
    expect(metrics.venueDrift.findings()).toEqual([
      {
        ...{ ...subject, firstSeenMs: T0 + 1, lastSeenMs: T0 + 1, count: 2 },
        sample: JSON.stringify({ slug: MARKET.slug, tokenId: MARKET.yesTokenId, hash: 'f00' }).slice(0, 200),
      },
    ]);
    recorder.clobFrame(wire.snapshot(T0 + 2), T0 + 2);
    expect(metrics.venueDrift.findings()).toMatchObject([{ count: 2 }]);
  });

  it('reports an unknown field, uses the message, and counts it in the metric', async () => {
    const { recorder, sink, wire, metrics } = setUp();
    recorder.clobFrame(wire.snapshot(T0).replace('"bids"', '"depth":7,"bids"'), T0);
    expect(metrics.venueDrift.findings()).toMatchObject([
      { category: 'unknown_field', kind: 'book', key: 'depth', sample: '7' },
    ]);
    expect(sink.books).toMatchObject([{ trusted: true }]);
    expect(metrics.venueDrift.takeSetAside()).toEqual([]);
    expect(await metrics.registry.getSingleMetricAsString('underround_venue_drift_total')).toContain(
      'underround_venue_drift_total{feed="polymarket.clob",kind="unknown_field"} 1',
    );
  });

  it('sets a refused frame and a message of an unknown kind aside', () => {
    const { recorder, wire, metrics } = setUp();
    const [change = ''] = wire.action(T0, [{ side: 'BUY', price: 4000, size: SHARE }]);
    recorder.clobFrame(change.replaceAll('"BUY"', '"BID"'), T0);
    recorder.clobFrame('{"event_type":"auction"}', T0 + 1);
    recorder.clobFrame('PONG', T0 + 2);
    expect(metrics.venueDrift.takeSetAside().map(({ kind, reason }) => [kind, reason])).toEqual([
      ['price_change', 'side is neither BUY nor SELL'],
      ['auction', 'unknown kind of message'],
    ]);
  });
});
