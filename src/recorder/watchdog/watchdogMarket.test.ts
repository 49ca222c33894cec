import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Recorder } from '../recorder.ts';
import { TICK_MS } from './watchdogLimits.ts';
import { WatchdogMarket } from './watchdogMarket.ts';

/** A newly subscribed market, and a function that delivers frames of both tokens at a rate. */
function watch() {
  const clock = new FakeClock();
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'receipt' });
  recorder.track(MARKET);
  const recorded = recorder.recorded(MARKET.marketId);
  if (recorded === null) throw new Error('not recorded');
  const watched = new WatchdogMarket(recorded, { group: 'g', nowAt: 0 });
  let [nowAt, due] = [0, 0];
  /** @param perSecond Frames that name both tokens. */
  const run = (forMs: number, perSecond: number) => {
    for (const endAt = nowAt + forMs; nowAt < endAt; ) {
      nowAt += TICK_MS;
      due += (perSecond * TICK_MS) / 1000;
      const came = Math.floor(due + 1e-9);
      due -= came;
      recorded.book.yes.frames += came;
      recorded.book.no.frames += came;
      watched.countFrames(nowAt, TICK_MS);
    }
  };
  return { watched, run, book: recorded.book };
}

test.each([
  ['busy after ten frames a second for four seconds', 4_000, 10, true],
  ['busy after six a second for eight seconds', 8_000, 6, true],
  ['busy after six a second for a minute', 60_000, 6, true],
  ['not busy after four a second for eight seconds', 8_000, 4, false],
  ['not busy after four a second for a minute', 60_000, 4, false],
])('%s', (_what, forMs, perSecond, isBusy) => {
  const { watched, run } = watch();
  run(forMs, perSecond);
  expect(watched.isBusy).toBe(isBusy);
  // Later silence does not change the result.
  run(6_000, 0);
  expect(watched.isBusy).toBe(isBusy);
});

test('a subscription’s first books and a short burst do not make a market busy', () => {
  const { watched, run } = watch();
  run(100, 10);
  run(400, 40);
  run(9_000, 0);
  expect(watched.isBusy).toBe(false);
});

test('a busy market becomes quiet after its rate has fallen', () => {
  const { watched, run } = watch();
  run(10_000, 20);
  expect(watched.isBusy).toBe(true);
  run(60_000, 1);
  expect(watched.isBusy).toBe(false);
});

test('frames repair a gap only when both tokens have had some since it was opened', () => {
  const { watched, book } = watch();
  book.yes.frames = book.no.frames = 7;
  watched.enterGap(1_000);
  expect(watched.hasFramesInGap).toBe(false);
  book.no.frames++;
  expect(watched.hasFramesInGap).toBe(false);
  book.yes.frames++;
  expect(watched.hasFramesInGap).toBe(true);
});

test('a market is known up to the older of its tokens’ last frames, and is no longer settled by a frame', () => {
  const { watched, run, book } = watch();
  run(1_000, 10);
  expect(watched.lastFrameAt).toBe(1_000);
  watched.isSettled = true;
  watched.countFrames(1_100, TICK_MS);
  expect(watched.isSettled).toBe(true);
  book.yes.frames++;
  watched.countFrames(1_200, TICK_MS);
  expect([watched.lastFrameAt, watched.isSettled]).toEqual([1_000, false]);
  book.no.frames++;
  watched.countFrames(1_300, TICK_MS);
  expect(watched.lastFrameAt).toBe(1_200);
});

test('a gap begins with nothing asked and nothing answered', () => {
  const { watched } = watch();
  watched.aheadSince = watched.askedAt = 900;
  watched.enterGap(1_000);
  expect([watched.gapSince, watched.aheadSince, watched.askedAt]).toEqual([
    ...[1_000, null, Number.NEGATIVE_INFINITY],
  ]);
});

test('data that an answer showed first is no longer missing once both tokens have had frames after it', () => {
  const { watched, run, book } = watch();
  run(1_000, 10);
  watched.aheadSince = 1_050;
  book.yes.frames++;
  watched.countFrames(1_100, TICK_MS);
  expect(watched.aheadSince).toBe(1_050);
  book.no.frames++;
  watched.countFrames(1_200, TICK_MS);
  expect(watched.aheadSince).toBeNull();
});
