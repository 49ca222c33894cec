import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { Bus } from '../bus/bus.ts';
import { publishingSink } from '../bus/publishingSink.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import { KEPT_GAPS_MAX, KEPT_TIMES_MAX, MarketMemory } from './marketMemory.ts';
import { Recorder } from './recorder.ts';

const T0 = MARKET.startTimeMs;
const M = MARKET.marketId;

function rig() {
  const observed = { log: silentLogger, metrics: new Metrics(), clock: new FakeClock(T0) };
  const bus = new Bus(observed);
  const sink = publishingSink(new MemorySink(), bus);
  const recorder = new Recorder({ ...observed, sink, timeBy: 'receipt' });
  const { clock } = observed;
  return { recorder, bus, clock, memory: new MarketMemory({ recorder, bus, clock }), wire: new WireMarket() };
}

const both = (timeMs: number) => ({ eventTimeMs: timeMs, receivedTimeMs: timeMs });
const gapOf = (timeMs: number) =>
  ({ marketId: M, cause: 'disconnected', feed: 'f', start: both(timeMs), knownTimeMs: timeMs }) as const;

test('a kept book is a copy without levels of the next action', () => {
  const { recorder, memory, wire } = rig();
  recorder.track(MARKET);
  expect(memory.book(M)).toBeNull();
  recorder.clobFrame(wire.snapshot(T0), T0);
  const levels = Array.from({ length: 200 }, (_, i) => ({
    ...{ side: 'BUY' as const, price: 100 + i, size: (i + 1) * 10_000 },
  }));
  for (const frame of wire.action(T0 + 1, levels)) recorder.clobFrame(frame, T0 + 1);
  const book = memory.book(M);
  expect(book).toMatchObject({ eventTimeMs: T0 + 1, receivedTimeMs: T0 + 1, trusted: true });
  expect([book?.yes.bids.count, book?.yes.bids.prices[0], book?.yes.bids.sizes[0]]).toEqual([
    ...[200, 299, 2_000_000],
  ]);
  expect([book?.no.asks.count, book?.no.asks.prices[0], book?.no.asks.sizes[0]]).toEqual([
    ...[200, 9701, 2_000_000],
  ]);
  const [half = ''] = wire.action(T0 + 2, [
    { side: 'BUY', price: 299, size: 0 },
    { side: 'BUY', price: 298, size: 10_000 },
  ]);
  recorder.clobFrame(half, T0 + 2);
  expect([memory.book(M)?.yes.bids.count, memory.book(M)?.eventTimeMs]).toEqual([200, T0 + 1]);
});

test('returns a book that an earlier run stored until it changes', () => {
  const { recorder, memory } = rig();
  const side = { prices: [5000], sizes: [1_000_000] };
  const none = { prices: [], sizes: [] };
  const book = {
    ...{ marketId: M, eventTimeMs: T0, receivedTimeMs: T0 + 40, seq: 1, trusted: true, mirrored: true },
    ...{ underlyingPrice: 97_000.5, yes: { bids: side, asks: none }, no: { bids: none, asks: none } },
  };
  recorder.resume(MARKET, { book, proven: null });
  expect(memory.book(M)).toMatchObject({ eventTimeMs: T0, receivedTimeMs: T0 + 40, trusted: true });
  expect(memory.book(M)?.underlyingPrice).toBe(97_000.5);
  expect(memory.book(M)?.no.asks.prices[0]).toBe(5000);
});

test('returns the gaps of this run with their ends, and the open gap of an earlier run', () => {
  const { recorder, memory } = rig();
  recorder.track(MARKET);
  const { start: _, ...rest } = gapOf(T0);
  const earlier: Gap = {
    ...{ ...rest, gapId: 'gap_earlier', startTimeMs: T0, endTimeMs: null, startReceivedMs: T0 },
    ...{ endReceivedMs: null, repairedBy: null, knownSeq: 1 },
  };
  recorder.gaps.resume(earlier);
  expect(memory.gaps(M)).toEqual([earlier]);
  recorder.gaps.close(M, both(T0 + 5), 'snapshot');
  recorder.gaps.open(gapOf(T0 + 10));
  expect(memory.gaps(M)).toMatchObject([
    { gapId: 'gap_earlier', endTimeMs: T0 + 5, repairedBy: 'snapshot' },
    { startTimeMs: T0 + 10, endTimeMs: null },
  ]);
});

