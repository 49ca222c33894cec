import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setUpLifecycle } from '../../test/support/lifecycle.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { resumeRecording } from '../recorder/resume.ts';
import { silentLogger } from '../runtime/log.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import { nextWindow, slugOf, type Window, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

const DAY = Date.UTC(2026, 10, 20);
/** The delay of the relay, and the number of seconds that it repeats after a subscription. */
const LATE_MS = 1500;
const REPEATED_SECONDS = 11;

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

type Run = ReturnType<typeof setUpLifecycle>;

/** The price of a second. Prices differ by second, so that an average shows which seconds it contains. */
const priceOf = (timeMs: number) => 97_000 + ((timeMs / 1000) % 7);
const meanUntil = (endMs: number) =>
  Array.from({ length: 60 }, (_, back) => priceOf(endMs - back * 1000)).reduce((sum, one) => sum + one) / 60;

function tell(run: Run, source: UnderlyingEvent['source'], eventTimeMs: number): void {
  const receivedTimeMs = run.clock.now();
  const price = priceOf(eventTimeMs);
  const point = { kind: 'underlying', ticker: 'BTC', source, price, eventTimeMs, receivedTimeMs } as const;
  // The relay repeats the seconds that the process missed, after the new subscription.
  run.recorder.underlying({ ...point, isHistory: true });
}

interface Story {
  readonly killedMs: number;
  readonly backMs: number;
  readonly lost?: (secondMs: number) => boolean;
  readonly trades?: boolean;
}

/** One hour of the day per test, so that the tests share only a store. */
let hour = 0;

/** Follows a ticker over a kill and a restart until some seconds after a window opens. Times are relative to that opening. */
async function restarted({ killedMs, backMs, lost = () => false, trades = false }: Story) {
  const startMs = DAY + ++hour * 3_600_000 + 60_000;
  const window: Window = nextWindow('5m', windowAt('5m', startMs));
  const openMs = window.startTimeMs;
  const slug = slugOf('BTC', '5m', window);
  const first = setUpLifecycle({ startMs });
  first.lifecycle.start([]);
  await play(first, openMs + killedMs);
  for (const record of first.sink.markets) opened.store.writer.market(record);
  for (const record of first.sink.underlyings) opened.store.writer.underlying(record);
  await opened.store.writer.flush();

  const second = setUpLifecycle({ startMs: openMs + backMs });
  const { store } = opened;
  const previousRun = { clean: false, lastAliveTimeMs: openMs + killedMs };
  const reader = { rows: store.rows, stream: store.stream, writer: { previousRun } };
  second.lifecycle.start(await resumeRecording({ ...second, store: reader, log: silentLogger }));
  const newestMs = Math.floor((second.clock.now() - LATE_MS) / 1000) * 1000;
  for (let back = REPEATED_SECONDS; back >= 0; back--) relay(second, newestMs - back * 1000);
  await play(second, openMs + 6_000);
  return { first, second, openMs, market: second.recorder.market(first.latest(slug)!.marketId)! };

  /** Plays each second of the relay with its delay, and two trades a second. */
  async function play(run: Run, untilMs: number): Promise<void> {
    for (;;) {
      const next = (Math.floor((run.clock.now() - LATE_MS) / 1000) + 1) * 1000;
      if (next + LATE_MS > untilMs) break;
      await run.clock.advance(next + LATE_MS - run.clock.now());
      relay(run, next);
      if (trades) for (const early of [1400, 900]) tell(run, 'binance_spot', next + LATE_MS - early);
    }
    await run.clock.advance(untilMs - run.clock.now());
  }

  function relay(run: Run, secondMs: number): void {
    if (!lost(secondMs - openMs)) tell(run, 'chainlink', secondMs);
  }
}

describe('a restart within the minute whose mean is the strike', () => {
  it('loses nothing when the relay repeats the missed seconds', async () => {
    const { market, openMs } = await restarted({ killedMs: -30_300, backMs: -27_100 });
    expect(market).toMatchObject({ strikePrice: meanUntil(openMs), strikeBasis: 'chainlink_ticks' });
    // As late as without a restart: at the first review at which the relayed average could have arrived.
    expect(market.strikeKnownTimeMs).toBe(openMs + 3_900);
  });

  it('loses nothing when it includes the opening itself', async () => {
    const { market, openMs } = await restarted({ killedMs: -1_000, backMs: 4_200 });
    expect(market).toMatchObject({ strikePrice: meanUntil(openMs), strikeBasis: 'chainlink_ticks' });
    expect(market.strikeKnownTimeMs).toBeGreaterThanOrEqual(openMs + 4_200);
  });

  it('stores a second repeated by the relay only once', async () => {
    const { first, second, openMs } = await restarted({ killedMs: -20_000, backMs: -16_000 });
    const seconds = [...first.sink.underlyings, ...second.sink.underlyings].map((one) => one.eventTimeMs);
    expect(seconds).toEqual([...new Set(seconds)].sort((a, b) => a - b));
    expect(seconds).toContain(openMs - 19_000);
  });

  it.each([
    ['during the downtime', -26_000],
    ['before the process died', -50_000],
    ['at the opening', 0],
  ])('leaves the strike unknown when a second was lost: %s', async (_where, lostMs) => {
    const { market } = await restarted({
      killedMs: -30_300,
      backMs: -22_100,
      lost: (secondMs) => secondMs === lostMs,
    });
    expect(market).toMatchObject({ strikePrice: null, strikeBasis: null });
  });

  it('leaves the strike unknown when more seconds were missed than the relay repeats', async () => {
    const { market } = await restarted({ killedMs: -40_000, backMs: -20_000 });
    expect(market.strikePrice).toBeNull();
  });

  it('estimates the strike from the trades when a second was lost', async () => {
    const lost = (secondMs: number) => secondMs === -50_000;
    const { market, openMs } = await restarted({ killedMs: -30_300, backMs: -29_900, lost, trades: true });
    expect(market.strikeBasis).toBe('binance_trades');
    expect(Math.abs(market.strikePrice! - meanUntil(openMs))).toBeLessThan(7);
  });
});

it('uses no price of another ticker, and none from before the tapes', async () => {
  const { second, openMs } = await restarted({ killedMs: -30_300, backMs: -29_000 });
  const others = [...second.recorder.markets()].filter(({ ticker }) => ticker !== ('BTC' satisfies Ticker));
  expect(others.length).toBeGreaterThan(0);
  for (const { strikePrice } of others) expect(strikePrice).toBeNull();
  // Windows that opened before the tapes begin had no strike, and have none now.
  for (const { startTimeMs, strikePrice } of second.recorder.markets())
    if (startTimeMs < openMs) expect(strikePrice).toBeNull();
});
