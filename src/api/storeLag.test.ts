import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { idleLive, KEY, nothingFollowed, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { HeldStore } from '../../test/support/heldStore.ts';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { SETTLED_AFTER_MS } from '../http/caching.ts';
import type { Market } from '../schema/market.ts';
import { LAG_TRUSTED_MS } from './bookInForce.ts';

const T0 = MARKET.startTimeMs + 10_000;
const SHARE = 1_000_000;
const M = MARKET.marketId;
const ORDERBOOK = `/v1/markets/${M}/orderbook`;
const iso = (timeMs: number) => new Date(timeMs).toISOString();
const shown = (timeMs: number) => iso(timeMs).replace('Z', '+00:00');

let held: HeldStore;
let wire: WireMarket;
beforeEach(async () => {
  held = await HeldStore.open(T0);
  held.recorder.track(MARKET);
  wire = new WireMarket();
  for (let i = 1; i <= 10; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
});
afterEach(() => held.close());

/** One venue action, received at once. */
function act(timeMs: number, ...sizes: number[]): void {
  const changes = sizes.map((size, i) => ({ side: 'BUY' as const, price: 4900 - i * 100, size }));
  for (const frame of wire.action(timeMs, changes)) held.recorder.clobFrame(frame, timeMs);
}

function snapshot(timeMs: number): void {
  held.recorder.clobFrame(wire.snapshot(timeMs), timeMs);
}

describe('the current book', () => {
  test('is the newest recorded one while its row waits for the store', async () => {
    snapshot(T0);
    await held.letThrough();
    act(T0 + 500_000, 7 * SHARE);
    held.at(T0 + 540_000, 540_000);
    const { status, body } = await held.ask(ORDERBOOK);
    expect([status, body.ts, body.trusted]).toEqual([200, shown(T0 + 500_000), true]);
    expect((body.yes_bids as unknown[])[0]).toEqual({ price: 0.49, size: 7 });
    expect((body.no_asks as unknown[])[0]).toEqual({ price: 0.51, size: 7 });
    expect((await held.askStored(ORDERBOOK)).body).toMatchObject({ ts: shown(T0), trusted: false });
    for (const at of [T0 + 500_000, T0 + 540_000, T0 + 9_000_000])
      expect(await held.ask(`${ORDERBOOK}?at=${iso(at)}`)).toEqual({ status, body });
    expect(await held.ask(`/v1/snapshot-at/${iso(T0 + 500_000)}?market_id=${M}`)).toEqual({ status, body });
  });

  test('is the last complete one while an action is half applied', async () => {
    snapshot(T0);
    act(T0 + 1_000, 7 * SHARE);
    const before = await held.ask(ORDERBOOK);
    const [half = '', rest = ''] = wire.action(T0 + 2_000, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: 9 * SHARE },
    ]);
    held.recorder.clobFrame(half, T0 + 2_000);
    expect(held.recorder.recorded(M)?.liveBook()).toBe('unfinished');
    expect(await held.ask(ORDERBOOK)).toEqual(before);
    held.recorder.clobFrame(rest, T0 + 2_001);
    expect((await held.ask(ORDERBOOK)).body).toMatchObject({ ts: shown(T0 + 2_000), trusted: true });
  });

  test('is untrusted in a gap, and trusted again after it though neither end is stored', async () => {
    snapshot(T0);
    held.recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], T0 + 1_000);
    held.at(T0 + 1_500, 1_500);
    expect((await held.ask(ORDERBOOK)).body).toMatchObject({ ts: shown(T0), trusted: false });
    const trustedAt = async (at: number) => (await held.ask(`${ORDERBOOK}?at=${iso(at)}`)).body.trusted;
    held.at(T0 + 1_500, 60_000);
    expect(await trustedAt(T0 + 1)).toBe(false);
    snapshot(T0 + 2_000);
    held.at(T0 + 2_500, 60_000);
    expect((await held.ask(ORDERBOOK)).body).toMatchObject({ ts: shown(T0), trusted: true });
    expect([await trustedAt(T0 + 1_999), await trustedAt(T0 + 2_000)]).toEqual([false, true]);
    await held.letThrough();
    held.at(T0 + 9_000);
    expect([await trustedAt(T0), await trustedAt(T0 + 1_999), await trustedAt(T0 + 2_000)]).toEqual([
      ...[true, false, true],
    ]);
  });

  test('is untrusted for a past time whose states wait for the store', async () => {
    snapshot(T0);
    await held.letThrough();
    act(T0 + 20_000, 7 * SHARE);
    act(T0 + 30_000, 8 * SHARE);
    held.at(T0 + 40_000, 25_000);
    const at = async (timeMs: number) => {
      const { ts, trusted } = (await held.ask(`${ORDERBOOK}?at=${iso(timeMs)}`)).body;
      return [ts, trusted];
    };
    expect(await at(T0 + 15_000)).toEqual([shown(T0), true]);
    expect(await at(T0 + 15_001)).toEqual([shown(T0), false]);
    expect(await at(T0 + 29_999)).toEqual([shown(T0), false]);
    expect(await at(T0 + 30_000)).toEqual([shown(T0 + 30_000), true]);
    await held.letThrough();
    expect(await at(T0 + 29_999)).toEqual([shown(T0 + 20_000), true]);
  });

  test('is untrusted for a past time before which a state arrived late, and waits for the store', async () => {
    snapshot(T0);
    await held.letThrough();
    held.at(T0 + 21_500);
    for (const timeMs of [T0 + 20_000, T0 + 21_400])
      for (const frame of wire.action(timeMs, [{ side: 'BUY', price: 4900, size: timeMs - T0 }]))
        held.recorder.clobFrame(frame, T0 + 21_500);
    // Rows received until 21.5 s after T0 may be stored: the first of the two states is older and is not.
    held.at(T0 + 21_600, 100);
    const at = async (timeMs: number) => {
      const { ts, trusted } = (await held.ask(`${ORDERBOOK}?at=${iso(timeMs)}`)).body;
      return [ts, trusted];
    };
    expect(await at(T0 + 19_999)).toEqual([shown(T0), true]);
    expect(await at(T0 + 20_500)).toEqual([shown(T0), false]);
    expect(await at(T0 + 21_450)).toEqual([shown(T0 + 21_400), true]);
    await held.letThrough();
    held.at(T0 + 21_700, 0);
    expect(await at(T0 + 20_500)).toEqual([shown(T0 + 20_000), true]);
  });

  test('is untrusted for a stored time in a gap that waits for the store', async () => {
    snapshot(T0);
    act(T0 + 1_000, 7 * SHARE);
    await held.letThrough();
    held.recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], T0 + 6_000);
    act(T0 + 7_000, 8 * SHARE);
    snapshot(T0 + 8_000);
    held.at(T0 + 9_000, 3_500);
    const trustedAt = async (at: number) => (await held.ask(`${ORDERBOOK}?at=${iso(at)}`)).body.trusted;
    expect([await trustedAt(T0 + 1_000), await trustedAt(T0 + 1_001)]).toEqual([true, false]);
    await held.letThrough();
    expect([await trustedAt(T0 + 1_000), await trustedAt(T0 + 1_001)]).toEqual([true, false]);
  });

  test('equals the stored one once everything is stored', async () => {
    const step = fc.record({
      kind: fc.constantFrom('act', 'act', 'act', 'disconnect', 'snapshot', 'odd'),
      size: fc.integer({ min: 0, max: 3 }),
      afterMs: fc.integer({ min: 1, max: 1500 }),
    });
    let timeMs = T0;
    snapshot(T0);
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { kind, size, afterMs } of steps) {
        timeMs += afterMs;
        if (kind === 'act') act(timeMs, size * SHARE, (size + 1) * 1234);
        else if (kind === 'snapshot') snapshot(timeMs);
        else if (kind === 'disconnect') held.recorder.disconnect([MARKET.yesTokenId], timeMs);
        else {
          wire.lastTradePrice = '0.123';
          act(timeMs, size * SHARE);
        }
        held.recorder.finishQuiet(timeMs + 1);
      }
      held.at(timeMs, 60_000);
      const live = await held.ask(ORDERBOOK);
      const [liveGaps, liveMarket] = [
        await held.ask(`/v1/gaps?market_id=${M}`),
        await held.ask('/v1/markets'),
      ];
      await held.letThrough();
      const stored = await held.askStored(ORDERBOOK);
      // Memory knows that the newest state is unproven before the gap reaches the store.
      const trusted = live.body.trusted && stored.body.trusted;
      expect(live.body.trusted).toBe(trusted);
      expect(live).toEqual({ ...stored, body: { ...stored.body, trusted } });
      expect(liveGaps).toEqual(await held.askStored(`/v1/gaps?market_id=${M}`));
      held.at(MARKET.endTimeMs + 1);
      expect((await held.ask('/v1/markets')).body).toEqual((await held.askStored('/v1/markets')).body);
      expect(liveMarket.body.count).toBe(1);
    });
    await fc.assert(property, { numRuns: 15, seed: 10 });
  });
});

