import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { Metrics } from '../../runtime/metrics.ts';

import { VenueFeedRegistry } from '../../runtime/venueFeedRegistry.ts';
import { FeedLagMonitor } from './feedLagMonitor.ts';

import { silentFeeds } from './silentFeeds.ts';

const BTC_5M = { ticker: 'BTC', eventType: '5m' } as const;
const BTC_1H = { ticker: 'BTC', eventType: '1h' } as const;
const ETH_5M = { ticker: 'ETH', eventType: '5m' } as const;
const CHAINLINK_BTC = { source: 'chainlink', ticker: 'BTC' } as const;

function setUp() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const lags = new FeedLagMonitor({ clock, metrics });
  const lateFeed = (market: typeof BTC_5M | typeof BTC_1H | typeof ETH_5M) =>
    lags.lateFor(market)?.feed ?? null;
  return { clock, metrics, lags, lateFeed };
}

describe('a late feed', () => {
  it('begins above five seconds, and affects one series when its connection is late', () => {
    const { lags, lateFeed } = setUp();
    lags.book(BTC_5M, 5_000);
    lags.book(BTC_1H, 20);
    expect(lateFeed(BTC_5M)).toBeNull();
    lags.book(BTC_5M, 5_001);
    expect([BTC_5M, BTC_1H, ETH_5M].map(lateFeed)).toEqual(['polymarket.clob', null, null]);
  });

  it('affects every series of a ticker with a late price', () => {
    const { lags, lateFeed } = setUp();
    lags.price(CHAINLINK_BTC, 9_000);
    lags.price({ source: 'binance_spot', ticker: 'BTC' }, 30);
    expect([BTC_5M, BTC_1H, ETH_5M].map(lateFeed)).toEqual(['polymarket.rtds', 'polymarket.rtds', null]);
  });

  it('ends two seconds after the last late message if a later one was on time', async () => {
    const { clock, lags, lateFeed } = setUp();
    lags.book(BTC_5M, 7_000);
    await clock.advance(1_000);
    lags.book(BTC_5M, 100);
    await clock.advance(999);
    expect(lateFeed(BTC_5M)).toBe('polymarket.clob');
    await clock.advance(1);
    expect(lateFeed(BTC_5M)).toBeNull();
  });

  it('counts as silent instead of late after ten seconds without a message', async () => {
    const { clock, lags, lateFeed } = setUp();
    lags.book(BTC_5M, 7_000);
    await clock.advance(9_999);
    expect(lateFeed(BTC_5M)).toBe('polymarket.clob');
    await clock.advance(1);
    expect(lateFeed(BTC_5M)).toBeNull();
  });

  it.each([
    ['late_feed', 'only this feed is late', [7_000, 40]],
    ['late_feed', 'the other has a different lag', [7_000, 8_001]],
    ['clock_step', 'the other has the same lag', [7_000, 8_000]],
    ['late_feed', 'no other feed is active', [7_000, null]],
  ] as const)('is a %s when %s', async (cause, _, [bookMs, priceMs]) => {
    const { clock, lags } = setUp();
    lags.book(BTC_5M, bookMs);
    const late = lags.lateFor(BTC_5M)!;
    await clock.advance(999);
    if (priceMs !== null) lags.price(CHAINLINK_BTC, priceMs);
    expect(lags.causeOf(late)).toBeNull();
    await clock.advance(1);
    expect(lags.causeOf(late)).toBe(cause);
    const other =
      priceMs !== null && priceMs > 5_000 ? [`late_feed polymarket.rtds ${priceMs / 1000} s`] : [];
    expect(lags.degraded()).toEqual(
      cause === 'clock_step'
        ? ['clock_step underround 8.0 s']
        : ['late_feed polymarket.clob 7.0 s', ...other.map((line) => line.replace('8.001', '8.0'))],
    );
  });

  it('is a clock_step although a quiet feed was last on time just before the step', async () => {
    const { clock, lags } = setUp();
    lags.book(BTC_5M, 40);
    await clock.advance(1);
    lags.price(CHAINLINK_BTC, 8_000);
    lags.other('bybit.rest', 8_000);
    const late = lags.lateFor(BTC_5M)!;
    await clock.advance(1_000);
    expect(lags.causeOf(late)).toBe('clock_step');
  });

  it('has the lag of its newest message', async () => {
    const { metrics, lags } = setUp();
    lags.book(BTC_5M, 7_000);
    lags.book(BTC_1H, 250);
    lags.other('bybit.rest', 30);
    lags.other('hyperliquid.perp', 700);
    lags.measure();
    const text = await metrics.registry.metrics();
    expect(text).toContain('underround_feed_lag_seconds{feed="polymarket.clob"} 0.25');
    expect(text).toContain('underround_feed_lag_seconds{feed="bybit.rest"} 0.03');
    expect(text).toContain('underround_feed_lag_seconds{feed="hyperliquid.perp"} 0.7');
  });

  it('has no lag while it is silent for a minute', async () => {
    const { clock, metrics, lags } = setUp();
    const shown = async () => {
      lags.measure();
      return (await metrics.registry.metrics()).match(/^underround_feed_lag_seconds.*$/gm) ?? [];
    };
    lags.book(BTC_5M, 20);
    await clock.advance(60_000);
    expect(await shown()).toEqual(['underround_feed_lag_seconds{feed="polymarket.clob"} 0.02']);
    await clock.advance(1);
    expect(await shown()).toEqual([]);
    lags.book(BTC_5M, 40);
    expect(await shown()).toEqual(['underround_feed_lag_seconds{feed="polymarket.clob"} 0.04']);
  });
});

it('a feed is silent when none of its connections has brought anything for ten seconds', () => {
  const feeds = new VenueFeedRegistry();
  const [one, other] = ['BTC-5m', 'BTC-1h'].map((group) =>
    feeds.join({ feed: 'polymarket.clob', group, kind: 'socket', sinceMs: 0 }),
  );
  feeds.join({ feed: 'polymarket.rtds', kind: 'socket', sinceMs: 1_000 });
  Object.assign(feeds.join({ feed: 'polymarket.gamma', kind: 'requests', sinceMs: 0 }), { lastMessageMs: 5 });
  Object.assign(feeds.join({ feed: 'bybit.rest', kind: 'requests', sinceMs: 0 }), { lastMessageMs: 4_000 });
  Object.assign(feeds.join({ feed: 'okx.perp', kind: 'requests', sinceMs: 0 }), { lastMessageMs: 5_000 });
  Object.assign(one!, { lastMessageMs: 100 });
  Object.assign(other!, { lastMessageMs: 3_000 });
  expect(silentFeeds(feeds, 10_999)).toEqual([]);
  expect(silentFeeds(feeds, 13_500)).toEqual([
    'silent_feed polymarket.clob 10.5 s',
    'silent_feed polymarket.rtds 12.5 s',
  ]);
  expect(silentFeeds(feeds, 14_000)).toContain('silent_feed bybit.rest 10.0 s');
  expect(silentFeeds(feeds, 15_000)).toContain('silent_feed okx.perp 10.0 s');
});
