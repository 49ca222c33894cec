import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookRecord, KEY, marketRecord, testApi } from '../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = '0xaa';
const FIRST_ROWS = 23;
/** Rows that arrive between two pages. The first one shares its millisecond with the previous last row. */
const ADDED_ROWS = 3;
const LIMIT = 5;

let opened: TestStore;
let app: FastifyInstance;
let rows = 0;

/** Adds `count` rows to every list; one in three shares its millisecond with the previous row. */
async function record(count: number): Promise<void> {
  const { writer } = opened.store;
  for (let added = 0; added < count; added++, rows++) {
    const timeMs = T0 + Math.floor(rows / 3) * 100;
    const at = { seq: 10 + rows, eventTimeMs: timeMs, receivedTimeMs: timeMs + 40 };
    const yesBid = 1000 + rows;
    const best = { yesBid, yesAsk: 9000, noBid: null, noAsk: null };
    writer.quote({ ...at, ...best, marketId: M, yesChanged: true, trusted: true, underlyingPrice: null });
    writer.trade({
      ...at,
      marketId: M,
      side: 'BUY_YES',
      price: yesBid,
      size: 1_000_000,
      tradeId: `t${rows}`,
    });
    writer.underlying({
      ...at,
      kind: 'underlying',
      ticker: 'BTC',
      source: 'chainlink',
      price: 97_000 + rows,
    });
    writer.book(bookRecord({ seq: 10 + rows, marketId: M, timeMs, yesBids: [[yesBid, 1e6]], yesAsks: [] }));
    writer.perpDepth({
      ...at,
      ...{
        kind: 'perp_depth',
        venue: 'bybit',
        ticker: 'BTC',
        updateId: rows,
        engineTimeMs: null,
        roundTripMs: 3,
      },
      ...{ bids: [['97000.1', '1']], asks: [] },
    });
  }
  await writer.flush();
}

beforeAll(async () => {
  opened = await openTestStore();
  opened.store.writer.market({ ...marketRecord({ marketId: M }), seq: 1 });
  await record(FIRST_ROWS);
  app = testApi({ store: opened.store });
});
afterAll(async () => {
  await app?.close();
  await opened?.dispose();
});

interface Answer {
  total?: number;
  next_cursor: string | null;
  [list: string]: unknown;
}

const LISTS = [
  { url: `/v1/markets/${M}/timeseries?`, list: 'snapshots', hasOffset: true },
  { url: '/v1/perp/depth?ticker=BTC&', list: 'snapshots', hasOffset: true },
  { url: `/v1/snapshots?market_id=${M}&`, list: 'snapshots', hasOffset: false },
  { url: `/v1/trades?market_id=${M}&`, list: 'trades', hasOffset: false },
  { url: '/v1/underlying?ticker=BTC&source=chainlink&', list: 'points', hasOffset: false },
];

async function get(url: string): Promise<Answer> {
  const response = await app.inject({ url, headers: KEY });
  expect(response.statusCode).toBe(200);
  return response.json() as Answer;
}

test.each(LISTS)(
  '$url: cursor and offset return the same pages while rows arrive',
  async ({ url, list, hasOffset }) => {
    const byCursor: unknown[] = [];
    const byOffset: unknown[] = [];
    let cursor: string | null = '';
    for (let page = 0; page < 40 && cursor !== null; page++) {
      const paged: Answer = await get(`${url}limit=${LIMIT}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      byCursor.push(...(paged[list] as unknown[]));
      cursor = paged.next_cursor;
      if (hasOffset) {
        const same = await get(`${url}limit=${LIMIT}&offset=${page * LIMIT}`);
        expect(same.total).toBe(rows);
        expect(same.next_cursor).toBe(cursor);
        byOffset.push(...(same[list] as unknown[]));
      }
      // Rows arrive during the first pages only, because otherwise the walk would never end.
      if (page < 4) await record(ADDED_ROWS);
    }
    const whole = (await get(`${url}limit=1000`))[list] as unknown[];
    expect(whole).toHaveLength(rows);
    expect(byCursor).toEqual(whole);
    if (hasOffset) expect(byOffset).toEqual(whole);
  },
);

test.each(LISTS.filter(({ hasOffset }) => hasOffset))(
  '$url: an offset behind the last row, however large, gives an empty page and the exact total',
  async ({ url, list }) => {
    for (const offset of [rows, rows + 1, 10_000_001, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      for (const limit of [5, 10_000]) {
        const answer = await get(`${url}limit=${limit}&offset=${offset}`);
        const shown = { total: answer.total, limit: answer.limit, offset: answer.offset, rows: answer[list] };
        expect(shown).toEqual({ total: rows, limit, offset, rows: [] });
        expect(answer.next_cursor).toBeNull();
      }
    }
  },
);

test.each(LISTS)(
  '$url order=desc: a cursor walk sees the rows that existed when it began',
  async ({ url, list }) => {
    const began = (await get(`${url}order=desc&limit=1000`))[list];
    const walked: unknown[] = [];
    let cursor: string | null = '';
    for (let page = 0; page < 40 && cursor !== null; page++) {
      const paged: Answer = await get(
        `${url}order=desc&limit=${LIMIT}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      walked.push(...(paged[list] as unknown[]));
      cursor = paged.next_cursor;
      if (page < 2) await record(ADDED_ROWS);
    }
    expect(cursor).toBeNull();
    expect(walked).toEqual(began);
  },
);
