import { describe, expect, onTestFinished, test } from 'vitest';
import { testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../test/support/followed.ts';
import { type Asked, STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { allRoutes } from '../api/routes.ts';
import type { Tier } from '../schema/tier.ts';
import { HistoryWindow } from './history.ts';

const clock = new FakeClock();
const DAY_MS = 86_400_000;
const iso = (timeMs: number) => new Date(timeMs).toISOString();
/** 31 days ago. */
const earliestMs = clock.now() - 31 * DAY_MS;
const inside = iso(earliestMs);
/** The earliest time within the minute of grace, and the latest time before it. */
const graced = iso(earliestMs - 60_000);
const outside = iso(earliestMs - 60_001);

function api(tier: Tier, asked: Asked[] = []) {
  const identity = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier };
  const app = testApi({
    store: stubStore({ asked }),
    clock,
    accounts: {
      moment: () => 0,
      maintenance: () => null,
      authenticate: () => identity,
      signedIn: async () => null,
    },
  });
  onTestFinished(() => app.close());
  return app;
}

/** Every operation that reads a range of recorded time, with its start parameter. */
const RANGES: readonly (readonly [url: string, name: string])[] = [
  ['/v1/perp/depth?ticker=BTC', 'start'],
  ['/v1/markets?', 'since'],
  ['/v1/markets/resolved?', 'since'],
  [`/v1/markets/${STUB_MARKET}/timeseries?`, 'start'],
  [`/v1/snapshots?market_id=${STUB_MARKET}`, 'start'],
  [`/v1/trades?market_id=${STUB_MARKET}`, 'start'],
  ['/v1/underlying?ticker=BTC&source=binance_spot', 'start'],
  [`/v1/candles?market_id=${STUB_MARKET}&timeframe=5m&end=2026-11-20`, 'start'],
  ['/v1/stats/calibration?', 'since'],
  [`/v1/gaps?market_id=${STUB_MARKET}`, 'start'],
  [`/v1/export?dataset=trades&market_id=${STUB_MARKET}`, 'start'],
  [`/v1/export/manifest?dataset=trades&market_id=${STUB_MARKET}`, 'start'],
  ['/v1/tapes/markets?ticker=BTC&event_type=5m', 'start'],
];
const MOMENTS = [
  [(at: string) => `/v1/snapshot-at/${at}?market_id=${STUB_MARKET}`, 'ts'],
  [(at: string) => `/v1/markets/${STUB_MARKET}/orderbook?at=${at}`, 'at'],
] as const;

test('the table has every parameter that gives a start or a time', () => {
  const declared = allRoutes(FOLLOWED as never)
    .filter(({ path, mirrors, socket }) => path.startsWith('/v1/') && mirrors === undefined && !socket)
    .flatMap(({ pathFields, queryFields }) => Object.keys({ ...pathFields, ...queryFields }))
    .filter((name) => ['start', 'since', 'at', 'ts', 'from', 'after'].includes(name));
  // Tapes, which require a start, have a test of their own below.
  expect(declared).toHaveLength(RANGES.length + MOMENTS.length + 1);
});

const refusal = (name: string) => ({
  detail: `${name} is before the history window of your tier; the earliest allowed time is ${inside.replace('Z', '+00:00')}, with one minute of grace`,
});

describe.each(RANGES)('%s', (url, name) => {
  test(`${name} before the window gets 403 with the earliest allowed time, which is then accepted`, async () => {
    const asked: Asked[] = [];
    const app = api('pro', asked);
    const refused = await app.inject({ url: `${url}&${name}=${outside}` });
    expect([refused.statusCode, refused.json()]).toEqual([403, refusal(name)]);
    expect(asked).toEqual([]);
    for (const allowed of [inside, graced]) {
      expect((await app.inject({ url: `${url}&${name}=${allowed}` })).statusCode, allowed).toBe(200);
    }
    expect(JSON.stringify(asked)).toContain(String(Date.parse(graced)));
  });

  test(`${name} is unlimited without a window`, async () => {
    expect((await api('premium').inject({ url: `${url}&${name}=2020-01-01` })).statusCode).toBe(200);
  });

  // Candles require a start.
  if (url.includes('candles')) return;
  const end = name === 'since' ? 'until' : 'end';
  test(`no ${name}, and ${end} before the window, gets 403 with the earliest allowed time, which is then accepted`, async () => {
    const asked: Asked[] = [];
    const app = api('pro', asked);
    const refused = await app.inject({ url: `${url}&${end}=${outside}` });
    expect([refused.statusCode, refused.json()]).toEqual([403, refusal(end)]);
    expect(asked).toEqual([]);
    expect((await app.inject({ url: `${url}&${end}=${inside}` })).statusCode).toBe(200);
    expect((await api('premium').inject({ url: `${url}&${end}=2020-01-01` })).statusCode).toBe(200);
  });

  test(`no ${name} means the earliest allowed`, async () => {
    const [left, given]: [Asked[], Asked[]] = [[], []];
    await api('pro', left).inject({ url });
    await api('pro', given).inject({ url: `${url}&${name}=${inside}` });
    expect(left).toEqual(given);
    const unbounded: Asked[] = [];
    await api('premium', unbounded).inject({ url });
    expect(unbounded).not.toEqual(given);
  });
});

test('a tape before the window is 403', async () => {
  const url = (at: string) => `/v1/tapes?dataset=trades&market_id=${STUB_MARKET}&start=${at}&end=2030-01-01`;
  const refused = await api('pro').inject({ url: url(outside) });
  expect([refused.statusCode, refused.json()]).toEqual([403, refusal('start')]);
  expect((await api('pro').inject({ url: url(inside) })).statusCode).toBe(200);
  expect((await api('premium').inject({ url: url('2020-01-01') })).statusCode).toBe(200);
});

test.each([
  ['no end', null, false, earliestMs],
  ['an end in the window', earliestMs + 5, false, earliestMs],
  ['an end just before the window, within the grace', earliestMs - 5, false, earliestMs - 5],
  ['an end that left the window since the first page', earliestMs - DAY_MS, true, earliestMs - DAY_MS],
])(
  'a range without a start begins with the window, but never after its own end: %s',
  (_name, endMs, resumed, first) => {
    const history = new HistoryWindow({ history_days: 31 }, clock.now());
    expect(history.range({ startMs: null, endMs }, { resumed })).toBe(first);
  },
);

test('plus reads 60 days', async () => {
  const at = (timeMs: number) => `/v1/perp/depth?ticker=BTC&start=${iso(timeMs)}`;
  const app = api('plus');
  expect((await app.inject({ url: at(clock.now() - 59 * DAY_MS) })).statusCode).toBe(200);
  expect((await app.inject({ url: at(clock.now() - 61 * DAY_MS) })).statusCode).toBe(403);
});

describe.each(MOMENTS)('%s', (url, name) => {
  test('before the window is 403', async () => {
    const refused = await api('pro').inject({ url: url(outside) });
    expect([refused.statusCode, refused.json()]).toEqual([403, refusal(name)]);
    // Within the minute of grace the snapshot in force decides, as the next test shows.
    expect((await api('pro').inject({ url: url(graced) })).json()).not.toEqual(refusal(name));
    expect((await api('pro').inject({ url: url(iso(clock.now())) })).statusCode).toBe(200);
    expect((await api('premium').inject({ url: url('2020-01-01') })).statusCode).toBe(200);
  });

  test('a snapshot in force since before the window is 403, even at a time inside it', async () => {
    const later = new FakeClock(clock.now() + 40 * DAY_MS);
    const identity = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier: 'free' as const };
    const access = { moment: () => 0, maintenance: () => null, signedIn: async () => null };
    const app = testApi({
      store: stubStore(),
      clock: later,
      accounts: { ...access, authenticate: () => identity },
    });
    onTestFinished(() => app.close());
    const refused = await app.inject({ url: url(iso(later.now())) });
    expect(refused.statusCode).toBe(403);
    expect(refused.json().detail).toMatch(/^the snapshot in force is before the history window/);
  });
});

