import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bookRecord,
  KEY,
  type LevelPairs,
  marketRecord,
  type TestBook,
  testApi,
} from '../../test/support/api.ts';
import { heldMemory } from '../../test/support/heldMemory.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';

const T0 = Date.UTC(2026, 10, 20, 23, 59, 55);
const M = '0xaa';
const MANY = '0xbb';
const MANY_ROWS = 100_000;
/** Memory is measured after each part of the response of this size. */
const LOOK_BYTES = 16 * 1024 * 1024;
const HELD_BYTES_MAX = 32 * 1024 * 1024;
const SEED = 20_261_120;
const RUNS = 60;

let opened: TestStore;
let app: FastifyInstance;
const books: TestBook[] = [];

beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  writer.market({ ...marketRecord({ marketId: M }), seq: 1 });
  writer.market({ ...marketRecord({ marketId: MANY }), seq: 2 });
  books.push(...fc.sample(randomBooks, { seed: SEED, numRuns: 1 }).flat());
  for (const book of books) writer.book(bookRecord(book));
  await writer.flush();
  app = testApi({ store: opened.store });
});
afterAll(async () => {
  await app?.close();
  await opened?.dispose();
});

const size = fc.oneof(
  fc.integer({ min: 1, max: 1e6 }).map((hundredths) => hundredths * 10_000),
  fc.integer({ min: 1, max: 1e9 }),
);
const ladder = (descending: boolean): fc.Arbitrary<LevelPairs> =>
  fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9999 }), size), {
      maxLength: 6,
      selector: ([price]) => price,
    })
    .map((levels) => levels.sort(([a], [b]) => (descending ? b - a : a - b)));

/** 300 books around midnight of two days, many within one millisecond, half of them with NO levels of their own. */
const randomBooks = fc
  .array(
    fc.record({
      stepMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90 })),
      yesBids: ladder(true),
      yesAsks: ladder(false),
      no: fc.option(fc.record({ bids: ladder(true), asks: ladder(false) })),
      trusted: fc.boolean(),
      underlyingPrice: fc.option(fc.integer({ min: 1, max: 1e7 }).map((cents) => cents / 100)),
    }),
    { minLength: 300, maxLength: 300, size: 'max' },
  )
  .map((rows) => {
    let timeMs = T0;
    return rows.map(({ stepMs, no, ...rest }, index): TestBook => {
      timeMs += stepMs;
      return { ...rest, ...(no ? { no } : {}), marketId: M, seq: index + 3, timeMs };
    });
  });

const request = fc.record({
  start: fc.option(fc.integer({ min: -100, max: 12_000 })),
  length: fc.option(fc.integer({ min: 0, max: 12_000 })),
  limit: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 400 })),
  depth: fc.option(fc.integer({ min: 1, max: 7 })),
  intervalMs: fc.option(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(1000))),
  order: fc.constantFrom('asc', 'desc'),
});
type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never;

