import { expect, test } from 'vitest';
import type { FeedRow } from '../runtime/venueFeedRegistry.ts';
import type { Gap } from '../schema/gap.ts';
import type { SeriesDay } from '../store/queries/quality.ts';
import type { QualityReading } from './qualityHistory.ts';
import { statusBody } from './statusBody.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 1);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

const EMPTY: QualityReading = { readMs: NOW_MS, failed: false, days: [], lags: [], incidents: [] };
const IDLE = {
  ...{ tickers: ['ETH', 'BTC'] as const, nowMs: NOW_MS, storeLagMs: 0, connections: [], openGaps: [] },
  readiness: { ok: true, reasons: [], degraded: [] },
};
type Now = Parameters<typeof statusBody>[1];

const bodyOf = (reading: Partial<QualityReading>, now: Partial<Now> = {}) =>
  statusBody({ ...EMPTY, ...reading }, { ...IDLE, ...now });

const feedRow = (facts: Partial<FeedRow>): FeedRow => ({
  ...{ feed: 'polymarket.clob', group: 'BTC-5m', kind: 'socket', connections: 1, up: 1 },
  ...{ lastMessageMs: NOW_MS, sinceMs: null, failures: 0, lastFailure: null, ...facts },
});

const feedsOf = (...collectors: readonly FeedRow[][]) =>
  bodyOf({}, { connections: collectors.map((feeds) => ({ feeds })) }).feeds;

const seriesDay = (facts: Partial<SeriesDay>): SeriesDay => ({
  ...{ ticker: 'BTC', eventType: '5m', day: '2026-11-20', windows: 12, windowMs: HOUR_MS },
  ...{ recordedMs: HOUR_MS, provenMs: HOUR_MS, gaps: 0, longestGapMs: 0, ...facts },
});

/** The given day of the first series. */
const dayOf = (day: string, days: readonly SeriesDay[], reading: Partial<QualityReading> = {}) =>
  bodyOf({ days, ...reading }).series[0]?.days.find((one) => one.day === day);

test('the state is degraded by more than two seconds of lag, an old history or a venue fault, down when not ready', () => {
  const degraded = { ...IDLE.readiness, degraded: ['binance is late'] };
  const notReady = { ...degraded, ok: false };
  const states = [
    ...[bodyOf({}), bodyOf({}, { storeLagMs: 2_000 }), bodyOf({}, { storeLagMs: 2_001 })],
    ...[bodyOf({ failed: true }), bodyOf({}, { readiness: degraded }), bodyOf({}, { readiness: notReady })],
  ].map(({ state, store_lag_seconds: seconds }) => [state, seconds]);
  expect(states).toEqual([
    ...[
      ['ok', 0],
      ['ok', 2],
      ['degraded', 2],
    ],
    ...[
      ['degraded', 0],
      ['degraded', 0],
      ['down', 0],
    ],
  ]);
  expect(bodyOf({}, { storeLagMs: 2_999 }).store_lag_seconds).toBe(2);
});

test('connections of several collectors add up by feed and group, and the newest message of all counts', () => {
  const [older, newer] = [NOW_MS - 5_000, NOW_MS - 1_000];
  const feeds = feedsOf(
    [feedRow({ connections: 2, up: 1, lastMessageMs: newer }), feedRow({ group: 'BTC-15m', up: 0 })],
    [feedRow({ lastMessageMs: older }), feedRow({ feed: 'binance', group: null, lastMessageMs: null })],
  );
  expect(feeds).toEqual([
    {
      ...{ feed: 'binance', group: null, state: 'up', connections: 1, up: 1 },
      ...{ last_message_at: null, gaps_open: 0 },
    },
    {
      ...{ feed: 'polymarket.clob', group: 'BTC-15m', state: 'down', connections: 1, up: 0 },
      ...{ last_message_at: '2026-11-20T01:00:00.000+00:00', gaps_open: 0 },
    },
    {
      ...{ feed: 'polymarket.clob', group: 'BTC-5m', state: 'partly', connections: 3, up: 2 },
      ...{ last_message_at: '2026-11-20T00:59:59.000+00:00', gaps_open: 0 },
    },
  ]);
});

test('a source requested on demand is idle only while no collector needed it', () => {
  const unused = feedRow({ kind: 'requests', up: 0, lastMessageMs: null });
  const failed = { ...unused, failures: 1 };
  const used = { ...unused, up: 1, lastMessageMs: NOW_MS };
  const stateOf = (...rows: readonly FeedRow[]) => feedsOf(...rows.map((row) => [row]))[0]?.state;
  expect(stateOf(unused)).toBe('idle');
  expect(stateOf(unused, unused)).toBe('idle');
  expect(stateOf(failed)).toBe('down');
  expect(stateOf(used, unused)).toBe('partly');
  expect(stateOf(unused, used)).toBe('partly');
  expect(stateOf(feedRow({ up: 0, lastMessageMs: null }))).toBe('down');
});

