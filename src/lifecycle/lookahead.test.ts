import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { Recorder } from '../recorder/recorder.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';

const T0 = MARKET.startTimeMs + 10_000;
const SHARE = 1_000_000;

function setUp() {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
  recorder.track(MARKET);
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4900, size: SHARE });
  wire.set({ side: 'SELL', price: 5000, size: SHARE });
  const spot = (price: number, eventTimeMs: number, receivedTimeMs: number) =>
    recorder.underlying({
      ...{ kind: 'underlying', ticker: 'BTC', source: 'binance_spot' },
      ...{ price, eventTimeMs, receivedTimeMs },
    });
  return { sink, recorder, wire, spot };
}

describe('recorded data can be replayed in the order in which it became known', () => {
  it('trap 4: a price with an earlier venue time that arrives after a book is not stamped on that book', () => {
    const { sink, recorder, wire, spot } = setUp();
    spot(97_000, T0 - 500, T0 - 400);
    recorder.clobFrame(wire.snapshot(T0), T0 + 50);
    recorder.finishQuiet(Number.POSITIVE_INFINITY);
    spot(99_000, T0 - 100, T0 + 900);
    for (const frame of wire.action(T0 + 100, [{ side: 'BUY', price: 4800, size: SHARE }]))
      recorder.clobFrame(frame, T0 + 1000);
    recorder.close();
    expect(sink.books.map(({ underlyingPrice }) => underlyingPrice)).toEqual([97_000, 99_000]);
  });

  it('trap 4: records are ordered by receive time, whatever their venue times', () => {
    const { sink, recorder, wire, spot } = setUp();
    recorder.clobFrame(wire.snapshot(T0), T0 + 50);
    recorder.finishQuiet(Number.POSITIVE_INFINITY);
    spot(99_000, T0 - 5000, T0 + 900);
    const [book] = sink.books;
    const [price] = sink.underlyings;
    expect(price!.eventTimeMs).toBeLessThan(book!.eventTimeMs);
    expect(price!.receivedTimeMs).toBeGreaterThan(book!.receivedTimeMs);
    expect(price!.seq).toBeGreaterThan(book!.seq);
  });

  it('trap 5: a whole book is dated by its receive time, however old its venue time', () => {
    const { sink, recorder, wire } = setUp();
    recorder.clobFrame(wire.snapshot(T0 - 180_000), T0 + 70);
    recorder.close();
    const received = [sink.books, sink.quotes].map((rows) => rows.map((row) => row.receivedTimeMs));
    expect(received).toEqual([[T0 + 70], [T0 + 70]]);
  });

  it('trap 5: a book older than later stream data changes nothing', () => {
    const { sink, recorder, wire } = setUp();
    const cached = wire.snapshot(T0);
    recorder.clobFrame(cached, T0 + 10);
    for (const frame of wire.action(T0 + 100, [{ side: 'SELL', price: 5000, size: 7 * SHARE }]))
      recorder.clobFrame(frame, T0 + 110);
    recorder.clobFrame(cached, T0 + 200);
    recorder.close();
    expect(sink.books.at(-1)!.yes.asks).toEqual([[5000, 7 * SHARE]]);
  });
});
