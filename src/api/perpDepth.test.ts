import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { writeDataSet } from '../../test/support/apiDataSet.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { encodeCursor } from '../http/cursor.ts';
import { perpDepthShape } from '../schema/api/resources.ts';

let opened: TestStore;
let app: FastifyInstance;

beforeAll(async () => {
  opened = await openTestStore();
  writeDataSet(opened.store.writer);
  await opened.store.writer.flush();
  app = testApi({ store: opened.store });
});
afterAll(async () => {
  await app?.close();
  await opened?.dispose();
});

async function get(url: string): Promise<{ status: number; body: never }> {
  const response = await app.inject({ url, headers: KEY });
  return { status: response.statusCode, body: response.json() as never };
}

const cursorOf = (body: { readonly next_cursor: string | null }) => body.next_cursor;

test('returns the last row of each interval, and their number', async () => {
  const { body } = await get('/v1/perp/depth?ticker=BTC&interval_ms=60000&limit=1');
  expect(body).toMatchObject({ total: 1, snapshots: [{ best_bid: 97_000.2 }], next_cursor: null });
});

test('returns the last price of each interval', async () => {
  const whole = '/v1/underlying?ticker=BTC&source=chainlink';
  const all = (await get(whole)).body as { points: { ts: string; price: number }[] };
  const { body } = await get(`${whole}&interval_ms=86400000`);
  expect(body).toMatchObject({ count: 1, points: [all.points.at(-1)] });
});

test('returns rows as polled, with the total', async () => {
  const { body } = await get('/v1/perp/depth?ticker=BTC&limit=1&offset=1');
  expect(body).toEqual({
    ticker: 'BTC',
    total: 3,
    limit: 1,
    offset: 1,
    snapshots: [
      {
        timestamp: '2026-11-20T12:00:00.200+00:00',
        update_id: 9_007_199_254_740_990,
        bids: [
          [97_000.15, 0.123],
          [96_999.9, 1],
        ],
        asks: [[97_000.3, 1.25]],
        best_bid: 97_000.15,
        best_ask: 97_000.3,
        n_bids: 2,
        n_asks: 1,
      },
    ],
    next_cursor: expect.any(String),
  });
  perpDepthShape.parse(body);
  const next = cursorOf(body);
  expect((await get(`/v1/perp/depth?ticker=BTC&limit=1&cursor=${next}`)).body).toMatchObject({
    total: 3,
    snapshots: [{ best_bid: 97_000.2 }],
    next_cursor: null,
  });
  expect((await get('/v1/perp/depth?ticker=SOL')).body).toEqual({
    ticker: 'SOL',
    total: 0,
    limit: 200,
    offset: 0,
    snapshots: [],
    next_cursor: null,
  });
});

test('returns the rows of one venue', async () => {
  const { body } = await get('/v1/perp/depth?ticker=BTC&venue=okx');
  expect(body).toEqual({
    ...{ ticker: 'BTC', total: 1, limit: 200, offset: 0 },
    snapshots: [
      {
        timestamp: '2026-11-20T12:00:00.250+00:00',
        update_id: 7,
        bids: [[97_000.1, 0.605]],
        asks: [],
        best_bid: 97_000.1,
        best_ask: null,
        n_bids: 1,
        n_asks: 0,
      },
    ],
    next_cursor: null,
  });
  const ofBybit = (await get('/v1/perp/depth?ticker=BTC&limit=1')).body as Parameters<typeof cursorOf>[0];
  expect((await get('/v1/perp/depth?ticker=BTC&limit=1&venue=bybit')).body).toEqual(ofBybit);
  expect((await get('/v1/perp/depth?ticker=BTC&venue=binance')).body).toMatchObject({
    total: 0,
    snapshots: [],
  });
  const foreign = await get(`/v1/perp/depth?ticker=BTC&limit=1&venue=okx&cursor=${ofBybit.next_cursor}`);
  expect(foreign).toEqual({ status: 400, body: { detail: 'cursor is not valid for this query' } });
  // A cursor of a release that recorded Bybit alone is still valid.
  const [, timeMs, tie] = Buffer.from(ofBybit.next_cursor!, 'base64url').toString().split(':');
  const scope = ['perp_depth', 'BTC', null, null, 'asc', null];
  expect(encodeCursor(scope, { timeMs: Number(timeMs), tie: tie! })).toBe(ofBybit.next_cursor);
  const refused = await get('/v1/perp/depth?ticker=BTC&venue=kraken');
  expect(refused).toEqual({
    status: 422,
    body: {
      detail: [
        {
          type: 'literal_error',
          loc: ['query', 'venue'],
          msg: "Input should be 'bybit', 'binance', 'okx' or 'hyperliquid'",
          input: 'kraken',
          ctx: { expected: "'bybit', 'binance', 'okx' or 'hyperliquid'" },
        },
      ],
    },
  });
});
