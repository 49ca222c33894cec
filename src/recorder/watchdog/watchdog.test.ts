import { describe, expect, it, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { BookSnapshotEvent } from '../../schema/events.ts';
import type { GapCause } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import { mapClobFrame } from '../../venues/polymarket/clob/mapper.ts';
import type { RecordedMarket } from '../recordedMarket.ts';
import { Recorder } from '../recorder.ts';
import { ClockStepDetector, Watchdog, type WatchdogOptions, type WatchedFeed } from './watchdog.ts';

const GROUP = 'BTC-5m';

/**
 * A watchdog over markets of one group, on a feed that has been silent since `spokeAt`.
 * @param unanswered Markets whose subscription gets no answer; all others are proven.
 */
function watch({
  markets,
  rest,
  unanswered = [],
  isDoubled = false,
}: {
  markets: readonly Market[];
  rest: WatchdogOptions['rest'];
  unanswered?: readonly Market[];
  isDoubled?: boolean;
}) {
  const clock = new FakeClock(MARKET.startTimeMs);
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'clock' });
  const line = { spokeAt: 0, isUp: true, isCurrent: true, resubscribed: [] as string[] };
  const feed: WatchedFeed = {
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    resubscribe: (_, [yesTokenId]) => line.resubscribed.push(String(yesTokenId)),
    reconnect: () => undefined,
    isUp: () => line.isUp,
    isDoubled: (group) => group === GROUP && isDoubled,
    silentForMs: () => clock.monotonic() - line.spokeAt,
    maintain: () => line.isCurrent,
  };
  const watchdog = new Watchdog({ ...common, recorder, feed, rest, random: () => 0.5 });
  const tokens = markets.flatMap(({ yesTokenId, noTokenId }) => [yesTokenId, noTokenId]);
  for (const market of markets) {
    recorder.track(market);
    if (unanswered.includes(market)) continue;
    const wire = new WireMarket(market);
    wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
    recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
  }
  watchdog.subscribe(GROUP, tokens);
  watchdog.start();
  onTestFinished(() => {
    watchdog.stop();
    recorder.close();
  });
  return { clock, recorder, line, tokens };
}

test('a market requested just before its gap is requested again in the gap as soon as allowed', async () => {
  const askedAt: number[] = [];
  const rest = {
    books: async () => {
      askedAt.push(clock.monotonic());
      return [];
    },
  };
  const { clock, recorder } = watch({ markets: [MARKET], rest });
  await clock.advance(8_150);
  expect(askedAt).toEqual([8_000]);
  clock.stepWall(1_000);
  await clock.advance(200);
  expect(recorder.gaps.of(MARKET.marketId)?.cause).toBe('clock_step');
  // At most one request every 250 ms, and a tick every 100 ms.
  expect(askedAt).toEqual([8_000, 8_300]);
});

test.each([
  ['at once, but for the rest of its action', false, 1_100],
  ['later where a twin connection may deliver what the first has lost', true, 1_500],
])('an unproven book is requested %s', async (_when, isDoubled, expectedAt) => {
  const askedAt: number[] = [];
  const rest = {
    books: async () => {
      askedAt.push(clock.monotonic());
      return [];
    },
  };
  const { clock, recorder } = watch({ markets: [MARKET], rest, isDoubled });
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
  await clock.advance(1_000);
  wire.action(clock.now() - 2, [{ side: 'BUY', price: 4_800, size: 1_000_000 }]);
  for (const frame of wire.action(clock.now() - 1, [{ side: 'BUY', price: 4_700, size: 1_000_000 }]))
    recorder.clobFrame(frame, clock.now());
  await clock.advance(expectedAt - 1_000 - 1);
  expect(askedAt).toEqual([]);
  await clock.advance(1);
  expect(askedAt).toEqual([expectedAt]);
});

