import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { START, setUpLifecycle } from '../../test/support/lifecycle.ts';
import { MARKET } from '../../test/support/wire.ts';
import { settlementOfMarket } from '../core/venueRules.ts';
import { TransportError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { Market } from '../schema/market.ts';
import { nextWindow, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { CandleCache } from './candleCache.ts';
import { OpenPrices } from './openPrices.ts';
import { PayoutReader } from './payoutReader.ts';
import { PriceSources } from './priceSources.ts';
import { ResolutionPollSchedule } from './resolutionPollSchedule.ts';

const HOUR_MS = 3_600_000;
const random = () => 0;
const log = silentLogger;
const WINDOW: Market = { ...MARKET, startTimeMs: START, endTimeMs: START + 300_000 };

/** The same window an hour later, which a clock that is an hour ahead takes for the present one. */
const LATER_WINDOW: Market = {
  ...WINDOW,
  ...{ slug: 'later', startTimeMs: START + HOUR_MS, endTimeMs: START + HOUR_MS + 300_000 },
};

function counting(answer: () => unknown) {
  const requests = { count: 0, isFailing: true };
  const request = async () => {
    requests.count++;
    if (requests.isFailing) throw new TransportError('away');
    return answer() as never;
  };
  return { requests, request };
}

describe('the wall clock is set back by an hour', () => {
  it('a failed listing is requested again within seconds', async () => {
    const { clock, listings, lifecycle } = setUpLifecycle({ startMs: START + HOUR_MS });
    listings.fail = () => new TransportError('away');
    lifecycle.start([]);
    await clock.advance(200);
    listings.fail = null;
    clock.stepWall(-HOUR_MS);
    const count = listings.asked.length;
    await clock.advance(10_000);
    lifecycle.stop();
    expect(listings.asked.length).toBeGreaterThan(count);
  });

  it('a window that was unknown is requested again, and the series are listed on', async () => {
    const next = nextWindow('5m', nextWindow('5m', windowAt('5m', START)));
    const slug = slugOf('BTC', '5m', next);
    const { clock, listings, lifecycle } = setUpLifecycle({ startMs: next.startTimeMs });
    listings.hidden.add(slug);
    lifecycle.start([]);
    await clock.advance(10_000);
    clock.stepWall(-300_000);
    const [before, listed] = [listings.asked.length, listings.seriesAsked.length];
    await clock.advance(120_000);
    lifecycle.stop();
    expect(listings.asked.slice(before).flat()).toContain(slug);
    expect(listings.seriesAsked.length).toBeGreaterThan(listed + 10);
  });

  it('an open price is requested again after its pause', async () => {
    const clock = new FakeClock(START + HOUR_MS + 4_000);
    const { requests, request } = counting(() => 97_000);
    const prices = new OpenPrices({ source: { openPrice: request }, clock, random, log });
    const review = async (market: Market, seconds: number) => {
      let price: number | null = null;
      for (let second = 0; second < seconds; second++) {
        await clock.advance(1_000);
        price = prices.openPrice(market, settlementOfMarket(market)!, clock.now());
      }
      return price;
    };
    await review(LATER_WINDOW, 3);
    expect(requests.count).toBe(1);
    requests.isFailing = false;
    clock.stepWall(-HOUR_MS);
    expect(await review(WINDOW, 60)).toBe(97_000);
  });

  it('a candle is requested again after its back-off', async () => {
    const clock = new FakeClock(START + HOUR_MS);
    const { requests, request } = counting(() => ({ open: 97_000, close: 97_000, closed: true }));
    const cache = new CandleCache({ candles: { candle: request }, clock, random, log });
    const wanted = { exchange: 'spot', ticker: 'BTC', interval: '1m', startTimeMs: START - 60_000 } as const;
    const price = () => cache.finalPrice({ ...wanted, price: 'open' }, clock.now());
    price();
    await clock.advance(0);
    requests.isFailing = false;
    clock.stepWall(-HOUR_MS);
    await clock.advance(3_000);
    price();
    await clock.advance(0);
    expect([requests.count, price()]).toEqual([2, 97_000]);
  });

  it('a payout is requested again after its back-off', async () => {
    const clock = new FakeClock(START);
    const { requests, request } = counting(() => ({ final: [], unusable: [] }));
    const parts = { payouts: { resolutions: request }, clock, random, log, metrics: new Metrics() };
    const reader = new PayoutReader({ ...parts, onPayout: () => {} });
    reader.add(WINDOW, 0);
    reader.tick();
    await clock.advance(0);
    clock.stepWall(-HOUR_MS);
    await clock.advance(3_000);
    reader.tick();
    expect(requests.count).toBe(2);
  });

  it('a stream that delivers nothing is silent', async () => {
    const clock = new FakeClock(START);
    const openPrices = { answeredMs: null, isFailing: false };
    const parts = {
      polybolt: () => 'subscribed' as const,
      lacksCredentials: false,
      hasRtds: true,
      openPrices,
    };
    const sources = new PriceSources(clock, parts);
    const times = { eventTimeMs: START - 1_000, receivedTimeMs: START };
    const average: UnderlyingEvent = {
      ...{ kind: 'underlying', ticker: 'BTC', source: 'twap60', price: 1 },
      ...times,
    };
    sources.price(average, 'polymarket.polybolt');
    clock.stepWall(-HOUR_MS);
    await clock.advance(10_000);
    expect(sources.status()[0]).toMatchObject({ source: 'polybolt', state: 'silent', lastMs: START });
  });

  it('the polls for an outcome go on, and those for a strike begin with the window', () => {
    const schedule = new ResolutionPollSchedule({ log, metrics: new Metrics() });
    schedule.add(WINDOW);
    const end = WINDOW.endTimeMs;
    expect(schedule.due(end + HOUR_MS)).toEqual([WINDOW.slug]);
    const polledMs = Array.from({ length: 60 }, (_, second) => second * 1_000).filter(
      (sinceEndMs) => schedule.due(end + sinceEndMs).length > 0,
    );
    expect(polledMs).toEqual([15_000, 30_000, 45_000]);
    schedule.add(LATER_WINDOW);
    const { slug, startTimeMs } = LATER_WINDOW;
    const isDue = (nowMs: number) => schedule.due(nowMs).includes(slug);
    expect([startTimeMs + 130_000, startTimeMs - HOUR_MS, startTimeMs + 5_000].map(isDue)).toEqual([
      ...[true, false, true],
    ]);
  });
});
