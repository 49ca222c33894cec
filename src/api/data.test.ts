import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { EMPTY, M, MINUTE, T0, writeDataSet } from '../../test/support/apiDataSet.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import {
  candlesShape,
  gapsShape,
  marketListShape,
  marketShape,
  orderbookShape,
  snapshotsShape,
  timeseriesShape,
  tradesShape,
  underlyingShape,
} from '../schema/api/resources.ts';

let opened: TestStore;
let app: FastifyInstance;

beforeAll(async () => {
  opened = await openTestStore();
  writeDataSet(opened.store.writer);
  await opened.store.writer.flush();
  app = testApi({ store: opened.store, clock: new FakeClock(T0 + 60 * MINUTE) });
});
afterAll(async () => {
  await app?.close();
  await opened?.dispose();
});

async function get(url: string): Promise<{ status: number; body: never }> {
  const response = await app.inject({ url, headers: KEY });
  return { status: response.statusCode, body: response.json() as never };
}

const level = (price: number, size: number) => ({ price, size });
const SNAPSHOTS = [
  {
    ts: '2026-11-20T12:00:00.000+00:00',
    yes_bids: [level(0.5, 1), level(0.49, 2.5)],
    yes_asks: [level(0.53, 80)],
    no_bids: [level(0.47, 80)],
    no_asks: [level(0.5, 1), level(0.51, 2.5)],
    underlying_price: 97_000.12,
    underlying_ticker: 'BTC',
    trusted: true,
  },
  {
    ts: '2026-11-20T12:00:00.000+00:00',
    yes_bids: [level(0.5, 1)],
    yes_asks: [],
    no_bids: [],
    no_asks: [level(0.5, 1)],
    underlying_price: null,
    underlying_ticker: 'BTC',
    trusted: true,
  },
  {
    ts: '2026-11-20T12:00:01.000+00:00',
    yes_bids: [level(0.999, 1.234567)],
    yes_asks: [level(0.9991, 0.000003)],
    no_bids: [level(0.01, 5)],
    no_asks: [],
    underlying_price: null,
    underlying_ticker: 'BTC',
    trusted: false,
  },
];

describe('/v1/snapshots', () => {
  test('returns every change: mirrored and not, one-sided, with fine and coarse sizes', async () => {
    const { status, body } = await get(`/v1/snapshots?market_id=${M}`);
    expect(status).toBe(200);
    expect(body).toEqual({ market_id: M, count: 3, snapshots: SNAPSHOTS, next_cursor: null });
    snapshotsShape.parse(body);
  });

  test.each([
    ['start is included, end is not', `start=${iso(0)}&end=${iso(1000)}`, [0, 1]],
    ['a start between two milliseconds is rounded up', 'start=2026-11-20T12:00:00.000001Z', [2]],
    ['desc reverses', 'order=desc', [2, 1, 0]],
    ['the earliest in the range', 'limit=1', [0]],
    ['desc selects the latest', 'limit=1&order=desc', [2]],
    ['the last state of each second', 'interval_ms=1000', [1, 2]],
    ['the last state of each second, newest first', 'interval_ms=1000&order=desc', [2, 1]],
    ['nothing there', 'end=2020-01-01', []],
    ['an empty range', `start=${iso(0)}&end=${iso(0)}`, []],
    ['bounds outside the time range of the engine', 'start=0001-01-01&end=9999-12-31', [0, 1, 2]],
  ])('%s', async (_name, query, expected) => {
    const { body } = await get(`/v1/snapshots?market_id=${M}&${query}`);
    expect(body).toMatchObject({
      count: expected.length,
      snapshots: expected.map((index) => SNAPSHOTS[index]),
    });
  });

  test('depth limits every ladder to its best levels', async () => {
    const { body } = await get(`/v1/snapshots?market_id=${M}&depth=1&limit=1`);
    expect(body).toMatchObject({
      snapshots: [{ ...SNAPSHOTS[0], yes_bids: [level(0.5, 1)], no_asks: [level(0.5, 1)] }],
    });
  });

  test('a limit of 0 counts rows and returns none', async () => {
    expect((await get(`/v1/snapshots?market_id=${M}&limit=0`)).body).toEqual({
      market_id: M,
      count: 3,
      snapshots: [],
      next_cursor: null,
    });
    expect((await get(`/v1/snapshots?market_id=${M}&limit=0&interval_ms=1000`)).body).toMatchObject({
      count: 2,
    });
  });

  test.each(['', '&order=desc', '&interval_ms=1000', '&interval_ms=1000&order=desc'])(
    'cursors visit every row once, even within one millisecond%s',
    async (query) => {
      const all = (await get(`/v1/snapshots?market_id=${M}${query}`)).body as { snapshots: unknown[] };
      const walked: unknown[] = [];
      let cursor = '';
      for (let page = 0; page < 5; page++) {
        const { body } = await get(`/v1/snapshots?market_id=${M}${query}&limit=1${cursor}`);
        const { snapshots, next_cursor: next } = body as { snapshots: unknown[]; next_cursor: string | null };
        walked.push(...snapshots);
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      expect(walked).toEqual(all.snapshots);
    },
  );
});

test('/v1/snapshot-at and /orderbook return the last book at or before a time', async () => {
  const at = (query: string) => get(`/v1/snapshot-at/${query}?market_id=${M}`);
  expect((await at(iso(999))).body).toEqual({ market_id: M, ...SNAPSHOTS[1] });
  expect((await at(iso(1000))).body).toEqual({ market_id: M, ...SNAPSHOTS[2] });
  expect(await at(iso(-1))).toEqual({ status: 404, body: { detail: 'No snapshot at or before this time' } });
  expect(await at('yesterday')).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'ts'] }] } });
  const newest = await get(`/v1/markets/${M}/orderbook`);
  expect(newest.body).toEqual({ market_id: M, ...SNAPSHOTS[2] });
  orderbookShape.parse(newest.body);
  expect((await get(`/v1/markets/${M}/orderbook?at=${iso(0)}`)).body).toEqual({
    market_id: M,
    ...SNAPSHOTS[1],
  });
});