test('open gaps count for their feed', () => {
  const gaps = ['binance', 'polymarket.clob', 'polymarket.clob'].map((feed) => ({ feed }) as Gap);
  const connections = [{ feeds: [feedRow({}), feedRow({ feed: 'binance', group: null })] }];
  const { feeds } = bodyOf({}, { connections, openGaps: gaps });
  expect(feeds.map(({ feed, gaps_open }) => [feed, gaps_open])).toEqual([
    ['binance', 1],
    ['polymarket.clob', 2],
  ]);
});

test('series are in the order of the tickers and lengths, only those with windows, each with its own days', () => {
  const days = [
    seriesDay({ eventType: '15m', windows: 4 }),
    seriesDay({ windows: 11 }),
    seriesDay({ ticker: 'ETH', windows: 10 }),
  ];
  const { series } = bodyOf({ days });
  expect(series.map(({ ticker, event_type, days }) => [ticker, event_type, days.at(-1)?.windows])).toEqual([
    ['ETH', '5m', 10],
    ['BTC', '5m', 11],
    ['BTC', '15m', 4],
  ]);
  expect(series.map(({ days }) => [days.length, days[0]?.day, days.at(-1)?.day])).toEqual(
    series.map(() => [30, '2026-10-22', '2026-11-20']),
  );
});

test('of each length as many windows are expected as have ended on the day so far', () => {
  const lengths = ['5m', '15m', '1h', '4h'] as const;
  const days = lengths.map((eventType) => seriesDay({ eventType }));
  const expected = (nowMs: number) =>
    bodyOf({ days }, { nowMs }).series.map(({ days }) => days.slice(-2).map((day) => day.windows_expected));
  expect(expected(NOW_MS)).toEqual([
    [288, 12],
    [96, 4],
    [24, 1],
    [6, 0],
  ]);
  expect(expected(NOW_MS - 1)).toEqual([
    [288, 11],
    [96, 3],
    [24, 0],
    [6, 0],
  ]);
});

test('a day’s coverage is a share of the expected time, its proven share one of the recorded time', () => {
  const lost = seriesDay({ windows: 11, windowMs: 55 * MINUTE_MS, recordedMs: 54 * MINUTE_MS });
  expect(dayOf('2026-11-20', [{ ...lost, provenMs: 27 * MINUTE_MS, gaps: 2, longestGapMs: 89_500 }])).toEqual(
    {
      ...{ day: '2026-11-20', windows: 11, windows_expected: 12, coverage: 0.9, proven_share: 0.5 },
      ...{ gaps: 2, longest_gap_seconds: 90, lag_median_ms: null, lag_p99_ms: null },
    },
  );
  // More windows than the hour has so far: a market of another kind among them.
  const more = seriesDay({ windows: 24, windowMs: 2 * HOUR_MS, recordedMs: HOUR_MS });
  expect(dayOf('2026-11-20', [more])?.coverage).toBe(0.5);
  expect(dayOf('2026-11-20', [seriesDay({ recordedMs: 2 * HOUR_MS, provenMs: -1 })])).toMatchObject({
    ...{ coverage: 1, proven_share: 0 },
  });
  expect(dayOf('2026-11-19', [lost])).toEqual({
    ...{ day: '2026-11-19', windows: 0, windows_expected: 288, coverage: 0, proven_share: null },
    ...{ gaps: 0, longest_gap_seconds: 0, lag_median_ms: null, lag_p99_ms: null },
  });
});

test('the lag is that of the series and the day', () => {
  const lag = { ticker: 'BTC', eventType: '5m', day: '2026-11-20', medianMs: 41, p99Ms: 180 };
  const lags = [{ ...lag, ticker: 'ETH', medianMs: 1 }, { ...lag, day: '2026-11-19', medianMs: 2 }, lag];
  expect(dayOf('2026-11-20', [seriesDay({})], { lags })).toMatchObject({
    ...{ lag_median_ms: 41, lag_p99_ms: 180 },
  });
});

test('a daily window is expected once the day has ended, and covers its own length', () => {
  const daily = { eventType: 'daily_up_down', windows: 1 };
  const long = { windowMs: 25 * HOUR_MS, recordedMs: 20 * HOUR_MS, provenMs: 20 * HOUR_MS };
  const short = { windowMs: 23 * HOUR_MS, recordedMs: 23 * HOUR_MS, provenMs: 23 * HOUR_MS };
  const days = [
    seriesDay({ ...daily, ...long, day: '2026-11-18' }),
    seriesDay({ ...daily, ...short, day: '2026-11-20' }),
  ];
  expect(dayOf('2026-11-18', days)).toMatchObject({ windows_expected: 1, coverage: 0.8 });
  expect(dayOf('2026-11-19', days)).toMatchObject({ windows_expected: 1, coverage: 0 });
  expect(dayOf('2026-11-20', days)).toMatchObject({ windows_expected: 1, coverage: 1 });
  expect(dayOf('2026-11-20', days.slice(0, 1))).toMatchObject({ windows_expected: 0, coverage: null });
});