test('keeps the newest of very many gaps', () => {
  const { recorder, memory } = rig();
  recorder.track(MARKET);
  for (let i = 0; i < KEPT_GAPS_MAX + 3; i++) {
    recorder.gaps.open(gapOf(T0 + 2 * i));
    recorder.gaps.close(M, both(T0 + 2 * i + 1), null);
  }
  const known = memory.gaps(M);
  expect([known.length, known[0]?.startTimeMs]).toEqual([KEPT_GAPS_MAX, T0 + 6]);
});

test('forgets a market that the recorder forgets, even if it returns', () => {
  const { recorder, memory, wire } = rig();
  recorder.track(MARKET);
  recorder.clobFrame(wire.snapshot(T0), T0);
  recorder.gaps.open(gapOf(T0));
  recorder.untrack(M);
  expect([memory.book(M), memory.gaps(M), memory.market(M), [...memory.markets()]]).toEqual([
    ...[null, [], null, []],
  ]);
  recorder.gaps.close(M, both(T0 + 1), null);
  recorder.track({ ...MARKET, marketId: '0xother', slug: 'other', yesTokenId: '3', noTokenId: '4' });
  recorder.track(MARKET);
  expect([memory.book(M), memory.gaps(M)]).toEqual([null, []]);
});

test('shows no book as trusted while nothing is received, and the same one again afterwards', () => {
  const bus = new Bus({ log: silentLogger, metrics: new Metrics() });
  const recording = {
    ...{
      isReceiving: true,
      knownToMs: Infinity,
      markets: () => [],
      market: () => MARKET,
      gaps: { of: () => null },
    },
    recorded: () => ({ liveBook: () => null }),
  };
  const memory = new MarketMemory({ recorder: recording, bus, clock: new FakeClock(T0) });
  const none = { bids: sideOf(), asks: sideOf() };
  bus.publish('book', {
    ...{ seq: 1, marketId: M, eventTimeMs: T0, receivedTimeMs: T0, underlyingPrice: null },
    ...{ trusted: true, mirrored: true, yes: none, no: none },
  });
  const trusted = [true, false, true].map((isReceiving) => {
    recording.isReceiving = isReceiving;
    return memory.book(M)?.trusted;
  });
  expect(trusted).toEqual([true, false, true]);
});

function sideOf() {
  return { count: 0, prices: new Uint16Array(), sizes: new Float64Array() };
}

test('knows whether the store may lack a book of a time, by when each was published', async () => {
  const { recorder, memory, wire, clock } = rig();
  recorder.track(MARKET);
  const act = (timeMs: number) => {
    for (const frame of wire.action(timeMs, [{ side: 'BUY', price: 100, size: 10_000 + timeMs - T0 }]))
      recorder.clobFrame(frame, clock.now());
  };
  const lacks = (atMs: number, lagMs: number) => memory.mayLackBooks(M, { atMs, lagMs });
  expect(lacks(T0, 1_000)).toBe(false);
  wire.set({ side: 'BUY', price: 200, size: 1_000_000 });
  recorder.clobFrame(wire.snapshot(T0), T0);
  await clock.advance(2_000);
  act(T0 + 500);
  clock.stepWall(4_000);
  await clock.advance(1_000);
  expect([lacks(T0, 3_000), lacks(T0, 2_999), lacks(T0 - 1, 3_000)]).toEqual([true, false, false]);
  expect([lacks(T0 + 500, 1_000), lacks(T0 + 499, 1_000), lacks(T0 + 500, 999)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(lacks(T0 + 500, 0)).toBe(false);
  for (let n = 1; n < KEPT_TIMES_MAX; n++) act(T0 + 500 + n);
  // The time of the first book is forgotten.
  expect([lacks(T0 + 499, 999), lacks(T0 - 1, 3_000), lacks(T0 + 600, 0)]).toEqual([false, true, false]);
});

test('knows that the store may lack a late book, which is not the newest', () => {
  const { bus, memory } = rig();
  const side = sideOf();
  const book = {
    ...{ seq: 1, marketId: M, eventTimeMs: T0, receivedTimeMs: T0, underlyingPrice: null },
    ...{ trusted: true, mirrored: true, yes: { bids: side, asks: side }, no: { bids: side, asks: side } },
  };
  bus.publish('lateBook', book);
  expect(memory.book(M)).toBeNull();
  expect(memory.mayLackBooks(M, { atMs: T0, lagMs: 1 })).toBe(true);
  expect(memory.mayLackBooks(M, { atMs: T0 - 1, lagMs: 1 })).toBe(false);
});
