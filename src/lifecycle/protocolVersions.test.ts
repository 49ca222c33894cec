import { describe, expect, it } from 'vitest';
import { START, setUpLifecycle as setUp } from '../../test/support/lifecycle.ts';
import { WireMarket } from '../../test/support/wire.ts';
import { nextWindow, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

const CURRENT = windowAt('5m', START);
const NEXT = nextWindow('5m', CURRENT);
const [V1_SLUG, V2_SLUG] = [CURRENT, NEXT].map((window) => slugOf('BTC', '5m', window)) as [string, string];

type Raw = Record<string, unknown>;

/** Changes the market of one slug in the listing. */
function listed(at: ReturnType<typeof setUp>, slug: string, change: (market: Raw) => Raw): void {
  at.listings.tamper = (event) => {
    if (event.slug !== slug) return event;
    return { ...event, markets: (event.markets as Raw[]).map(change) };
  };
}

/** The market in protocol V2, with ids by the venue's arithmetic. */
function asV2(market: Raw): Raw {
  const conditionId = `0x01${String(market.id).padStart(32, '0')}${'0'.repeat(28)}`;
  const upId = BigInt(`${conditionId}00`);
  return {
    ...market,
    version: 'v2',
    conditionId,
    clobTokenIds: null,
    positionIds: [`${upId}`, `${upId + 1n}`],
  };
}

describe('protocol versions', () => {
  it('a V1 and a V2 window of one series are both subscribed, recorded and trusted', async () => {
    const at = setUp();
    const { clock, sink, recorder, lifecycle, isSubscribed, latest } = at;
    listed(at, V2_SLUG, asV2);
    lifecycle.start([]);
    await clock.advance(1000);
    expect([isSubscribed(V1_SLUG), isSubscribed(V2_SLUG)]).toEqual([true, true]);
    for (const [slug, version] of [
      [V1_SLUG, 'v1'],
      [V2_SLUG, 'v2'],
    ] as const) {
      const market = latest(slug)!;
      expect(market.marketId).toMatch(/^0x[0-9a-f]{64}$/);
      const wire = new WireMarket(market, version);
      wire.set({ side: 'BUY', price: 4900, size: 5_000_000 });
      wire.set({ side: 'SELL', price: 5000, size: 5_000_000 });
      const frames = [
        wire.snapshot(START + 10),
        ...wire.action(START + 20, [{ side: 'BUY', price: 4800, size: 1_000_000 }]),
      ];
      for (const frame of frames) recorder.clobFrame(frame, clock.now());
    }
    const trusted = (slug: string) =>
      sink.books.filter(({ marketId }) => marketId === latest(slug)?.marketId).map((book) => book.trusted);
    expect([trusted(V1_SLUG), trusted(V2_SLUG)]).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(sink.gaps).toEqual([]);
  });

  it('follows a V2 window to its outcome, with the listing’s own status', async () => {
    const at = setUp();
    listed(at, V1_SLUG, (market) => {
      const { umaResolutionStatus, ...v2 } = asV2(market);
      return { ...v2, resolutionStatus: umaResolutionStatus ?? 'active' };
    });
    at.lifecycle.start([]);
    at.listings.winners.set(V1_SLUG, 'Down');
    await at.clock.advance(CURRENT.endTimeMs - START + 60_000);
    expect(at.latest(V1_SLUG)).toMatchObject({ status: 'resolved', outcome: 'Down', resolvedBy: 'listing' });
  });

  it('retries a market without ids like an unknown slug, and subscribes once they are listed', async () => {
    const at = setUp();
    listed(at, V2_SLUG, (market) => ({ ...asV2(market), positionIds: null }));
    at.lifecycle.start([]);
    await at.clock.advance(60_000);
    const asked = at.listings.asked.filter((slugs) => slugs.includes(V2_SLUG)).length;
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(7);
    expect(await at.metrics.registry.metrics()).toContain(
      `underround_listings_refused_total{reason="ids_not_available"} ${asked}`,
    );
    listed(at, V2_SLUG, asV2);
    await at.clock.advance(61_000);
    expect(at.isSubscribed(V2_SLUG)).toBe(true);
  });

  it('refuses a market of an unknown version and reports it', async () => {
    const at = setUp();
    listed(at, V2_SLUG, (market) => ({ ...asV2(market), version: 'v3' }));
    at.lifecycle.start([]);
    await at.clock.advance(20_000);
    expect(at.latest(V2_SLUG)).toBeUndefined();
    expect(at.isSubscribed(V1_SLUG)).toBe(true);
    expect(await at.metrics.registry.metrics()).toMatch(
      /underround_unknown_versions_total\{where="gamma"\} [1-9]/,
    );
    expect(at.metrics.unknownVersions.rows()).toMatchObject([
      { where: 'gamma', version: 'v3', markets: 1, newestMarket: V2_SLUG },
    ]);
  });
});

describe('the exchange’s labels of the tokens', () => {
  const rules = { feeRate: 0.07, feeExponent: 1, takerDelayMs: null };
  const labelled = (...tokens: [tokenId: string, outcome: string][]) => ({
    ...rules,
    tokens: tokens.map(([tokenId, outcome]) => ({ tokenId, outcome })),
  });

  /** @param bookTimeMs When the first book last changed at the venue. */
  async function answered(
    labels: (yes: string, no: string) => [string, string][],
    bookTimeMs: number = START + 50,
  ) {
    const at = setUp();
    at.lifecycle.start([]);
    await at.clock.advance(100);
    const market = at.latest(V1_SLUG)!;
    const wire = new WireMarket(market);
    wire.set({ side: 'BUY', price: 4900, size: 5_000_000 });
    at.recorder.clobFrame(wire.snapshot(bookTimeMs), START + 100);
    at.rules.set(market.marketId, labelled(...labels(market.yesTokenId, market.noTokenId)));
    at.listings.series = [V1_SLUG];
    await at.clock.advance(10_000);
    return { ...at, market };
  }

  it.each<[string, (yes: string, no: string) => [string, string][]]>([
    [
      'that are exchanged',
      (yes, no) => [
        [yes, 'Down'],
        [no, 'Up'],
      ],
    ],
    [
      'of other tokens',
      () => [
        ['5', 'Up'],
        ['6', 'Down'],
      ],
    ],
  ])('%s refuse the market', async (_shows, labels) => {
    const { clock, sink, recorder, lifecycle, latest, listings, market, metrics, subscribed } =
      await answered(labels);
    expect(recorder.market(market.marketId)).toBeNull();
    expect(subscribed.has(market.yesTokenId)).toBe(false);
    expect(await metrics.registry.metrics()).toContain('underround_token_labels_contradicted_total 1');
    // The rows written before the answer lie in a gap.
    expect(sink.books[0]).toMatchObject({
      marketId: market.marketId,
      eventTimeMs: START + 50,
      trusted: true,
    });
    const gap = sink.gaps.findLast(({ marketId }) => marketId === market.marketId);
    expect(gap).toMatchObject({ cause: 'book_mismatch', endTimeMs: market.endTimeMs });
    expect(gap?.startTimeMs).toBeLessThan(START + 50);
    expect(latest(market.slug)).toMatchObject({ status: 'closed', outcome: null });
    const written = sink.markets.length;
    listings.series = [];
    await clock.advance(market.endTimeMs - START + 1_000_000);
    expect(sink.markets.slice(written).filter(({ slug }) => slug === market.slug)).toEqual([]);
    lifecycle.stop();
  });

  it('that are exchanged put a first book that had not changed for a day into the gap', async () => {
    const bookTimeMs = START - 86_400_000;
    const exchanged = (yes: string, no: string): [string, string][] => [
      [yes, 'Down'],
      [no, 'Up'],
    ];
    const { sink, market } = await answered(exchanged, bookTimeMs);
    expect(sink.books[0]).toMatchObject({ eventTimeMs: bookTimeMs, trusted: true });
    const gap = sink.gaps.findLast(({ marketId }) => marketId === market.marketId);
    expect(gap?.startTimeMs).toBeLessThan(bookTimeMs);
    expect(gap?.startReceivedMs).toBe(START + 100 - 60_000);
  });

  it.each<[string, (yes: string, no: string) => [string, string][]]>([
    [
      'that agree',
      (yes, no) => [
        [no, 'Down'],
        [yes, 'Up'],
      ],
    ],
    [
      'of other words',
      (yes, no) => [
        [no, 'Yes'],
        [yes, 'No'],
      ],
    ],
    ['that are missing', () => []],
  ])('%s change nothing', async (_shows, labels) => {
    const { recorder, market, isSubscribed } = await answered(labels);
    expect(isSubscribed(V1_SLUG)).toBe(true);
    expect(recorder.market(market.marketId)).toMatchObject({ takerFeeRate: 0.07 });
  });
});
