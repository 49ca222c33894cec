import { afterEach, describe, expect, it, vi } from 'vitest';
import { PricedVenue, type PricedVenueOptions } from '../support/pricedVenue.ts';
import { START_MS } from '../support/watchedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

const MINUTE_MS = 60_000;
const RTDS_ENDS_MS = START_MS + 12 * MINUTE_MS;
const RUN_MINUTES = 31;

let priced: PricedVenue;
afterEach(() => priced?.stop());

/** Runs half an hour in which RTDS is removed after twelve minutes. */
async function run(options: PricedVenueOptions): Promise<void> {
  priced = await PricedVenue.start(options);
  priced.removeRtds(RTDS_ENDS_MS);
  for (let minute = 0; minute < RUN_MINUTES; minute++) await priced.venue.clock.advance(MINUTE_MS);
}

/** The windows that opened at least a minute ago, with the first strike that is no estimate, and the venue's own. */
function opened() {
  const { venue, strikes } = priced;
  return venue.entered
    .filter(({ facts }) => facts.window.startTimeMs > START_MS)
    .filter(({ facts }) => facts.window.startTimeMs < venue.clock.now() - MINUTE_MS)
    .map(({ facts, fate }) => {
      const found = strikes.get(facts.slug);
      const isAfterRtds = facts.window.startTimeMs > RTDS_ENDS_MS;
      return { slug: facts.slug, strike: fate.strike, found, isAfterRtds };
    });
}

const metric = async (name: string) =>
  (await priced.venue.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
const states = () => Object.fromEntries(priced.sources.status().map(({ source, state }) => [source, state]));

describe('RTDS is removed in the middle of a run', () => {
  it('PolyBolt gives every strike within 3 s of the open, and no gap opens', async () => {
    await run({ seed: 'chain', polybolt: true, cryptoPrice: true });
    const windows = opened();
    expect(windows.filter(({ isAfterRtds }) => isAfterRtds).length).toBeGreaterThanOrEqual(4);
    for (const { slug, strike, found } of windows) {
      expect(found?.market, slug).toMatchObject({ strikeSource: 'relayed', strikeBasis: 'twap_relay' });
      expect(found?.market.strikePrice, slug).toBe(strike);
      expect(found?.afterMs, slug).toBeLessThanOrEqual(3_000);
    }
    expect([...priced.venue.sink.gaps.values()]).toEqual([]);
    expect(states()).toEqual({ polybolt: 'live', rtds: 'silent', crypto_price: 'ready' });
    // Both streams brought the same points for twelve minutes, and never another price.
    expect(await metric('underround_price_conflicts_total')).toEqual([]);
    expect(await metric('underround_price_feed_gaps_total')).toEqual([]);
  });

  it('without credentials the website gives every later strike, and no gap opens', async () => {
    await run({ seed: 'chain', polybolt: false, cryptoPrice: true });
    const windows = opened();
    for (const { slug, strike, found, isAfterRtds } of windows) {
      expect(found?.market.strikePrice, slug).toBe(strike);
      expect(found?.afterMs, slug).toBeLessThanOrEqual(20_000);
      if (isAfterRtds)
        expect(found?.market).toMatchObject({ strikeSource: 'official', strikeBasis: 'crypto_price' });
    }
    expect(windows.filter(({ isAfterRtds }) => isAfterRtds).length).toBeGreaterThanOrEqual(4);
    expect([...priced.venue.sink.gaps.values()]).toEqual([]);
    expect(states()).toEqual({ polybolt: 'no_credentials', rtds: 'silent', crypto_price: 'ready' });
  });

  it('with neither, later strikes stay unknown here: nothing is invented', async () => {
    await run({ seed: 'chain', polybolt: false, cryptoPrice: false });
    const later = opened().filter(({ isAfterRtds }) => isAfterRtds);
    expect(later.length).toBeGreaterThanOrEqual(4);
    expect(later.filter(({ found }) => found !== undefined)).toEqual([]);
  });
});

describe('PolyBolt', () => {
  it('fills the hole of lost frames from the snapshot of a new subscription', async () => {
    priced = await PricedVenue.start({ seed: 'holes', polybolt: true, cryptoPrice: false });
    priced.removeRtds(START_MS);
    const { venue } = priced;
    // The second that decides the window of 12:05, and those around it.
    await venue.clock.advance(Date.UTC(2026, 10, 20, 12, 5) - 3_000 - venue.clock.now());
    venue.faults.polyboltLosses = { left: 12, isReported: false };
    await venue.clock.advance(15_000);
    await venue.clock.advance(MINUTE_MS);
    const filled = opened().find(({ slug }) => slug.startsWith('btc-updown-5m'));
    expect(filled?.found?.market.strikePrice).toBe(filled?.strike);
    expect(filled?.found?.afterMs).toBeLessThanOrEqual(10_000);
    expect((await metric('underround_price_feed_gaps_total')).sort()).toEqual([
      'underround_price_feed_gaps_total{feed="polymarket.polybolt",channel="price.crypto"} 1',
      'underround_price_feed_gaps_total{feed="polymarket.polybolt",channel="price.crypto.twap"} 1',
    ]);
    expect([...venue.sink.gaps.values()]).toEqual([]);
  });

  it('that is seven seconds late opens a gap only if RTDS is late too', async () => {
    priced = await PricedVenue.start({ seed: 'late', polybolt: true, cryptoPrice: false });
    const { venue } = priced;
    await venue.clock.advance(MINUTE_MS);
    venue.faults.lateMs.polybolt = 7_000;
    await venue.clock.advance(MINUTE_MS);
    expect([...venue.sink.gaps.values()]).toEqual([]);
    // Late prices are not used, so they do not count as delivered.
    expect(states()).toEqual({ polybolt: 'silent', rtds: 'live', crypto_price: 'off' });
    priced.removeRtds(venue.clock.now());
    await venue.clock.advance(15_000);
    const gaps = [...venue.sink.gaps.values()];
    expect(new Set(gaps.map(({ cause, feed }) => `${cause} ${feed}`))).toEqual(
      new Set(['late_feed polymarket.polybolt']),
    );
    venue.faults.lateMs.polybolt = 0;
    await venue.clock.advance(15_000);
    expect([...venue.sink.gaps.values()].filter(({ endTimeMs }) => endTimeMs === null)).toEqual([]);
  });
});