test(`every range, limit, depth, interval and order matches a naive model (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      const want = naive(asked);
      const url = `/v1/snapshots?market_id=${M}&limit=${asked.limit}${queryOf(asked)}`;
      const pages: unknown[] = [];
      let cursor = '';
      for (let page = 0; page < 3; page++) {
        const {
          snapshots,
          count,
          next_cursor: next,
        } = (await app.inject({ url: url + cursor, headers: KEY })).json();
        expect(count).toBe(snapshots.length);
        pages.push(...snapshots);
        expect(next !== null).toBe(want.length > pages.length);
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      expect(pages).toEqual(want.slice(0, asked.limit * 3));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test(`counts and the book in force at any time match the naive model (seed ${SEED})`, async () => {
  const last = (books.at(-1) as TestBook).timeMs - T0;
  const moment = fc.integer({ min: -50, max: last + 200 });
  await fc.assert(
    fc.asyncProperty(request, moment, async (asked, offsetMs) => {
      const counted = await app.inject({
        url: `/v1/snapshots?market_id=${M}&limit=0${queryOf(asked)}`,
        headers: KEY,
      });
      expect(counted.json()).toMatchObject({ count: naive(asked).length, snapshots: [], next_cursor: null });
      const all = naive({ start: null, length: null, limit: 1, depth: null, intervalMs: null, order: 'asc' });
      const before = books.filter(({ timeMs }) => timeMs <= T0 + offsetMs).length;
      const at = new Date(T0 + offsetMs).toISOString();
      for (const url of [`/v1/snapshot-at/${at}?market_id=${M}`, `/v1/markets/${M}/orderbook?at=${at}`]) {
        const response = await app.inject({ url, headers: KEY });
        if (before === 0) expect(response.statusCode).toBe(404);
        else expect(response.json()).toEqual({ market_id: M, ...(all[before - 1] as object) });
      }
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

function queryOf({ start, length, depth, intervalMs, order }: Asked): string {
  const from = T0 + (start ?? 0);
  return [
    start === null ? '' : `&start=${new Date(from).toISOString()}`,
    length === null ? '' : `&end=${new Date(from + length).toISOString()}`,
    depth === null ? '' : `&depth=${depth}`,
    intervalMs === null ? '' : `&interval_ms=${intervalMs}`,
    `&order=${order}`,
  ].join('');
}

function naive({ start, length, depth, intervalMs, order }: Asked): unknown[] {
  const from = T0 + (start ?? 0);
  let rows = books.filter(
    ({ timeMs }) => (start === null || timeMs >= from) && (length === null || timeMs < from + length),
  );
  if (intervalMs !== null) {
    const lastOf = new Map(rows.map((row) => [Math.floor(row.timeMs / intervalMs), row]));
    rows = [...lastOf.values()];
  }
  if (order === 'desc') rows = rows.toReversed();
  const levels = (pairs: LevelPairs) =>
    pairs
      .slice(0, depth ?? 1000)
      .map(([price, shares]) => ({ price: price / 10_000, size: shares / 1_000_000 }));
  return rows.map((row) => {
    const { yes, no } = { yes: { bids: row.yesBids, asks: row.yesAsks }, no: row.no };
    const mirror = (pairs: LevelPairs): LevelPairs =>
      pairs.map(([price, shares]) => [10_000 - price, shares]);
    return {
      ts: new Date(row.timeMs).toISOString().replace('Z', '+00:00'),
      yes_bids: levels(yes.bids),
      yes_asks: levels(yes.asks),
      no_bids: levels(no ? no.bids : mirror(yes.asks)),
      no_asks: levels(no ? no.asks : mirror(yes.bids)),
      underlying_price: row.underlyingPrice,
      underlying_ticker: 'BTC',
      trusted: row.trusted,
    };
  });
}

test.each([
  ['asc', 400],
  ['asc', 401],
  ['asc', 6000],
  ['desc', 5201],
  ['desc', 6000],
] as const)('a page of several blocks is complete and in order (%s, %i)', async (order, limit) => {
  const market = `0xcc${order}${limit}`;
  const { writer } = opened.store;
  writer.market({ ...marketRecord({ marketId: market }), seq: 3 });
  const rows = Array.from({ length: 6000 }, (_, i): TestBook => {
    const levels: LevelPairs = [[4900 - (i % 7) * 100, (1 + i) * 10_000]];
    const yesAsks: LevelPairs = [[5000, 10_000]];
    // Three rows share a millisecond. In one case a row has NO levels of its own, which changes the statement.
    const own = limit === 401 && i === 10 ? { no: { bids: levels, asks: yesAsks } } : {};
    return {
      seq: 10 + i,
      marketId: market,
      timeMs: T0 + Math.floor(i / 3),
      yesBids: levels,
      yesAsks,
      ...own,
    };
  });
  for (const row of rows) writer.book(bookRecord(row));
  await writer.flush();
  const url = `/v1/snapshots?market_id=${market}&limit=${limit}&order=${order}`;
  const { snapshots, count } = (await app.inject({ url, headers: KEY })).json();
  const wanted = (order === 'asc' ? rows : rows.toReversed()).slice(0, limit);
  expect(count).toBe(limit);
  expect(
    snapshots.map((row: { yes_bids: unknown; no_asks: unknown }) => [row.yes_bids, row.no_asks]),
  ).toEqual(
    wanted.map(({ yesBids, yesAsks, no }) => {
      const [[price, shares]] = yesBids as [[number, number]];
      const size = shares / 1_000_000;
      const [noPrice] = no ? (yesAsks[0] as [number, number]) : [10_000 - price];
      return [[{ price: price / 10_000, size }], [{ price: noPrice / 10_000, size: no ? 0.01 : size }]];
    }),
  );
});

test(`${MANY_ROWS} snapshots stream at flat memory`, async () => {
  const { writer } = opened.store;
  const yesBids: LevelPairs = Array.from({ length: 10 }, (_, index) => [
    5000 - index * 100,
    1_230_000 + index,
  ]);
  const yesAsks: LevelPairs = Array.from({ length: 10 }, (_, index) => [
    5100 + index * 100,
    4_560_000 + index,
  ]);
  for (let row = 0; row < MANY_ROWS; row++) {
    writer.book(bookRecord({ seq: 1000 + row, marketId: MANY, timeMs: T0 + row, yesBids, yesAsks }));
    if (row % 5000 === 4999) await writer.flush();
  }
  await writer.flush();
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    `GET /v1/snapshots?market_id=${MANY}&limit=${MANY_ROWS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${KEY.authorization}\r\nConnection: close\r\n\r\n`,
  );
  const held = () => {
    const { heapUsed, arrayBuffers } = heldMemory();
    return heapUsed + arrayBuffers;
  };
  const before = held();
  let [bytes, looked, most, tail] = [0, 0, 0, ''];
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    tail = chunk.toString('latin1', Math.max(0, chunk.length - 100));
    if (bytes - looked < LOOK_BYTES) return;
    looked = bytes;
    most = Math.max(most, held() - before);
  });
  await once(socket, 'close');
  expect(tail).toMatch(/"next_cursor":null\}\r\n0\r\n\r\n$/);
  expect(bytes).toBeGreaterThan(100 * 1024 * 1024);
  // Only pieces of the body are in memory, far below its size.
  expect(most).toBeLessThan(HELD_BYTES_MAX);
});
