import { describe, expect, it } from 'vitest';
import { START, setUpLifecycle as setUp } from '../../test/support/lifecycle.ts';
import { TransportError, VenueRefusedError } from '../runtime/errors.ts';
import { DEFAULT_TICKERS, EVENT_TYPES, type EventType, type Ticker } from '../schema/market.ts';
import { nextWindow, slugOf, type Window, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

function slugsToKnow(nowMs: number): string[] {
  return EVENT_TYPES.flatMap((eventType) => {
    const current = windowAt(eventType, nowMs);
    return [current, nextWindow(eventType, current)].flatMap((window) =>
      DEFAULT_TICKERS.map((ticker) => slugOf(ticker, eventType, window)),
    );
  });
}

const slug5m = (window: Window, ticker: Ticker = 'BTC', eventType: EventType = '5m') =>
  slugOf(ticker, eventType, window);

describe('Lifecycle', () => {
  it('is subscribed to the current and the next window of every series at all times', async () => {
    const { clock, lifecycle, isSubscribed } = setUp();
    lifecycle.start([]);
    await clock.advance(100);
    for (let second = 0; second < 40 * 60; second += 7) {
      const missing = slugsToKnow(clock.now()).filter((slug) => !isSubscribed(slug));
      expect(missing, new Date(clock.now()).toISOString()).toEqual([]);
      await clock.advance(7000);
    }
  });

  it('unsubscribes from an ended market after five minutes', async () => {
    const { clock, lifecycle, isSubscribed, latest } = setUp();
    lifecycle.start([]);
    const window = windowAt('5m', START);
    await clock.advance(window.endTimeMs - START + 2000);
    expect(latest(slug5m(window))).toMatchObject({ status: 'closed', outcome: null });
    await clock.advance(296_000);
    expect(isSubscribed(slug5m(window))).toBe(true);
    await clock.advance(4000);
    expect(isSubscribed(slug5m(window))).toBe(false);
  });

  it('uses the outcome of the first source and confirms it by the listing', async () => {
    const { clock, lifecycle, recorder, listings, isSubscribed, latest } = setUp();
    lifecycle.start([]);
    const window = windowAt('5m', START);
    const [streamed, listed] = [slug5m(window, 'BTC'), slug5m(window, 'ETH')];
    await clock.advance(window.endTimeMs - START + 10_000);
    const market = latest(streamed)!;
    const event = { kind: 'market_resolved', marketId: market.marketId, winningOutcome: 'Down' } as const;
    const times = { eventTimeMs: clock.now(), receivedTimeMs: clock.now() };
    recorder.clobEvent({ ...event, ...times, winningTokenId: market.noTokenId });
    expect(latest(streamed)).toMatchObject({ status: 'resolved', outcome: 'Down', payoutYes: 0 });
    listings.winners.set(listed, 'Up');
    await clock.advance(6000);
    expect(latest(listed)).toMatchObject({ status: 'resolved', outcome: 'Up', payoutYes: 1 });
    // The other market's lagging listing does not undo the outcome from the stream.
    expect(latest(streamed)).toMatchObject({ status: 'resolved', outcome: 'Down' });
    expect([isSubscribed(streamed), isSubscribed(listed)]).toEqual([false, false]);
    const polls = () => listings.asked.filter((slugs) => slugs.includes(streamed)).length;
    const before = polls();
    await clock.advance(30_000);
    expect(polls()).toBeGreaterThan(before);
    listings.winners.set(streamed, 'Down');
    listings.metadata.set(streamed, { finalPrice: 97_001.5 });
    await clock.advance(60_000);
    const confirmed = polls();
    await clock.advance(600_000);
    expect(polls()).toBe(confirmed);
  });

  it('counts winners that disagree', async () => {
    const { clock, lifecycle, recorder, listings, latest, metrics } = setUp();
    lifecycle.start([]);
    const window = windowAt('5m', START);
    await clock.advance(window.endTimeMs - START + 1000);
    const market = latest(slug5m(window))!;
    const times = { eventTimeMs: clock.now(), receivedTimeMs: clock.now() };
    const event = { kind: 'market_resolved', marketId: market.marketId, winningOutcome: 'Up' } as const;
    recorder.clobEvent({ ...event, ...times, winningTokenId: market.yesTokenId });
    listings.winners.set(market.slug, 'Down');
    await clock.advance(20_000);
    expect(await metrics.registry.metrics()).toContain('underround_resolution_disagreements_total 1');
  });

  it.each([
    ['a network failure', () => new TransportError('down'), 1000],
    ['a refusal with Retry-After', () => new VenueRefusedError('slow down', { retryAfterMs: 7000 }), 7000],
    ['a refusal without Retry-After', () => new VenueRefusedError('blocked'), 30_000],
  ])('waits and retries after %s', async (_, fail, waitMs) => {
    const { clock, lifecycle, listings, isSubscribed } = setUp();
    listings.fail = fail;
    lifecycle.start([]);
    await clock.advance(waitMs - 100);
    expect(listings.asked).toHaveLength(1);
    listings.fail = null;
    await clock.advance(2000);
    expect(isSubscribed(slug5m(windowAt('5m', START)))).toBe(true);
  });

  it('finds the windows within seconds of the listing’s return, however long it was down', async () => {
    const { clock, lifecycle, listings, isSubscribed } = setUp();
    listings.fail = () => new TransportError('down');
    lifecycle.start([]);
    await clock.advance(120_000);
    listings.fail = null;
    await clock.advance(6_000);
    expect(isSubscribed(slug5m(windowAt('5m', clock.now())))).toBe(true);
  });

  it.each<[string, (m: Record<string, unknown>) => Record<string, unknown>]>([
    [
      "last year's window",
      (m: Record<string, unknown>) => ({
        ...m,
        endDate: '2025-11-20T12:05:00Z',
        eventStartTime: '2025-11-20T12:00:00Z',
      }),
    ],
    ['times that disagree', (m: Record<string, unknown>) => ({ ...m, endDate: '2026-11-20T12:06:00Z' })],
    ['one token', (m: Record<string, unknown>) => ({ ...m, clobTokenIds: '["1"]' })],
    ['unknown outcomes', (m: Record<string, unknown>) => ({ ...m, outcomes: '["Yes", "No"]' })],
    ['no condition', (m: Record<string, unknown>) => ({ ...m, conditionId: undefined })],
  ])('stores nothing of a listing with %s', async (_, change) => {
    const { clock, sink, lifecycle, listings, subscribed } = setUp();
    listings.tamper = (event) => ({
      ...event,
      markets: (event.markets as Record<string, unknown>[]).map(change),
    });
    lifecycle.start([]);
    await clock.advance(5000);
    expect([sink.markets, [...subscribed]]).toEqual([[], []]);
  });

  it('sets a refused listing aside once, and no zombie', async () => {
    const { clock, lifecycle, listings, metrics } = setUp();
    listings.tamper = (event) => ({
      ...event,
      markets: (event.markets as Record<string, unknown>[]).map((m) => ({ ...m, question: 7 })),
    });
    lifecycle.start([]);
    await clock.advance(60_000);
    const frames = metrics.venueDrift.takeSetAside();
    expect(frames.length).toBeGreaterThan(0);
    expect(new Set(frames.map(({ feed, kind, reason }) => `${feed} ${kind} ${reason}`))).toEqual(
      new Set(['polymarket.gamma event shape_invalid']),
    );
    const slugs = frames.map(({ text }) => JSON.parse(text).slug);
    expect(new Set(slugs).size).toBe(slugs.length);
  });

  it('rejects a zombie market of the listing and logs it once', async () => {
    const { clock, sink, lifecycle, listings, metrics } = setUp();
    const zombie = slugOf('BTC', '5m', windowAt('5m', START - 200 * 86_400_000));
    listings.series = [zombie];
    lifecycle.start([]);
    await clock.advance(60_000);
    expect(sink.markets.filter(({ slug }) => slug === zombie)).toEqual([]);
    expect(metrics.venueDrift.takeSetAside()).toEqual([]);
    expect(await metrics.registry.metrics()).toMatch(
      /underround_listings_refused_total\{reason="zombie"\} \d/,
    );
  });

  it('follows a window listed under a slug other than the computed one', async () => {
    const { clock, lifecycle, listings, isSubscribed } = setUp();
    const computed = slugOf('BTC', '1h', windowAt('1h', START));
    const yearless = computed.replace('-2026', '');
    listings.hidden.add(computed);
    listings.series = [yearless];
    lifecycle.start([]);
    await clock.advance(5000);
    expect(isSubscribed(yearless)).toBe(true);
  });

  it('maps tokens by outcome, even when the listing reverses them', async () => {
    const { clock, lifecycle, listings, latest } = setUp();
    const slug = slug5m(windowAt('5m', START));
    listings.tamper = (event) => ({
      ...event,
      markets: (event.markets as Record<string, unknown>[]).map((m) => ({
        ...m,
        outcomes: '["Down", "Up"]',
      })),
    });
    lifecycle.start([]);
    await clock.advance(1000);
    expect(latest(slug)!.yesTokenId).toMatch(/2$/);
  });

  it('subscribes to the markets of an earlier run before the listing answers', () => {
    const first = setUp();
    const { sink } = first;
    first.lifecycle.start([]);
    return first.clock.advance(500).then(() => {
      const known = sink.markets.map(({ seq: _, ...market }) => market);
      const second = setUp();
      second.listings.fail = () => new TransportError('down');
      for (const market of known) second.recorder.resume(market);
      second.lifecycle.start(known);
      expect(second.subscribed.size).toBe(first.subscribed.size);
      expect(second.sink.markets).toEqual([]);
    });
  });

  it('ends the gap of a market that ended before this run could subscribe to it', async () => {
    const { clock, lifecycle, latest } = setUp();
    lifecycle.start([]);
    await clock.advance(500);
    const { seq: _, ...known } = latest(slug5m(windowAt('5m', START)))!;
    lifecycle.stop();
    const later = setUp();
    await later.clock.advance(known.endTimeMs - START + 3_600_000);
    later.listings.fail = () => new TransportError('down');
    later.recorder.resume(known);
    later.recorder.wasDown(START, later.clock.now());
    later.lifecycle.start([known]);
    expect(later.sink.gaps).toMatchObject([
      { marketId: known.marketId, cause: 'process_down', endTimeMs: null },
      { marketId: known.marketId, cause: 'process_down', endTimeMs: later.clock.now() },
    ]);
  });

  it('polls an ended market when the listing is back, even if polls failed during an outage', async () => {
    const { clock, lifecycle, listings, latest } = setUp();
    lifecycle.start([]);
    const window = windowAt('5m', START);
    await clock.advance(window.endTimeMs - START + 10_000);
    listings.fail = () => new TransportError('down');
    listings.winners.set(slug5m(window), 'Up');
    await clock.advance(450_000);
    expect(latest(slug5m(window))!.status).toBe('closed');
    listings.fail = null;
    await clock.advance(6_000);
    expect(latest(slug5m(window))).toMatchObject({ status: 'resolved', outcome: 'Up' });
  });

  it('retries a window that is not listed yet with growing delays', async () => {
    const { clock, lifecycle, listings, isSubscribed } = setUp();
    const slug = slug5m(nextWindow('5m', windowAt('5m', START)));
    listings.hidden.add(slug);
    lifecycle.start([]);
    await clock.advance(60_000);
    expect(listings.asked.filter((slugs) => slugs.includes(slug)).length).toBeLessThan(7);
    listings.hidden.delete(slug);
    await clock.advance(61_000);
    expect(isSubscribed(slug)).toBe(true);
  });
});