test('when a feed delivers again after minutes, every market in a gap is requested within a second', async () => {
  const markets = Array.from({ length: 30 }, (_, index) => ({
    ...MARKET,
    ...{ marketId: `0x${index}`, yesTokenId: `yes ${index}`, noTokenId: `no ${index}` },
  }));
  const { clock, recorder, line, tokens } = watch({ markets, rest: null });
  recorder.disconnect(tokens, clock.now(), 'silent_feed');
  await clock.advance(130_000);
  line.resubscribed.length = 0;
  await clock.advance(1_000);
  // The markets take turns while the feed is down.
  expect(line.resubscribed.length).toBeLessThan(15);
  line.spokeAt = clock.monotonic();
  line.resubscribed.length = 0;
  await clock.advance(1_000);
  expect(new Set(line.resubscribed).size).toBe(30);
});

test('a market whose subscription gets no answer is subscribed again every 3 s until its book arrives', async () => {
  const { clock, recorder, line } = watch({ markets: [MARKET], rest: null, unanswered: [MARKET] });
  await clock.advance(2_900);
  expect(line.resubscribed).toEqual([]);
  await clock.advance(6_200);
  expect(line.resubscribed).toEqual(Array(3).fill(MARKET.yesTokenId));
  line.isUp = false;
  await clock.advance(10_000);
  // The next connection subscribes to everything.
  expect(line.resubscribed).toHaveLength(3);
  line.isUp = true;
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
  recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
  await clock.advance(5_000);
  expect(line.resubscribed).toHaveLength(3);
  expect(recorder.gaps.of(MARKET.marketId)).toBeNull();
});

test('many unanswered markets are subscribed again in turn, and none after its window', async () => {
  const markets = Array.from({ length: 30 }, (_, index) => ({
    ...{ ...MARKET, endTimeMs: MARKET.startTimeMs + 6_500 },
    ...{ marketId: `0x${index}`, yesTokenId: `yes ${index}`, noTokenId: `no ${index}` },
  }));
  const { clock, line } = watch({ markets, rest: null, unanswered: markets });
  await clock.advance(3_950);
  expect(line.resubscribed).toHaveLength(10);
  await clock.advance(2_000);
  expect(new Set(line.resubscribed).size).toBe(30);
  await clock.advance(1_000);
  const before = line.resubscribed.length;
  await clock.advance(1_000);
  expect(line.resubscribed).toHaveLength(before);
});

test('changes of a window that arrive late, after its end, are in a gap; a market without any has none', async () => {
  const ending = { ...MARKET, endTimeMs: MARKET.startTimeMs + 5_000 };
  const other = { ...ending, marketId: '0xother', yesTokenId: 'other yes', noTokenId: 'other no' };
  const { clock, recorder } = watch({ markets: [ending, other], rest: null });
  await clock.advance(10_500);
  const wire = new WireMarket(ending);
  wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
  const late = wire.action(ending.endTimeMs - 100, [{ side: 'BUY', price: 4_900, size: 2_000_000 }]);
  for (const frame of late) recorder.clobFrame(frame, clock.now());
  const causes = () => [ending, other].map(({ marketId }) => recorder.gaps.of(marketId)?.cause ?? null);
  expect(causes()).toEqual([null, null]);
  await clock.advance(1_200);
  expect(causes()).toEqual(['late_feed', null]);
});

