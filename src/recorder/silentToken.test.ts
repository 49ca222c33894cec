import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Recorder } from './recorder.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

function setUp() {
  const sink = new MemorySink();
  const clock = new FakeClock(T0);
  const recorder = new Recorder({
    sink,
    clock,
    log: silentLogger,
    metrics: new Metrics(),
    timeBy: 'receipt',
  });
  recorder.track(MARKET);
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4000, size: SHARE });
  wire.set({ side: 'SELL', price: 6000, size: SHARE });
  const play = (frames: readonly string[], atMs: number) => {
    for (const frame of frames) recorder.clobFrame(frame, atMs);
  };
  return { sink, recorder, wire, play };
}

/** A frame without the changes of NO. */
function ofYes(frame: string): string {
  const parsed = JSON.parse(frame) as { price_changes: { asset_id: string }[] };
  const changes = parsed.price_changes.filter(({ asset_id }) => asset_id === MARKET.yesTokenId);
  return JSON.stringify({ ...parsed, price_changes: changes });
}

describe('a gap begins at the last row of both tokens', () => {
  it('when a whole book within the second shows that one token was silent', () => {
    const { sink, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const both = wire.action(T0 + 100, [{ side: 'BUY', price: 4100, size: SHARE }]);
    play(both, T0 + 100);
    for (const [at, timeMs] of [T0 + 200, T0 + 400, T0 + 750].entries())
      play(wire.action(timeMs, [{ side: 'BUY', price: 4200, size: (1 + at) * SHARE }]).map(ofYes), timeMs);
    // The first rows of YES alone were published as trusted.
    play(wire.books(T0 + 900), T0 + 900);
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0 + 100, endTimeMs: T0 + 900, cause: 'silent_market', repairedBy: 'snapshot' },
    ]);
  });

  it('when one frame lacked a token', () => {
    const { sink, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4100, size: SHARE }]), T0 + 100);
    play(wire.action(T0 + 200, [{ side: 'BUY', price: 4200, size: SHARE }]).map(ofYes), T0 + 200);
    play(wire.action(T0 + 300, [{ side: 'BUY', price: 4300, size: SHARE }]), T0 + 300);
    play(wire.books(T0 + 700), T0 + 700);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0 + 100, endTimeMs: T0 + 700, cause: 'book_mismatch' }]);
  });

  it.each([0, 10])(
    'when one token is silent since the first books, whose times are %i ms apart',
    (apartMs) => {
      const { sink, recorder, wire, play } = setUp();
      const [, no] = JSON.parse(wire.snapshot(T0 - apartMs)) as unknown[];
      const [yes] = JSON.parse(wire.snapshot(T0)) as unknown[];
      play([JSON.stringify([no, yes])], T0);
      recorder.finishQuiet(T0 + 50);
      for (const [at, timeMs] of [T0 + 200, T0 + 400, T0 + 750].entries())
        play(wire.action(timeMs, [{ side: 'BUY', price: 4200, size: (1 + at) * SHARE }]).map(ofYes), timeMs);
      play(wire.books(T0 + 900), T0 + 900);
      expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 900, cause: 'silent_market' }]);
    },
  );
});
