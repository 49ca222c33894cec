import { Recorder } from '../../src/recorder/recorder.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { FakeClock } from './fakeClock.ts';
import { MemorySink } from './memorySink.ts';
import { MARKET, WireMarket } from './wire.ts';

const SHARE = 1_000_000;

/** A recorder that follows one market, and the venue's side of that market with ten levels a side, not yet sent. */
export function recordedWire(startMs: number, market = MARKET, log = silentLogger) {
  const sink = new MemorySink();
  const metrics = new Metrics();
  const clock = new FakeClock(startMs);
  const recorder = new Recorder({ sink, clock, log, metrics, timeBy: 'receipt' });
  recorder.track(market);
  const wire = new WireMarket();
  for (let i = 1; i <= 10; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
  const play = (frames: readonly (string | undefined)[], atMs: number) => {
    for (const frame of frames) if (frame !== undefined) recorder.clobFrame(frame, atMs);
  };
  return { sink, recorder, wire, metrics, play };
}
