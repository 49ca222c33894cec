import { describe, expect, it } from 'vitest';
import { idleLive, uncheckedApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { Metrics } from '../runtime/metrics.ts';
import { type StatusBody, statusShape } from '../schema/api/statusResources.ts';
import type { Gap } from '../schema/gap.ts';
import type { StoreReader } from '../store/reader.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 1);
const MINUTE_MS = 60_000;

const days = (day: string, windows: number, lostMs = 0) => ({
  ...{ ticker: 'BTC', eventType: '5m', day, windows, windowMs: windows * 5 * MINUTE_MS },
  ...{ recordedMs: windows * 5 * MINUTE_MS, provenMs: windows * 5 * MINUTE_MS - lostMs },
  ...{ gaps: lostMs === 0 ? 0 : 1, longestGapMs: lostMs },
});

/** A store with one series; each query is counted. */
function rig() {
  const asked: string[] = [];
  /** The start and the end of each query of days. */
  const ranges: (readonly [unknown, unknown])[] = [];
  /** `onSlow`: the store never answers; called when it is asked. */
  const state: { fails: boolean; onSlow: (() => void) | null } = { fails: false, onSlow: null };
  const store: Pick<StoreReader, 'rows' | 'stream'> = {
    rows: async <T>(query: string, params: Record<string, unknown> = {}): Promise<T[]> => {
      asked.push(query);
      if (state.onSlow !== null) {
        state.onSlow();
        return await new Promise<T[]>(() => {});
      }
      if (state.fails) throw new StoreUnavailableError('away');
      const isRecent = Number(params.to_ms_at) > NOW_MS;
      if (query.includes('AS provenMs')) {
        ranges.push([params.from_ms_at, params.to_ms_at]);
        const found = isRecent
          ? [days('2026-11-19', 287, 30_000), days('2026-11-20', 12)]
          : [days('2026-11-01', 288)];
        return found as T[];
      }
      if (query.includes('AS p99Ms'))
        return [{ ticker: 'BTC', eventType: '5m', day: '2026-11-20', medianMs: 41, p99Ms: 180 }] as T[];
      const facts = { feed: 'polymarket.clob', cause: 'disconnected', markets: 12 };
      return [
        { ...facts, startMs: NOW_MS - 60_000, endMs: null },
        { ...facts, startMs: NOW_MS - 90_000, endMs: NOW_MS - 80_000 },
      ] as T[];
    },
    stream: () => Promise.reject(new Error('no stream')),
  };
  const clock = new FakeClock(NOW_MS);
  const metrics = new Metrics();
  const feed = metrics.venueFeeds.join({ feed: 'polymarket.clob', group: 'BTC-5m', kind: 'socket' });
  metrics.venueFeeds.join({ feed: 'polymarket.clob', group: 'BTC-5m', kind: 'socket' });
  feed.isUp = true;
  feed.lastMessageMs = NOW_MS - 10;
  return { asked, ranges, state, store, clock, metrics };
}

type Live = NonNullable<Parameters<typeof uncheckedApi>[0]['live']>;

function publicApi(parts: ReturnType<typeof rig>, live: Live = idleLive) {
  const { store, clock, metrics } = parts;
  // The committed description is that of the default, where the page is the operator's.
  return uncheckedApi({ store, clock, metrics, live, statusPage: 'public' });
}

describe('the status', () => {
  it('has coverage, proven share, gaps and lag of each series and day, the feeds, and the incidents', async () => {
    const answer = await publicApi(rig()).inject({ url: '/status.json' });
    expect(answer.statusCode).toBe(200);
    const body = statusShape.parse(answer.json());
    expect(body).toMatchObject({ state: 'ok', store_lag_seconds: 0, history_is_old: false });
    expect(body.feeds).toEqual([
      {
        ...{ feed: 'polymarket.clob', group: 'BTC-5m', state: 'partly', connections: 2, up: 1 },
        ...{ last_message_at: '2026-11-20T00:59:59.990+00:00', gaps_open: 0 },
      },
    ]);
    const [series] = body.series;
    expect(series?.days).toHaveLength(30);
    const of = (day: string) => series?.days.find((one) => one.day === day);
    expect(of('2026-11-01')).toMatchObject({
      windows: 288,
      windows_expected: 288,
      coverage: 1,
      proven_share: 1,
    });
    expect(of('2026-11-19')).toMatchObject({
      ...{ windows: 287, windows_expected: 288, coverage: 0.996528, proven_share: 0.999652 },
      ...{ gaps: 1, longest_gap_seconds: 30, lag_p99_ms: null },
    });
    expect(of('2026-11-20')).toMatchObject({
      windows: 12,
      windows_expected: 12,
      lag_median_ms: 41,
      lag_p99_ms: 180,
    });
    expect(of('2026-11-10')).toMatchObject({ windows: 0, coverage: 0, proven_share: null });
    expect(body.incidents).toMatchObject([
      { end: null, markets: 12 },
      { end: '2026-11-20T00:58:40.000+00:00' },
    ]);
  });

  it('asks the store at most once a minute, whoever asks, and for older days seldom', async () => {
    const parts = rig();
    const api = publicApi(parts);
    await Promise.all(Array.from({ length: 50 }, () => api.inject({ url: '/status' })));
    const first = parts.asked.length;
    expect(first).toBe(5);
    await parts.clock.advance(59_000);
    await api.inject({ url: '/status' });
    expect(parts.asked).toHaveLength(first);
    await parts.clock.advance(2_000);
    await api.inject({ url: '/status' });
    await api.inject({ url: '/status' });
    expect(parts.asked).toHaveLength(first + 3);
  });

  it('is made at most once a second, whoever asks, and no client may keep it', async () => {
    const parts = rig();
    let made = 0;
    const storeLagMs = () => {
      made++;
      return 0;
    };
    const api = publicApi(parts, { ...idleLive, storeLagMs });
    const ask = async (url: string) => (await api.inject({ url })).headers['cache-control'];
    expect(await ask('/status.json')).toBe('no-store');
    const first = made;
    expect(first).toBeGreaterThan(0);
    await parts.clock.advance(999);
    expect(await ask('/status')).toBe('no-store');
    expect(made).toBe(first);
    await parts.clock.advance(1);
    await ask('/status');
    expect(made).toBe(2 * first);
  });

  it('has the open gaps, and the connections of the collectors instead of its own', async () => {
    const row = { feed: 'binance', group: null, kind: 'socket', connections: 2, up: 2, failures: 0 } as const;
    const feeds = [{ ...row, lastMessageMs: NOW_MS, sinceMs: null, lastFailure: null }];
    const collectors = () => [{ name: 'c1', priceSources: [], feeds, unknownVersions: [] }] as never;
    const openGaps = () => [{ feed: 'binance' } as Gap];
    const answer = await publicApi(rig(), { ...idleLive, collectors, openGaps }).inject({
      url: '/status.json',
    });
    expect(answer.json<StatusBody>().feeds).toMatchObject([
      { feed: 'binance', state: 'up', connections: 2, gaps_open: 1 },
    ]);
  });

  it('after midnight, the day before yesterday is read with the older days', async () => {
    const parts = rig();
    const api = publicApi(parts);
    const [day, midnight] = [24 * 60 * MINUTE_MS, Date.UTC(2026, 10, 21)];
    await parts.clock.advance(midnight - NOW_MS - 10 * MINUTE_MS);
    for (const minutes of [0, 20]) {
      await parts.clock.advance(minutes * MINUTE_MS);
      await api.inject({ url: '/status.json' });
      const todayMs = minutes === 0 ? midnight - day : midnight;
      expect(parts.ranges.splice(0)).toEqual([
        [todayMs - 29 * day, todayMs - day],
        [todayMs - day, parts.clock.now() + 1],
      ]);
    }
  });

  it('of a store that does not answer is the last one known, and says so', async () => {
    const parts = rig();
    const api = publicApi(parts);
    await api.inject({ url: '/status.json' });
    parts.state.fails = true;
    await parts.clock.advance(61_000);
    await api.inject({ url: '/status.json' });
    await parts.clock.advance(2_000);
    const body = (await api.inject({ url: '/status.json' })).json<StatusBody>();
    expect(body).toMatchObject({ state: 'degraded', history_is_old: true, series: [{ ticker: 'BTC' }] });
    expect((await api.inject({ url: '/status' })).body).toContain(
      'The store does not answer in time: days and incidents are those of 2026-11-20 01:00:00 UTC.',
    );
  });

  it('after an absence is read again before it is shown', async () => {
    const parts = rig();
    const api = publicApi(parts);
    await api.inject({ url: '/status.json' });
    await parts.clock.advance(6 * 60 * MINUTE_MS);
    const body = (await api.inject({ url: '/status.json' })).json<StatusBody>();
    expect([body.history_as_of, body.history_is_old]).toEqual([body.as_of, false]);
  });

  it('that a slow store cannot give in time is the one before, as an old one', async () => {
    const parts = rig();
    const api = publicApi(parts);
    await api.inject({ url: '/status.json' });
    await parts.clock.advance(6 * 60 * MINUTE_MS);
    const isAsked = new Promise<void>((resolve) => {
      parts.state.onSlow = resolve;
    });
    const asked = api.inject({ url: '/status' });
    await isAsked;
    await parts.clock.advance(3_000);
    expect((await asked).body).toContain('days and incidents are those of 2026-11-20 01:00:00 UTC.');
    const body = (await api.inject({ url: '/status.json' })).json<StatusBody>();
    expect(body).toMatchObject({ history_as_of: '2026-11-20T01:00:00.000+00:00', history_is_old: true });
  });

  it('before the store has ever answered is only what memory knows', async () => {
    const parts = rig();
    parts.state.fails = true;
    const body = (await publicApi(parts).inject({ url: '/status.json' })).json<StatusBody>();
    expect(body).toMatchObject({ state: 'degraded', history_as_of: null, series: [], incidents: [] });
  });

  it('says how far the store is behind, and why the service does not work', async () => {
    const late = { ...idleLive, storeLagMs: () => 7_400 };
    const page = await publicApi(rig(), late).inject({ url: '/status' });
    expect(page.body).toContain('Works with faults');
    expect(page.body).toContain('Stored data is 7 s behind');
    const down = { ...idleLive, ready: () => ({ ok: false, reasons: ['the disk is full'], degraded: [] }) };
    const body = (await publicApi(rig(), down).inject({ url: '/status.json' })).json<StatusBody>();
    expect(body.state).toBe('down');
    // Reasons are for the operator: they may name paths and addresses.
    expect(JSON.stringify(body)).not.toContain('disk');
  });

  it('does not call a source down that is requested on demand and was not needed yet', async () => {
    const parts = rig();
    const source = parts.metrics.venueFeeds.join({ feed: 'polymarket.crypto_price', kind: 'requests' });
    const api = publicApi(parts);
    const stateOf = async () =>
      (await api.inject({ url: '/status.json' }))
        .json<StatusBody>()
        .feeds.find(({ feed }) => feed === 'polymarket.crypto_price')?.state;
    expect(await stateOf()).toBe('idle');
    expect((await api.inject({ url: '/status' })).body).toContain('<td class="soft">not needed yet</td>');
    source.failed('HTTP 403', NOW_MS);
    await parts.clock.advance(2_000);
    expect(await stateOf()).toBe('down');
  });

  it('as a page runs no script, and its style sheet is the one that its policy names', async () => {
    const page = await publicApi(rig()).inject({ url: '/status' });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+';/,
    );
    expect(page.body).not.toContain('<script');
    expect(page.body).not.toContain('style="');
    expect(page.body).toContain('BTC 5m');
  });
});

describe('the status page', () => {
  it('is for the operator unless it is public: its address leads to where one must be signed in', async () => {
    const { store } = rig();
    const api = uncheckedApi({ store });
    const answer = await api.inject({ url: '/status' });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/app/status']);
    expect((await api.inject({ url: '/app/status' })).statusCode).toBe(401);
    expect((await api.inject({ url: '/app/status.json' })).statusCode).toBe(401);
  });

  it('can be switched off', async () => {
    const { store } = rig();
    const answer = await uncheckedApi({ store, statusPage: 'off' }).inject({ url: '/status.json' });
    expect(answer.statusCode).toBe(404);
  });
});
