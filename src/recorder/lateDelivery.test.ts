import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Recorder } from './recorder.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** A live recorder with a proven book. */
function setUp() {
  const [sink, clock, wire] = [new MemorySink(), new FakeClock(T0), new WireMarket()];
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  recorder.track(MARKET);
  for (let i = 1; i <= 5; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
  recorder.clobFrame(wire.snapshot(T0), T0);
  /** The frames of an action that removes two bids. */
  const removal = (timeMs: number, prices: readonly [number, number]) =>
    wire.action(
      timeMs,
      prices.map((price) => ({ side: 'BUY', price, size: 0 })),
    );
  return { sink, clock, recorder, removal };
}

test('an action waits for the rest that was received in time but is delivered late', async () => {
  const { sink, clock, recorder, removal } = setUp();
  const [first, ...rest] = removal(T0 + 1, [4900, 4800]);
  recorder.clobFrame(first as string, T0 + 1);
  // Busy with something else: the frames received from now on wait.
  recorder.deliveredToMs = () => T0 + 2;
  await clock.advance(10_000);
  expect(sink.books).toHaveLength(1);
  for (const frame of rest) recorder.clobFrame(frame, T0 + 2);
  expect(sink.books.map(({ trusted }) => trusted)).toEqual([true, true]);
  expect(sink.gaps).toEqual([]);
});

test('an unproven book is judged only by what has been delivered', async () => {
  const { sink, clock, recorder, removal } = setUp();
  const [first] = removal(T0 + 1, [4900, 4800]);
  recorder.clobFrame(first as string, T0 + 1);
  recorder.deliveredToMs = () => T0 + 1_000;
  await clock.advance(5_000);
  const [second] = removal(T0 + 900, [4700, 4600]);
  recorder.clobFrame(second as string, T0 + 900);
  await clock.advance(5_000);
  expect(sink.books.map(({ trusted }) => trusted)).toEqual([true, false, false]);
  expect(sink.gaps).toEqual([]);
  recorder.deliveredToMs = () => T0 + 1_001;
  recorder.finishQuiet(recorder.deliveredToMs());
  expect(sink.gaps).toMatchObject([{ cause: 'book_mismatch', knownTimeMs: T0 + 1_001 }]);
});

test('a proven book does not end a gap while a feed of its market is late', () => {
  const { sink, recorder, removal } = setUp();
  const { lags } = recorder;
  const recorded = recorder.recorded(MARKET.marketId);
  if (lags === null || recorded === null) throw new Error('not recorded');
  recorder.trust.open(recorded, { cause: 'late_feed', knownTimeMs: T0, feed: 'binance' });
  lags.lateFor = () => ({ feed: 'binance' }) as never;
  for (const frame of removal(T0 + 100, [4900, 4800])) recorder.clobFrame(frame, T0 + 100);
  expect(sink.gaps).toMatchObject([{ endTimeMs: null }]);
  expect(sink.books.at(-1)).toMatchObject({ eventTimeMs: T0 + 100, trusted: false });
  lags.lateFor = () => null;
  for (const frame of removal(T0 + 200, [4700, 4600])) recorder.clobFrame(frame, T0 + 200);
  expect(sink.gaps.at(-1)).toMatchObject({ endTimeMs: T0 + 200 });
  expect(sink.books.at(-1)).toMatchObject({ eventTimeMs: T0 + 200, trusted: true });
});