describe('a market that is not followed', () => {
  const bookAt = async (lagMs: number, query = '') => {
    const clock = new FakeClock();
    const live = { ...idleLive, followed: nothingFollowed, storeLagMs: () => lagMs };
    const app = testApi({ store: stubStore(), clock, live });
    const url = `/v1/markets/${STUB_MARKET}/orderbook${query}`;
    const response = await app.inject({ url, headers: KEY });
    await app.close();
    return response.json().trusted;
  };

  test('has a trusted current book while the store lags at most two seconds', async () => {
    expect(await bookAt(0)).toBe(true);
    expect(await bookAt(LAG_TRUSTED_MS)).toBe(true);
    expect(await bookAt(LAG_TRUSTED_MS + 1)).toBe(false);
  });

  test('has a trusted book for any stored time', async () => {
    const nowMs = new FakeClock().now();
    expect(await bookAt(60_000, `?at=${iso(nowMs - 60_000)}`)).toBe(true);
    expect(await bookAt(60_000, `?at=${iso(nowMs - 59_999)}`)).toBe(false);
  });
});

describe('market records', () => {
  const next: Market = {
    ...{ ...MARKET, marketId: '0xnext', slug: 'next', eventId: 'e2' },
    ...{ startTimeMs: MARKET.endTimeMs, endTimeMs: MARKET.endTimeMs + 300_000 },
  };
  const ids = async (query: string) => {
    const { markets, count } = (await held.ask(`/v1/markets${query}`)).body as {
      markets: { market_id: string; status: string; strike_price: number | null }[];
      count: number;
    };
    expect(count).toBe(markets.length);
    return markets.map(({ market_id: id }) => id);
  };

  test('the next window is found, listed and empty before any of its rows is stored', async () => {
    await held.letThrough();
    held.recorder.track(next);
    held.at(T0, 600_000);
    const { status, body } = await held.ask('/v1/markets/0xnext');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ market_id: '0xnext', status: 'open', coverage: 1 }),
    ]);
    expect(await ids('')).toEqual(['0xnext', M]);
    expect((await held.ask('/v1/markets?limit=0')).body.count).toBe(2);
    expect((await held.ask('/v1/snapshots?market_id=0xnext')).body).toMatchObject({ count: 0 });
    expect((await held.ask('/v1/gaps?market_id=0xnext')).body).toMatchObject({ count: 0 });
    expect((await held.ask('/v1/markets/0xnext/orderbook')).status).toBe(404);
    expect((await held.askStored('/v1/markets/0xnext')).status).toBe(404);
    await held.letThrough();
    expect((await held.askStored('/v1/markets/0xnext')).body).toEqual(body);
  });

  test('the newest record replaces an older stored one, and filters use its values', async () => {
    held.recorder.track(next);
    await held.letThrough();
    const closed: Market = { ...MARKET, status: 'closed', strikePrice: 97_000.5, strikeSource: 'official' };
    held.recorder.track(closed);
    held.at(T0, 600_000);
    expect(await ids('?status=open')).toEqual(['0xnext']);
    expect(await ids('?status=closed')).toEqual([M]);
    expect((await held.ask('/v1/markets?status=closed&limit=0')).body.count).toBe(1);
    expect((await held.ask(`/v1/markets/${M}`)).body).toMatchObject({
      ...{ status: 'closed', strike_price: 97_000.5, strike_source: 'official' },
    });
    held.recorder.track({ ...closed, status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs: T0 });
    const { body } = await held.ask('/v1/markets/resolved');
    expect(body).toMatchObject({ count: 1, markets: [{ outcome: 'Up', resolved_at: shown(T0) }] });
    expect((await held.askStored('/v1/markets/resolved')).body).toMatchObject({ count: 0 });
    held.at(MARKET.endTimeMs + 600_000);
    const resolved = await held.ask('/v1/markets/resolved');
    await held.letThrough();
    expect(await held.askStored('/v1/markets/resolved')).toEqual(resolved);
  });

  test('pages contain followed and stored markets once each, in one order', async () => {
    const windows = Array.from({ length: 12 }, (_, i): Market => {
      const startTimeMs = MARKET.startTimeMs + Math.floor(i / 2) * 300_000;
      return { ...MARKET, marketId: `0x${i}`, slug: `m${i}`, startTimeMs, endTimeMs: startTimeMs + 300_000 };
    });
    for (const window of windows) held.recorder.track(window);
    await held.letThrough();
    for (const index of [0, 1, 5, 6, 11]) held.recorder.untrack(`0x${index}`);
    const all = await ids('');
    expect(all).toHaveLength(13);
    expect(new Set(all).size).toBe(13);
    const stored = (await held.askStored('/v1/markets')).body.markets as { market_id: string }[];
    expect(all).toEqual(stored.map(({ market_id: id }) => id));
    for (const limit of [1, 2, 5]) {
      const walked: string[] = [];
      let cursor: unknown = '';
      while (cursor !== null) {
        const more = cursor === '' ? '' : `&cursor=${cursor}`;
        const { markets, next_cursor: following } = (await held.ask(`/v1/markets?limit=${limit}${more}`))
          .body;
        walked.push(...(markets as { market_id: string }[]).map(({ market_id: id }) => id));
        cursor = following;
      }
      expect(walked).toEqual(all);
    }
    const half = `?since=${iso(MARKET.endTimeMs + 300_000)}&until=${iso(MARKET.endTimeMs + 900_000)}`;
    expect(await ids(half)).toEqual(['0x5', '0x4', '0x3', '0x2']);
    expect((await held.ask(`/v1/markets${half}&limit=0`)).body.count).toBe(4);
    expect(await ids('?ticker=ETH')).toEqual([]);
    expect(await ids('?event_type=15m')).toEqual([]);
  });

  test('coverage counts rows and gaps that wait for the store', async () => {
    const window = { ...MARKET, marketId: '0xc', recordedSinceMs: MARKET.startTimeMs - 5_000 };
    held.recorder.track(window);
    held.at(MARKET.startTimeMs + 100_000, 90_000);
    expect((await held.ask('/v1/markets/0xc')).body.coverage).toBe(1);
    const gap = { marketId: '0xc', cause: 'disconnected', feed: 'polymarket.clob' } as const;
    const startTimeMs = MARKET.startTimeMs + 40_000;
    const both = (timeMs: number) => ({ eventTimeMs: timeMs, receivedTimeMs: timeMs });
    held.recorder.gaps.open({ ...gap, start: both(startTimeMs), knownTimeMs: startTimeMs });
    await held.letThrough();
    expect((await held.ask('/v1/markets/0xc')).body.coverage).toBe(0.4);
    held.recorder.gaps.close('0xc', both(startTimeMs + 10_000), 'snapshot');
    expect((await held.ask('/v1/markets/0xc')).body.coverage).toBe(0.9);
    expect((await held.ask('/v1/gaps?market_id=0xc')).body).toMatchObject({
      ...{ count: 1, gaps: [{ end: shown(startTimeMs + 10_000), repaired_by: 'snapshot' }] },
    });
    expect((await held.askStored('/v1/gaps?market_id=0xc')).body).toMatchObject({ gaps: [{ end: null }] });
    const from = (ms: number) => `/v1/gaps?market_id=0xc&start=${iso(startTimeMs + ms)}`;
    // Rows with the time of the gap's end may be in the gap.
    expect((await held.ask(from(10_000))).body).toMatchObject({ count: 1 });
    expect((await held.ask(`${from(10_000)}&limit=0`)).body.count).toBe(1);
    expect((await held.ask(from(10_001))).body).toMatchObject({ count: 0 });
    expect((await held.ask(`${from(10_001)}&limit=0`)).body.count).toBe(0);
  });
});

test('a response about a range with waiting rows is not cacheable', async () => {
  const clock = new FakeClock();
  const end = iso(clock.now() - SETTLED_AFTER_MS - 1_000);
  const keptAt = async (lagMs: number) => {
    const app = testApi({ store: stubStore(), clock, live: { ...idleLive, storeLagMs: () => lagMs } });
    const { headers } = await app.inject({ url: `/v1/perp/depth?ticker=BTC&end=${end}`, headers: KEY });
    await app.close();
    return [headers['cache-control'], typeof headers.etag];
  };
  expect(await keptAt(999)).toEqual(['private, max-age=3600', 'string']);
  expect(await keptAt(1_000)).toEqual(['no-store', 'undefined']);
});