test('a cursor continues while the window moves, and never reads before the window', async () => {
  const asked: Asked[] = [];
  const moving = new FakeClock();
  const identity = { keyId: 'key_1', userId: 'usr_1', email: 'a@example.com', tier: 'free' as const };
  const key: [string, string] = ['1792497600000', '1'];
  const app = testApi({
    store: stubStore({ asked, page: { found: 2, first: key, last: key, revision: '0' } }),
    clock: moving,
    accounts: {
      moment: () => 0,
      maintenance: () => null,
      authenticate: () => identity,
      signedIn: async () => null,
    },
  });
  onTestFinished(() => app.close());
  const url = `/v1/perp/depth?ticker=BTC&limit=1&start=${inside}`;
  const { next_cursor: cursor } = (await app.inject({ url })).json();
  expect(cursor).toEqual(expect.any(String));
  await moving.advance(DAY_MS);
  expect((await app.inject({ url })).statusCode).toBe(403);
  asked.length = 0;
  expect((await app.inject({ url: `${url}&cursor=${cursor}` })).statusCode).toBe(200);
  expect(JSON.stringify(asked)).toContain(String(earliestMs + DAY_MS));
  const whole = `/v1/perp/depth?ticker=BTC&limit=1&end=${iso(earliestMs + 2 * DAY_MS)}`;
  const rest = (await app.inject({ url: whole })).json().next_cursor;
  await moving.advance(2 * DAY_MS);
  expect((await app.inject({ url: whole })).statusCode).toBe(403);
  expect((await app.inject({ url: `${whole}&cursor=${rest}` })).statusCode).toBe(200);
});