describe('/v1/markets/{market_id}/timeseries', () => {
  const point = (
    ts: string,
    mid: number | null,
    spread: number | null,
    underlying: number | null = 97_000.12,
  ) => ({
    ts,
    mid_yes: mid,
    spread_yes: spread,
    underlying_price: underlying,
  });
  const POINTS = [
    point('2026-11-20T12:00:00.000+00:00', 0.515, 0.03),
    point('2026-11-20T12:00:00.000+00:00', null, null, null),
    point('2026-11-20T12:00:01.000+00:00', null, null),
    point('2026-11-20T12:00:02.500+00:00', 0.535, 0.03),
    point('2026-11-20T12:04:00.000+00:00', 0.405, 0.01),
    point('2026-11-20T12:12:00.000+00:00', 0.61, 0.02),
  ];

  test('one point for each change of YES, null while one-sided or untrusted', async () => {
    const { body } = await get(`/v1/markets/${M}/timeseries`);
    expect(body).toEqual({
      market: { market_id: M, market_type: '5m' },
      snapshots: POINTS,
      total: 6,
      limit: 100,
      offset: 0,
      next_cursor: null,
    });
    timeseriesShape.parse(body);
  });

  test('offset and cursor return the same pages, and the total does not change', async () => {
    let cursor = '';
    for (let offset = 0; offset < 6; offset += 2) {
      const byOffset = (await get(`/v1/markets/${M}/timeseries?limit=2&offset=${offset}`)).body as Paged;
      const byCursor = (await get(`/v1/markets/${M}/timeseries?limit=2&offset=99${cursor}`)).body as Paged;
      if (offset > 0) expect(byCursor.snapshots).toEqual(byOffset.snapshots);
      expect(byOffset).toMatchObject({
        total: 6,
        limit: 2,
        offset,
        snapshots: POINTS.slice(offset, offset + 2),
      });
      cursor = `&cursor=${byOffset.next_cursor}`;
    }
    expect(cursor).toBe('&cursor=null');
    expect((await get(`/v1/markets/${M}/timeseries?offset=6`)).body).toMatchObject({
      total: 6,
      snapshots: [],
    });
  });

  test('a market without quotes has no points', async () => {
    expect((await get(`/v1/markets/${EMPTY}/timeseries`)).body).toEqual({
      market: { market_id: EMPTY, market_type: '15m' },
      snapshots: [],
      total: 0,
      limit: 100,
      offset: 0,
      next_cursor: null,
    });
  });
});

interface Paged {
  snapshots: unknown[];
  next_cursor: string | null;
}

