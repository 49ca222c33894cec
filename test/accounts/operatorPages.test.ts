import { describe, expect, it } from 'vitest';
import { DEFAULT_TIERS } from '../../src/accounts/users/tiers.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Gap } from '../../src/schema/gap.ts';
import { idleLive, marketRecord, nothingFollowed } from '../support/api.ts';
import { openDashboard } from '../support/dashboard.ts';

const NEWEST_MS = Date.UTC(2026, 10, 20, 12);
const GAP: Gap = {
  ...{ gapId: 'gap_1', marketId: '0xa', startTimeMs: NEWEST_MS, endTimeMs: null, cause: 'silent_feed' },
  ...{ startReceivedMs: NEWEST_MS, endReceivedMs: null },
  ...{ feed: 'polymarket.clob', repairedBy: null, knownTimeMs: NEWEST_MS, knownSeq: 1 },
};

describe('the state of the feeds', () => {
  it('lists each connection with its newest message, the gaps of its markets, and unknown versions', async () => {
    const metrics = new Metrics();
    const clob = (group: string) =>
      metrics.venueFeeds.join({ feed: 'polymarket.clob', group, kind: 'socket' });
    Object.assign(clob('BTC-5m'), { isUp: true, lastMessageMs: NEWEST_MS });
    clob('ETH-5m').failed('x'.repeat(300), NEWEST_MS);
    const live = {
      ...idleLive,
      openGaps: () => [
        { ...GAP, gapId: 'gap_2', marketId: '0xunknown', startTimeMs: NEWEST_MS + 5 },
        GAP,
        { ...GAP, gapId: 'gap_3', feed: 'underround', startTimeMs: NEWEST_MS + 9 },
      ],
      priceSources: () => [
        { source: 'polybolt' as const, state: 'no_credentials' as const, lastMs: null, missing: 'set them' },
        { source: 'rtds' as const, state: 'live' as const, lastMs: NEWEST_MS, missing: null },
      ],
      followed: {
        ...nothingFollowed,
        market: (marketId: string) =>
          marketId === '0xa' ? marketRecord({ marketId, ticker: 'BTC', eventType: '5m' }) : null,
      },
    };
    for (const market of ['0x1', '0x2', '0x1'])
      metrics.unknownVersions.note({ where: 'frame', version: 'v3', market, timeMs: NEWEST_MS });
    const { signedUp } = await openDashboard({ metrics, live });
    const operator = await signedUp('op@example.com');
    const answer = await operator.ask('GET', '/app/feeds');
    const ofBtc = { ticker: 'BTC', event_type: '5m', cause: 'silent_feed' };
    expect(answer.json()).toMatchObject({
      feeds: [
        {
          ...{
            feed: 'polymarket.clob',
            group: 'BTC-5m',
            kind: 'socket',
            connections: 1,
            up: 1,
            gaps_open: 1,
          },
          ...{ last_message_at: '2026-11-20T12:00:00.000+00:00', failures: 0, last_failure: null },
        },
        { group: 'ETH-5m', up: 0, last_message_at: null, last_failure: 'x'.repeat(200), gaps_open: 0 },
      ],
      gaps: [
        { gap_id: 'gap_1', ...ofBtc },
        { gap_id: 'gap_2', ticker: null, event_type: null },
        { gap_id: 'gap_3', feed: 'underround', ...ofBtc },
      ],
      unknown_versions: [
        {
          ...{ where: 'frame', version: 'v3', markets: 2, newest_market: '0x2' },
          last_at: '2026-11-20T12:00:00.000+00:00',
        },
      ],
      price_sources: [
        { source: 'polybolt', state: 'no_credentials', last_at: null, missing: 'set them' },
        { source: 'rtds', state: 'live', last_at: '2026-11-20T12:00:00.000+00:00', missing: null },
      ],
    });
    const user = await signedUp('a@example.com');
    expect((await user.ask('GET', '/app/feeds')).json()).toEqual({ detail: 'Only an operator may do this' });
  });
});

describe('the state of the feeds of a cluster', () => {
  it('has the rows of each collector with its name, and none of the process that answers', async () => {
    const metrics = new Metrics();
    metrics.venueFeeds.join({ feed: 'of this process', kind: 'socket' });
    const feed = {
      ...({ feed: 'polymarket.clob', group: null, kind: 'socket', connections: 2, up: 1 } as const),
      ...{ lastMessageMs: NEWEST_MS, sinceMs: null, failures: 1 },
      lastFailure: { cause: 'closed 1006', timeMs: NEWEST_MS },
    };
    const version = { where: 'frame', version: 'v3', markets: 2, newestMarket: '0x2', lastTimeMs: NEWEST_MS };
    const source = { source: 'rtds', state: 'live', lastMs: NEWEST_MS, missing: null } as const;
    const live = {
      ...idleLive,
      openGaps: () => [GAP],
      collectors: () => [
        { name: 'c1', feeds: [feed], unknownVersions: [version], priceSources: [source] },
        { name: 'c2', feeds: [{ ...feed, up: 2 }], unknownVersions: [], priceSources: [] },
      ],
    };
    const { signedUp } = await openDashboard({ metrics, live });
    const operator = await signedUp('op@example.com');
    const { feeds, unknown_versions, price_sources } = (await operator.ask('GET', '/app/feeds')).json();
    const at = '2026-11-20T12:00:00.000+00:00';
    const row = {
      ...{ feed: 'polymarket.clob', group: null, kind: 'socket', connections: 2, last_message_at: at },
      ...{ failures: 1, last_failure: 'closed 1006', last_failure_at: at, gaps_open: 1 },
    };
    expect(feeds).toEqual([
      { collector: 'c1', ...row, up: 1 },
      { collector: 'c2', ...row, up: 2 },
    ]);
    expect(unknown_versions).toEqual([
      { collector: 'c1', where: 'frame', version: 'v3', markets: 2, newest_market: '0x2', last_at: at },
    ]);
    expect(price_sources).toEqual([
      { collector: 'c1', source: 'rtds', state: 'live', last_at: at, missing: null },
    ]);
  });
});

describe('the drift of the venues', () => {
  it('lists each finding with its times, its count and a sample, for the operator alone', async () => {
    const metrics = new Metrics();
    const subject = {
      category: 'unknown_field',
      feed: 'polymarket.clob',
      kind: 'book',
      key: 'depth',
    } as const;
    metrics.venueDrift.note(subject, NEWEST_MS, () => 7);
    metrics.venueDrift.note(subject, NEWEST_MS + 1_500, () => 8);
    const { signedUp } = await openDashboard({ metrics });
    const operator = await signedUp('op@example.com');
    const times = { first_seen: '2026-11-20T12:00:00.000+00:00', last_seen: '2026-11-20T12:00:01.500+00:00' };
    expect((await operator.ask('GET', '/app/drift')).json().findings).toEqual([
      { ...subject, ...times, count: 2, sample: '7' },
    ]);
  });
});

describe('the tiers', () => {
  it('are those of this service, not the defaults', async () => {
    const tiers = { ...DEFAULT_TIERS, free: { ...DEFAULT_TIERS.free, webhooks: true, history_days: null } };
    const { signedUp, browser } = await openDashboard({ tiers });
    const user = await signedUp('a@example.com');
    expect((await user.ask('GET', '/app/tiers')).json()).toEqual({ tiers });
    expect(await browser().status('GET', '/app/tiers')).toBe(401);
  });
});
