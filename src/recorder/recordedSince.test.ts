import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { setUpLifecycle } from '../../test/support/lifecycle.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { StoredBook } from '../store/queries/resume.ts';
import { mergeListing } from './marketMerge.ts';
import { Recorder } from './recorder.ts';

const T0 = MARKET.startTimeMs + 10_000;

function setUp(timeBy: 'receipt' | 'clock') {
  const sink = new MemorySink();
  const metrics = new Metrics();
  const recorder = new Recorder({ sink, clock: new FakeClock(T0), log: silentLogger, metrics, timeBy });
  return { sink, recorder, wire: new WireMarket() };
}

const since = ({ sink }: { sink: MemorySink }) => sink.markets.map((record) => record.recordedSinceMs);
const none = { prices: [], sizes: [] };
const LAST_BOOK: StoredBook = {
  ...{ marketId: MARKET.marketId, eventTimeMs: T0 - 5_000, receivedTimeMs: T0 - 5_000, seq: 1 },
  ...{ trusted: true, mirrored: true, underlyingPrice: null },
  ...{ yes: { bids: none, asks: none }, no: { bids: none, asks: none } },
};

describe('the time since which a market is recorded', () => {
  it('is the receive time of its first proven book, written once', () => {
    const at = setUp('clock');
    at.recorder.track(MARKET);
    at.wire.set({ side: 'BUY', price: 5100, size: 1_000_000 });
    at.wire.set({ side: 'SELL', price: 5000, size: 1_000_000 });
    at.recorder.clobFrame(at.wire.snapshot(T0), T0);
    expect(at.sink.books).toMatchObject([{ trusted: false }]);
    expect(since(at)).toEqual([null]);
    at.wire.set({ side: 'SELL', price: 5000, size: 0 });
    at.recorder.clobFrame(at.wire.snapshot(T0 + 500), T0 + 520);
    for (const side of ['BUY', 'SELL'] as const)
      for (const frame of at.wire.action(T0 + 600, [{ side, price: 5000, size: 1_000_000 }]))
        at.recorder.clobFrame(frame, T0 + 620);
    expect(since(at)).toEqual([null, T0 + 520]);
  });

  it('is unchanged when the listing is read again', () => {
    const known = { ...MARKET, recordedSinceMs: T0 };
    expect(mergeListing(known, MARKET).recordedSinceMs).toBe(T0);
  });

  it('is not set for a market with books of an earlier run', () => {
    const at = setUp('clock');
    at.recorder.resume(MARKET, { book: LAST_BOOK, proven: null });
    at.recorder.clobFrame(at.wire.snapshot(T0), T0);
    expect(at.recorder.market(MARKET.marketId)?.recordedSinceMs).toBeNull();
    expect(at.recorder.recorded(MARKET.marketId)?.book.trusted).toBe(true);
  });

  it('is set for a market that an earlier run only listed', () => {
    const at = setUp('clock');
    at.recorder.resume(MARKET);
    at.recorder.clobFrame(at.wire.snapshot(T0), T0);
    expect(since(at)).toEqual([T0]);
  });

  it('is not set by an import, because another import may hold earlier data', () => {
    const at = setUp('receipt');
    at.recorder.track(MARKET);
    at.recorder.clobFrame(at.wire.snapshot(T0), T0);
    expect(since(at)).toEqual([null]);
  });
});

it('is not lost when the lifecycle updates the market', async () => {
  const at = setUpLifecycle();
  at.lifecycle.start([]);
  await at.clock.advance(2_000);
  const market = [...at.recorder.markets()].find(
    ({ eventType, ticker }) => `${ticker} ${eventType}` === 'BTC 5m',
  );
  if (market === undefined) throw new Error('no market');
  const receivedMs = at.clock.now();
  at.recorder.clobFrame(new WireMarket(market).snapshot(receivedMs), receivedMs);
  await at.clock.advance(market.endTimeMs + 120_000 - at.clock.now());
  expect(at.recorder.market(market.marketId)).toMatchObject({
    status: 'closed',
    recordedSinceMs: receivedMs,
  });
});