describe('/v1/candles', () => {
  const candle = (ts: string, ohlc: readonly number[], volume: number, count: number) => {
    const [open, high, low, close] = ohlc;
    return { ts, open, high, low, close, volume, trade_count: count };
  };
  const url = `/v1/candles?market_id=${M}&timeframe=5m`;
  const CANDLES = [
    candle('2026-11-20T12:00:00.000+00:00', [0.515, 0.535, 0.405, 0.405], 13.5, 2),
    // Only trades: the last earlier mid is used.
    candle('2026-11-20T12:05:00.000+00:00', [0.405, 0.405, 0.405, 0.405], 2, 1),
    candle('2026-11-20T12:10:00.000+00:00', [0.61, 0.61, 0.61, 0.61], 0, 0),
  ];

  test('aggregates mids and trades into buckets aligned to UTC', async () => {
    const { body } = await get(`${url}&start=2026-11-20&end=2026-11-21`);
    expect(body).toEqual({ market_id: M, timeframe: '5m', count: 3, candles: CANDLES, next_cursor: null });
    candlesShape.parse(body);
  });

  test.each([
    [
      'the day',
      'timeframe=24h&start=2026-11-20&end=2026-11-21',
      [candle('2026-11-20T00:00:00.000+00:00', [0.515, 0.61, 0.405, 0.61], 15.5, 3)],
    ],
    [
      'a carried mid from before the range',
      `timeframe=5m&start=${iso(5 * MINUTE)}&end=${iso(10 * MINUTE)}`,
      [CANDLES[1]],
    ],
    [
      'rows outside the range do not count',
      `timeframe=5m&start=${iso(501)}&end=${iso(1000)}`,
      [candle('2026-11-20T12:00:00.000+00:00', [0.515, 0.515, 0.515, 0.515], 1, 1)],
    ],
    ['nothing in the range', 'timeframe=1h&start=2026-11-19&end=2026-11-20', []],
  ])('%s', async (_name, query, candles) => {
    const { body } = await get(`/v1/candles?market_id=${M}&${query}`);
    expect(body).toMatchObject({ count: candles.length, candles });
  });

  test('is paged from the earliest by cursor', async () => {
    const first = (await get(`${url}&start=2026-11-20&end=2026-11-21&limit=2`)).body as Candles;
    expect(first.candles).toEqual(CANDLES.slice(0, 2));
    const second = await get(`${url}&start=2026-11-20&end=2026-11-21&limit=2&cursor=${first.next_cursor}`);
    expect(second.body).toMatchObject({ candles: CANDLES.slice(2), next_cursor: null });
    expect((await get(`${url}&start=2026-11-20&end=2026-11-21&limit=0`)).body).toMatchObject({
      count: 3,
      candles: [],
    });
  });
});

interface Candles {
  candles: unknown[];
  next_cursor: string | null;
}

test('/v1/markets lists the newest record of each market, newest end first', async () => {
  const resolved = {
    market_id: M,
    event_id: '1',
    slug: 'btc-updown-5m-1795176000',
    question: 'Bitcoin Up or Down?',
    market_type: '5m',
    ticker: 'BTC',
    status: 'resolved',
    start_time: '2026-11-20T12:00:00.000+00:00',
    end_time: '2026-11-20T12:05:00.000+00:00',
    strike_price: 96_990.25,
    strike_source: 'official',
    close_price: 97_001,
    outcome: 'Up',
    payout_yes: 1,
    // One second of five minutes is in a gap; another gap began after these minutes.
    coverage: 0.996667,
    resolved_at: '2026-11-20T12:06:00.000+00:00',
    resolved_at_source: 'stream',
    volume: 1234.5,
    liquidity: null,
    tick_size: 0.01,
    taker_fee_rate: 0.07,
    taker_delay_ms: 250,
    polymarket_url: 'https://polymarket.com/event/btc-updown-5m-1795176000',
  };
  const one = await get(`/v1/markets/${M}`);
  expect(one.body).toEqual(resolved);
  marketShape.parse(one.body);
  const list = (await get('/v1/markets')).body as { markets: { market_id: string }[] };
  marketListShape.parse(list);
  expect(list.markets.map((market) => market.market_id)).toEqual([EMPTY, M]);
  // Without a delay of its own, a market has the one in force when its window opens.
  expect(list.markets[0]).toMatchObject({ taker_delay_ms: 150 });
  expect((await get(`/v1/markets/${EMPTY}`)).body).toMatchObject({ taker_delay_ms: 150 });
  expect((await get('/v1/markets/resolved')).body).toEqual({
    markets: [resolved],
    count: 1,
    next_cursor: null,
  });
});

test.each([
  ['ticker=ETH', [EMPTY]],
  ['event_type=5m', [M]],
  ['status=open', [EMPTY]],
  [`since=${iso(15 * MINUTE)}`, [EMPTY]],
  [`until=${iso(15 * MINUTE)}`, [M]],
  ['status=closed', []],
])('/v1/markets?%s', async (query, ids) => {
  const { body } = await get(`/v1/markets?${query}`);
  expect((body as { markets: { market_id: string }[] }).markets.map((market) => market.market_id)).toEqual(
    ids,
  );
});

