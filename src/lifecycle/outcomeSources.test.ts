import { describe, expect, it } from 'vitest';
import { START, setUpLifecycle } from '../../test/support/lifecycle.ts';
import { TransportError } from '../runtime/errors.ts';
import { nextWindow, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

const WINDOW = nextWindow('5m', windowAt('5m', START));
const SLUG = slugOf('BTC', '5m', WINDOW);

type SetUp = ReturnType<typeof setUpLifecycle>;

/** Advances the clock to a time. */
const until = (at: SetUp, timeMs: number) => at.clock.advance(timeMs - at.clock.now());
const metric = async (at: SetUp, name: string) =>
  (await at.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name));

describe('a payout from the Data API', () => {
  const RESOLVED_MS = WINDOW.endTimeMs + 55_000;
  const withPayouts = () => {
    const state = { firstPayout: null as number | null, asked: 0, fails: false };
    const payouts = {
      resolutions: async (ids: readonly string[]) => {
        state.asked++;
        if (state.fails) throw new TransportError('down');
        const { firstPayout } = state;
        const reported = { firstPayout: firstPayout ?? 0, resolvedTimeMs: RESOLVED_MS };
        return {
          final: firstPayout === null ? [] : ids.map((marketId) => ({ marketId, ...reported })),
          unusable: [],
        };
      },
    };
    const at = setUpLifecycle({ payouts });
    at.lifecycle.start([]);
    return { at, state };
  };

  it.each([
    ['["Up", "Down"]', 1, { outcome: 'Up', payoutYes: 1 }],
    ['["Up", "Down"]', 0, { outcome: 'Down', payoutYes: 0 }],
    ['["Down", "Up"]', 1, { outcome: 'Down', payoutYes: 0 }],
    ['["Up", "Down"]', 0.5, { outcome: null, payoutYes: 0.5 }],
  ])('resolves a market listed as %s that pays %d first', async (outcomes, firstPayout, resolved) => {
    const { at, state } = withPayouts();
    at.listings.tamper = (event) => {
      const [market] = event.markets as Record<string, unknown>[];
      return { ...event, markets: [{ ...market, outcomes }] };
    };
    await until(at, WINDOW.endTimeMs + 56_000);
    expect(at.latest(SLUG)).toMatchObject({ status: 'closed', outcome: null });
    state.firstPayout = firstPayout;
    await until(at, WINDOW.endTimeMs + 60_000);
    expect(at.latest(SLUG)).toMatchObject({
      ...{ ...resolved, status: 'resolved', resolvedBy: 'exchange', resolvedTimeSource: 'exchange' },
      ...{ resolvedTimeMs: RESOLVED_MS, confirmedTimeMs: null },
    });
    at.listings.tamper = (event) => event;
    at.listings.winners.set(SLUG, resolved.outcome === null ? 'tie' : (resolved.outcome as 'Up' | 'Down'));
    await until(at, WINDOW.endTimeMs + 100_000);
    expect(at.latest(SLUG)).toMatchObject({ ...resolved, resolvedTimeMs: RESOLVED_MS });
    expect(at.latest(SLUG)!.confirmedTimeMs).not.toBeNull();
  });

  it('is preferred to the exchange’s record, which is read late while the Data API answers', async () => {
    const { at } = withPayouts();
    await until(at, WINDOW.endTimeMs + 1000);
    at.winners.set(at.latest(SLUG)!.marketId, at.latest(SLUG)!.noTokenId);
    await until(at, WINDOW.endTimeMs + 175_000);
    expect(at.latest(SLUG)!.status).toBe('closed');
    await until(at, WINDOW.endTimeMs + 205_000);
    expect(at.latest(SLUG)).toMatchObject({ outcome: 'Down', resolvedBy: 'exchange' });
  });

  it('is replaced by the exchange’s record while the Data API fails', async () => {
    const { at, state } = withPayouts();
    state.fails = true;
    await until(at, WINDOW.endTimeMs + 1000);
    at.winners.set(at.latest(SLUG)!.marketId, at.latest(SLUG)!.noTokenId);
    await until(at, WINDOW.endTimeMs + 73_000);
    expect(at.latest(SLUG)).toMatchObject({ outcome: 'Down', resolvedBy: 'exchange' });
    expect(state.asked).toBeGreaterThan(1);
  });
});

describe('an outdated listing', () => {
  it('changes nothing that a newer one has said', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    at.listings.metadata.set(SLUG, { priceToBeat: 97_000 });
    await until(at, WINDOW.startTimeMs + 10_000);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_000, strikeBasis: 'listing' });
    at.listings.series = [SLUG];
    at.listings.metadata.set(SLUG, { priceToBeat: 96_000 });
    at.listings.ageMs = 219_000;
    await until(at, WINDOW.startTimeMs + 30_000);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_000 });
    expect((await metric(at, 'underround_listings_outdated_total')).join()).toMatch(/ [1-9]/);
    at.listings.ageMs = 0;
    await until(at, WINDOW.startTimeMs + 60_000);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 96_000 });
  });

  it.each([
    ['once a window, while a cache would repeat it', 300_000, 1],
    ['every minute without a cache', 0, 3],
  ])('a series is listed %s', async (_shows, maxAgeMs, times) => {
    const at = setUpLifecycle();
    at.listings.maxAgeMs = maxAgeMs;
    at.lifecycle.start([]);
    await until(at, START + 200_000);
    const asked = at.listings.seriesAsked.filter((series) => series === 'btc-up-or-down-5m');
    expect(asked.length).toBeGreaterThanOrEqual(times);
    expect(asked.length).toBeLessThanOrEqual(times + 1);
    await until(at, START + 320_000);
    const later = at.listings.seriesAsked.filter((series) => series === 'btc-up-or-down-5m');
    expect(later.length).toBeGreaterThan(asked.length);
  });
});