describe('an open market of which the venue has no book', () => {
  /** @param absentAnswers How many answers have no book; the next ones have another book than ours. */
  function withoutBook(absentAnswers: number) {
    const askedAt: number[] = [];
    const wire = new WireMarket();
    wire.set({ side: 'BUY', price: 5_200, size: 1_000_000 });
    const rest = {
      books: async () => {
        askedAt.push(clock.monotonic());
        if (askedAt.length <= absentAnswers) return [];
        return mapClobFrame(wire.snapshot(clock.now()), clock.now()) as BookSnapshotEvent[];
      },
    };
    const { clock, recorder, line } = watch({ markets: [MARKET], rest });
    return { clock, recorder, line, askedAt };
  }

  it('is asked about again after each silence of 8 s, without a gap', async () => {
    const { clock, recorder, line, askedAt } = withoutBook(Number.POSITIVE_INFINITY);
    await clock.advance(100_000);
    expect(askedAt.slice(0, 4)).toEqual([8_000, 16_000, 24_000, 32_000]);
    expect(askedAt).toHaveLength(12);
    expect(line.resubscribed).toEqual([]);
    expect(recorder.gaps.of(MARKET.marketId)).toBeNull();
  });

  it('has a gap once the venue answers another book', async () => {
    const { clock, recorder, askedAt } = withoutBook(1);
    await clock.advance(16_900);
    expect(askedAt).toEqual([8_000, 16_000]);
    expect(recorder.gaps.of(MARKET.marketId)).toBeNull();
    await clock.advance(200);
    expect(recorder.gaps.of(MARKET.marketId)).toMatchObject({ startTimeMs: MARKET.startTimeMs });
  });

  it('is settled when the answer comes after the end of its window', async () => {
    const { clock, recorder, askedAt } = withoutBook(Number.POSITIVE_INFINITY);
    const settledAt = MARKET.endTimeMs - MARKET.startTimeMs + 500;
    await clock.advance(settledAt - 1_000);
    const before = askedAt.length;
    await clock.advance(60_000);
    expect(askedAt.slice(before)).toEqual([settledAt]);
    expect(recorder.gaps.of(MARKET.marketId)).toBeNull();
  });
});

describe('a window that ends while its market is silent', () => {
  const ending = { ...MARKET, endTimeMs: MARKET.startTimeMs + 5_000 };

  /** @param size What the venue's book has at the only level; ours has 1. */
  function endedWith(size: number) {
    const wire = new WireMarket(ending);
    wire.set({ side: 'BUY', price: 4_900, size: size * 1_000_000 });
    const askedAt: number[] = [];
    const rest = {
      books: async () => {
        askedAt.push(clock.monotonic());
        return mapClobFrame(wire.snapshot(clock.now()), clock.now()) as BookSnapshotEvent[];
      },
    };
    const { clock, recorder } = watch({ markets: [ending], rest });
    return { clock, recorder, askedAt };
  }

  it('has a gap from its last row on when the venue’s book is another one', async () => {
    const { clock, recorder } = endedWith(2);
    await clock.advance(6_400);
    expect(recorder.gaps.of(ending.marketId)).toBeNull();
    await clock.advance(200);
    expect(recorder.gaps.of(ending.marketId)).toMatchObject({
      ...{ cause: 'silent_feed', startTimeMs: MARKET.startTimeMs, knownTimeMs: ending.endTimeMs + 1_500 },
    });
  });

  it('has none when the venue’s book is the same, and is asked about once', async () => {
    const { clock, recorder, askedAt } = endedWith(1);
    await clock.advance(60_000);
    expect(recorder.gaps.of(ending.marketId)).toBeNull();
    expect(askedAt).toEqual([5_500]);
  });

  it('has a gap when neither an answer nor a book on the connection follows', async () => {
    const { clock, recorder, line } = watch({ markets: [ending], rest: null });
    await clock.advance(14_900);
    expect(recorder.gaps.of(ending.marketId)).toBeNull();
    expect(line.resubscribed).toEqual([MARKET.yesTokenId]);
    await clock.advance(200);
    expect(recorder.gaps.of(ending.marketId)).toMatchObject({ startTimeMs: MARKET.startTimeMs });
  });

  it('has none when a frame follows its end', async () => {
    const { clock, recorder } = watch({ markets: [ending], rest: null });
    await clock.advance(7_000);
    const wire = new WireMarket(ending);
    wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
    recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
    await clock.advance(60_000);
    expect(recorder.gaps.of(ending.marketId)).toBeNull();
  });
});