test('/v1/markets pages by cursor', async () => {
  const first = (await get('/v1/markets?limit=1')).body as {
    markets: { market_id: string }[];
    next_cursor: string;
  };
  expect(first.markets[0]?.market_id).toBe(EMPTY);
  expect((await get(`/v1/markets?limit=1&cursor=${first.next_cursor}`)).body).toMatchObject({
    markets: [{ market_id: M }],
    next_cursor: null,
  });
  expect((await get('/v1/markets?limit=0')).body).toEqual({ markets: [], count: 2, next_cursor: null });
});

test('/v1/trades, /v1/underlying and /v1/gaps', async () => {
  const trades = (await get(`/v1/trades?market_id=${M}&limit=2`)).body as { next_cursor: string };
  expect(trades).toEqual({
    market_id: M,
    count: 2,
    trades: [
      { ts: '2026-11-20T12:00:00.500+00:00', side: 'BUY_YES', price: 0.53, size: 12.5, trade_id: 't500' },
      { ts: '2026-11-20T12:00:00.501+00:00', side: 'SELL_NO', price: 0.47, size: 1, trade_id: 't501' },
    ],
    next_cursor: expect.any(String),
  });
  tradesShape.parse(trades);
  expect((await get(`/v1/trades?market_id=${M}&cursor=${trades.next_cursor}`)).body).toMatchObject({
    count: 1,
  });
  const underlying = (await get('/v1/underlying?ticker=BTC&source=chainlink')).body;
  expect(underlying).toEqual({
    ticker: 'BTC',
    source: 'chainlink',
    count: 1,
    points: [{ ts: '2026-11-20T12:00:00.010+00:00', price: 97_000.12 }],
    next_cursor: null,
  });
  underlyingShape.parse(underlying);
  const gaps = (await get(`/v1/gaps?market_id=${M}&limit=1`)).body as { next_cursor: string };
  gapsShape.parse(gaps);
  expect(gaps).toMatchObject({
    count: 1,
    gaps: [{ gap_id: 'gap_1', start: '2026-11-20T12:00:01.000+00:00' }],
  });
  expect((await get(`/v1/gaps?market_id=${M}&cursor=${gaps.next_cursor}`)).body).toMatchObject({
    gaps: [{ gap_id: 'gap_2', end: null, cause: 'disconnected' }],
  });
  for (const [start, count] of [
    [2000, 1],
    [2001, 0],
  ] as const) {
    const range = `start=${iso(start)}&end=${iso(9000)}`;
    expect((await get(`/v1/gaps?market_id=${M}&${range}`)).body).toMatchObject({ count });
  }
});

test.each([
  `/v1/snapshots?market_id=${EMPTY.slice(0, -1)}`,
  '/v1/snapshots?market_id=%00%27%5C',
  '/v1/markets/nope',
  '/v1/markets/nope/timeseries',
  `/v1/markets/${'x'.repeat(5000)}/timeseries`,
  '/v1/candles?market_id=zzz&timeframe=5m&start=2026-01-01&end=2026-01-02',
  '/v1/trades?market_id=',
  '/v1/gaps?market_id=nope',
  '/v1/snapshot-at/2026-01-01?market_id=nope',
  '/v1/markets/nope/orderbook',
])('an unknown market is 404: %#', async (url) => {
  expect(await get(url)).toEqual({ status: 404, body: { detail: 'Market not found' } });
});

test.each([
  ['broken', 'nonsense!'],
  ['empty', ''],
  ['cut', 'OGZhYjU3MTM2'],
])('a %s cursor is 400', async (_name, cursor) => {
  expect(await get(`/v1/snapshots?market_id=${M}&cursor=${cursor}`)).toEqual({
    status: 400,
    body: { detail: 'cursor is not valid for this query' },
  });
});

test('a cursor of another query is 400', async () => {
  const first = (await get(`/v1/snapshots?market_id=${M}&limit=1`)).body as Paged;
  for (const url of [
    `/v1/snapshots?market_id=${M}&order=desc`,
    `/v1/snapshots?market_id=${EMPTY}`,
    `/v1/trades?market_id=${M}`,
  ]) {
    expect((await get(`${url}&cursor=${first.next_cursor}`)).status).toBe(400);
  }
});

function iso(offsetMs: number): string {
  return new Date(T0 + offsetMs).toISOString();
}
