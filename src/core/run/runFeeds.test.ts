import { describe, expect, it } from 'vitest';
import { RunFeeds } from './runFeeds.ts';

const T0 = Date.UTC(2026, 10, 20, 12);

/** A price of an asset's feed, received some time after the venue's own time. */
const priceOf = (price: number, eventTimeMs: number, delayMs = 0, source = 'chainlink' as const) =>
  ({
    kind: 'underlying',
    ticker: 'BTC',
    source,
    price,
    eventTimeMs,
    receivedTimeMs: eventTimeMs + delayMs,
  }) as const;

describe('the feeds of a run', () => {
  it('keep the newest price of each source, and none that came late', () => {
    const feeds = new RunFeeds({ usesModel: false });
    expect(feeds.price('BTC', 'chainlink')).toBeNull();
    feeds.onPrice(priceOf(97_000, T0, 20));
    feeds.onPrice(priceOf(99_000, T0 + 1_000, 60_000));
    feeds.onPrice({ ...priceOf(98_000, T0), source: 'binance_spot' });
    const newest = { price: 97_000, eventTimeMs: T0, receivedMs: T0 + 20 };
    expect(feeds.price('BTC', 'chainlink')).toEqual(newest);
    expect(feeds.price('BTC', 'binance_spot')?.price).toBe(98_000);
    expect(feeds.price('ETH', 'chainlink')).toBeNull();
  });

  it('average prices by the time of the venue, for all markets of a feed', () => {
    const feeds = new RunFeeds({ usesModel: true });
    for (let second = 1; second <= 60; second++)
      feeds.onPrice(priceOf(second <= 30 ? 100 : 200, T0 + second * 1_000, 3_000));
    const state = feeds.underlying('BTC', 'chainlink');
    expect(feeds.underlying('BTC', 'chainlink')).toBe(state);
    expect(state.mean({ fromMs: T0, toMs: T0 + 60_000 })).toBe(150);
    expect(state.priceAt(T0 + 63_000)).toBe(200);
    expect(feeds.underlying('BTC', 'binance_spot')).not.toBe(state);
  });

  it('average late prices too, which are no current prices', () => {
    const feeds = new RunFeeds({ usesModel: true });
    feeds.onPrice(priceOf(100, T0 + 1_000, 6_000));
    const state = feeds.underlying('BTC', 'chainlink');
    expect(state.mean({ fromMs: T0, toMs: T0 + 1_000 })).toBe(100);
    expect(state.priceAt(T0 + 7_000)).toBeNaN();
  });

  it('keep the newest book of each perpetual venue, in numbers', () => {
    const feeds = new RunFeeds({ usesModel: false });
    const depth = { kind: 'perp_depth', ticker: 'BTC', venue: 'bybit', receivedTimeMs: T0, eventTimeMs: T0 };
    const levels = (bid: string, ask: string) => ({ bids: [[bid, '2']], asks: [[ask, '3.5']] });
    feeds.onDepth({ ...depth, ...levels('1', '2') } as never);
    feeds.onDepth({ ...depth, ...levels('97000.1', '97000.2') } as never);
    feeds.onDepth({ ...depth, ...levels('5', '6'), venue: 'okx' } as never);
    expect(feeds.depth('BTC', 'bybit')).toEqual({
      bids: [{ price: 97_000.1, size: 2 }],
      asks: [{ price: 97_000.2, size: 3.5 }],
    });
    feeds.onDepth({ ...depth, ...levels('7', '8'), ticker: 'ETH' } as never);
    expect(feeds.depth('ETH', 'bybit')?.bids[0]?.price).toBe(7);
    expect(feeds.depth('BTC', 'bybit')?.bids[0]?.price).toBe(97_000.1);
    expect(feeds.depth('BTC', 'okx')?.bids[0]?.price).toBe(5);
    expect([feeds.depth('BTC', 'binance'), feeds.depth('ETH', 'okx')]).toEqual([null, null]);
  });
});