test.each([
  [
    'of the whole feed is a gap of every open market of its group',
    false,
    ['silent_feed', 'silent_feed', null],
  ],
  ['of one market while its group delivers is its own gap', true, ['silent_market', null, null]],
])('silence %s', async (_, othersSpeak, causes) => {
  const other = (name: string) => ({
    ...{ ...MARKET, marketId: `0x${name}`, yesTokenId: `${name} yes`, noTokenId: `${name} no` },
  });
  const [busy, over] = [other('busy'), { ...other('over'), endTimeMs: MARKET.startTimeMs + 5_000 }];
  const { clock, recorder, line } = watch({ markets: [MARKET, busy, over], rest: null });
  const wires = new Map([MARKET, busy, over].map((market) => [market, new WireMarket(market)]));
  const speak = (...markets: Market[]) => {
    for (const market of markets)
      recorder.clobFrame(String(wires.get(market)?.snapshot(clock.now())), clock.now());
    line.spokeAt = clock.monotonic();
  };
  await clock.advance(6_000);
  speak(MARKET, busy, over);
  for (let second = 0; second < 11; second++) {
    await clock.advance(1_000);
    if (othersSpeak) speak(busy);
  }
  const causeOf = ({ marketId }: Market) => recorder.gaps.of(marketId)?.cause ?? null;
  expect([MARKET, busy, over].map(causeOf)).toEqual(causes);
});

test('silence means nothing while received frames wait, but a clock step is noticed', async () => {
  const { clock, recorder, line } = watch({ markets: [MARKET], rest: null });
  line.isCurrent = false;
  await clock.advance(60_000);
  expect([recorder.gaps.of(MARKET.marketId), line.resubscribed]).toEqual([null, []]);
  line.isCurrent = true;
  await clock.advance(100);
  expect(line.resubscribed).toEqual([MARKET.yesTokenId]);
  line.isCurrent = false;
  clock.stepWall(1_000);
  await clock.advance(200);
  expect(recorder.gaps.of(MARKET.marketId)?.cause).toBe('clock_step');
});

const CAUSES: readonly GapCause[] = ['book_mismatch', 'crossed_book', 'frame_rejected', 'clock_step'];

test.each(CAUSES)('keeps a gap by %s open until a feed lost in the meantime is back', async (cause) => {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
  let asked = 0;
  const rest = {
    books: async () => {
      asked++;
      const nowMs = clock.now();
      return mapClobFrame(wire.snapshot(nowMs), nowMs) as BookSnapshotEvent[];
    },
  };
  const { clock, recorder, tokens } = watch({ markets: [MARKET], rest });
  const recorded = recorder.recorded(MARKET.marketId) as RecordedMarket;
  await clock.advance(1_000);
  recorder.distrust(recorded, { cause, knownTimeMs: clock.now() });
  recorder.disconnect(tokens, clock.now());
  await clock.advance(5_000);
  // A requested book proves nothing about later changes until frames arrive again.
  expect(recorder.gaps.of(MARKET.marketId)).toMatchObject({ cause, endTimeMs: null });
  const askedBefore = asked;
  recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
  await clock.advance(1_000);
  expect(recorder.gaps.of(MARKET.marketId)).toBeNull();
  expect(askedBefore).toBe(0);
});

test('reports no step for a wall clock that drifts by 100 ms per check for a minute', async () => {
  for (const drift of [100, -100, 499]) {
    const clock = new FakeClock();
    const watch = new ClockStepDetector(clock);
    for (let look = 0; look < 600; look++) {
      await clock.advance(100);
      clock.stepWall(drift);
      expect(watch.measureStep()).toBe(0);
    }
  }
});

test('reports half a second at once as one step, in either direction', () => {
  const clock = new FakeClock();
  const watch = new ClockStepDetector(clock);
  for (const step of [500, -500, 86_400_000]) {
    clock.stepWall(step);
    expect([watch.measureStep(), watch.measureStep()]).toEqual([step, 0]);
  }
});
