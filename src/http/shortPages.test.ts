import { pipeline, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bookRecord, type LevelPairs, marketRecord } from '../../test/support/api.ts';
import { oneClock } from '../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { bookColumns, booksOf } from '../store/queries/books.ts';
import { candleRows, candlesRevision, candlesWithNext, findCandles } from '../store/queries/candles.ts';
import { findPage, type Page, type PageRequest, pageRows, plainRows } from '../store/queries/keyset.ts';
import {
  PERP_DEPTH_COLUMNS,
  perpDepthOf,
  TIMESERIES_COLUMNS,
  TRADE_COLUMNS,
  tradesOf,
  UNDERLYING_COLUMNS,
  underlyingOf,
  yesQuotesOf,
} from '../store/queries/lists.ts';
import { pagedRows } from '../store/queries/pagedRows.ts';
import type { QueryParams, Source } from '../store/queries/sql.ts';
import { BOOK_FORMAT } from '../store/tables/bookRowReader.ts';
import { OBJECT_ARRAY, OBJECT_LINES } from './rows.ts';
import {
  bookKeyColumn,
  isShort,
  keyColumns,
  lineKeyColumns,
  pageOfBooks,
  pageOfLines,
  type ShortRequest,
} from './shortPages.ts';
import { SnapshotBody } from './snapshotBody.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = '0xaa';
const ROWS = 240;
/** Three rows share a millisecond; the next ones are 50 ms later. */
const timeOf = (row: number) => T0 + Math.floor(row / 3) * 50;
const END = timeOf(ROWS);
const seqOf = (row: number) => 1_000 + row;

let opened: TestStore;

function recordRow(row: number): void {
  const { writer } = opened.store;
  const timeMs = timeOf(row);
  const at = { seq: seqOf(row), eventTimeMs: timeMs, receivedTimeMs: timeMs + 40 };
  const trusted = row % 17 !== 0;
  const price = 1000 + row * 7;
  const bids: LevelPairs = Array.from({ length: row % 5 }, (_, level) => [price - level, 1e6 * (level + 1)]);
  // Every eleventh book has a size finer than hundredths, and NO levels that do not mirror YES.
  const asks: LevelPairs = row % 11 === 0 ? [[9000, 1_234_567]] : [[9000, 2e6]];
  const no = row % 11 === 0 ? { no: { bids: [[500, 3]] as LevelPairs, asks: [] } } : {};
  const underlyingPrice = row % 4 === 0 ? null : 97_000 + row / 7;
  writer.book(
    bookRecord({
      ...{ seq: at.seq, marketId: M, timeMs, yesBids: bids, yesAsks: asks },
      ...{ trusted, underlyingPrice, ...no },
    }),
  );
  writer.quote({
    ...at,
    ...{ marketId: M, yesBid: row % 6 === 0 ? null : price, yesAsk: 9000, noBid: null, noAsk: null },
    ...{ yesChanged: row % 5 !== 0, trusted, underlyingPrice },
  });
  const side = row % 2 === 0 ? 'BUY_YES' : 'SELL_NO';
  // A trade id that contains the text by which the keys are found.
  writer.trade({ ...at, marketId: M, side, price, size: row * 12_345 + 1, tradeId: `t,"page_key":["${row}` });
  writer.underlying({
    ...at,
    kind: 'underlying',
    ticker: 'BTC',
    source: 'chainlink',
    price: 1e-9 * row ** 5,
  });
  writer.perpDepth({
    ...at,
    ...{
      kind: 'perp_depth',
      venue: 'bybit',
      ticker: 'BTC',
      updateId: row,
      engineTimeMs: null,
      roundTripMs: 3,
    },
    ...{ bids: [[`${97_000 + row}.1`, '0.123']], asks: [] },
  });
}

function recordGap(gapId: string, startTimeMs: number, endTimeMs: number | null): void {
  opened.store.writer.gap(
    oneClock({
      ...{ seq: 5_000 + startTimeMs - T0, gapId, marketId: M, startTimeMs, endTimeMs },
      ...{ cause: 'silent_feed', feed: 'polymarket.clob', repairedBy: null },
      ...{ knownTimeMs: null, knownSeq: null },
    }),
  );
}

beforeAll(async () => {
  opened = await openTestStore();
  opened.store.writer.market({ ...marketRecord({ marketId: M }), seq: 1 });
  for (let row = 0; row < ROWS; row++) {
    recordRow(row);
    // Several parts, as for a market that is being recorded.
    if (row % 60 === 59) await opened.store.writer.flush();
  }
  recordGap('gap_1', T0 + 500, T0 + 700);
  recordGap('gap_2', T0 + 650, T0 + 1_400);
  recordGap('gap_open', END - 300, null);
  await opened.store.writer.flush();
});
afterAll(async () => await opened?.dispose());

const aTime = fc.integer({ min: T0 - 200, max: END + 200 });
const aPosition = fc.record({
  timeMs: aTime,
  seq: fc.integer({ min: seqOf(-3), max: seqOf(ROWS + 3) }).map(String),
});
const aRowsPosition = fc
  .integer({ min: 0, max: ROWS - 1 })
  .map((row) => ({ timeMs: timeOf(row), seq: String(seqOf(row)) }));
const requests: fc.Arbitrary<ShortRequest> = fc.record({
  startMs: fc.option(aTime),
  endMs: fc.option(aTime),
  descending: fc.boolean(),
  limit: fc.oneof(
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: ROWS - 2, max: ROWS + 2 }),
    fc.constant(1_000),
  ),
  offset: fc.constantFrom(0, 0, 1, 7, ROWS),
  after: fc.option(fc.oneof(aPosition, aRowsPosition)),
  intervalMs: fc.constant(null),
});
/** Whether the response is cacheable, so that it carries the source's revision. */
const isKept = fc.boolean();

function revised(source: Source, keep: boolean): Source {
  const { revision: _unread, ...rest } = source;
  return keep ? source : rest;
}

function ask(query: string, params: QueryParams, options: { format: string; settings?: object }) {
  const { settings = {}, ...rest } = options;
  return opened.store.stream(query, params, { ...rest, settings: { ...settings }, short: true });
}

async function longLines(source: Source, request: PageRequest, columns: string) {
  const page = await findPage(opened.store, source, request, new AbortController().signal);
  if (page === null) return { page, rows: null };
  const { query, params } = pageRows(source, request, page, columns);
  return { page, rows: await text(await ask(query, params, OBJECT_ARRAY)) };
}

async function shortLines(source: Source, request: ShortRequest, columns: string) {
  const { query, params } = plainRows(source, request, `${columns}, ${lineKeyColumns(source)}`);
  const { page, rows } = pageOfLines(await text(await ask(query, params, OBJECT_LINES)), request);
  return { page, rows: page && rows };
}

const keyOf = (bucketMs: number) => ({ timeMs: bucketMs, seq: '0' });
const AROUND = { prefix: '{"snapshots":', suffix: ',"next_cursor":null}' };

function bodyOf(given: Readable): SnapshotBody {
  return pipeline(given, new SnapshotBody('BTC'), () => {});
}

describe('a short page equals the same page found by its keys first, byte for byte', () => {
  const lists: readonly (readonly [name: string, source: Source, columns: string])[] = [
    ['timeseries', yesQuotesOf(M), TIMESERIES_COLUMNS],
    ['trades', tradesOf(M), TRADE_COLUMNS],
    ['prices', underlyingOf('BTC', 'chainlink'), UNDERLYING_COLUMNS],
    ['perp depth', perpDepthOf('BTC', 'bybit'), PERP_DEPTH_COLUMNS],
  ];

  test.each(lists)('%s', async (_, list, columns) => {
    await fc.assert(
      fc.asyncProperty(requests, isKept, async (request, keep) => {
        const source = revised(list, keep);
        const short = await shortLines(source, request, columns);
        expect(short).toEqual(await longLines(source, request, columns));
      }),
      { numRuns: 40 },
    );
  });

  test('candles', async () => {
    const ranges = fc.record({
      marketId: fc.constant(M),
      startMs: aTime,
      endMs: aTime,
      timeframeMs: fc.constantFrom(50, 300, 60_000),
      limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1_000)),
    });
    await fc.assert(
      fc.asyncProperty(ranges, async (request) => {
        const revision = candlesRevision(request);
        const key = keyColumns({ timeMs: 'bucket', seq: '0', revision });
        const plain = candlesWithNext(request, key);
        const given = await text(await ask(plain.query, plain.params, OBJECT_LINES));
        const short = pageOfLines(given, { limit: request.limit, descending: false });

        const found = await findCandles(opened.store, request, {
          ...{ revision, signal: new AbortController().signal },
        });
        const { page } = short;
        expect(page && { first: page.low, last: page.high, more: page.next !== null, ...page }).toEqual(
          found && {
            ...{ count: found.count, revision: found.revision, more: found.more },
            ...{ first: keyOf(found.firstMs), low: keyOf(found.firstMs) },
            ...{ last: keyOf(found.lastMs), high: keyOf(found.lastMs) },
            next: found.more ? keyOf(found.lastMs) : null,
          },
        );
        if (found === null) return;
        const { query, params } = candleRows(request, found);
        expect(short.rows).toBe(await text(await ask(query, params, OBJECT_ARRAY)));
      }),
      { numRuns: 25 },
    );
  });

  test('snapshots, with all levels and with limited depth', async () => {
    const depths = fc.option(fc.integer({ min: 1, max: 4 }));
    await fc.assert(
      fc.asyncProperty(requests, isKept, depths, async (request, keep, depth) => {
        const source = revised(booksOf(M), keep);
        const columns = bookColumns({ hasDepth: depth !== null });
        const read = ({ query, params }: { query: string; params: QueryParams }) =>
          ask(query, { ...params, ...(depth === null ? {} : { depth }) }, { format: BOOK_FORMAT });

        const long = bodyOf(await read(pagedRows(source, request, columns)));
        const expected: { page: Page | null; body: string | null } = {
          page: await long.page(request),
          body: null,
        };
        if (expected.page) {
          long.begin(expected.page, AROUND);
          expected.body = await text(long);
        }

        const given = await buffer(
          await read(plainRows(source, request, `${columns}, ${bookKeyColumn(source)}`)),
        );
        const page = pageOfBooks(given, request);
        let body: string | null = null;
        if (page) {
          const short = bodyOf(Readable.from([given]));
          short.begin(page, AROUND, page.next === null ? 0 : 1);
          body = await text(short);
        }
        expect({ page, body }).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a truncated engine response', () => {
  const request: ShortRequest = {
    ...{ startMs: null, endMs: null, descending: false, limit: 2, offset: 0, after: null, intervalMs: null },
  };

  test('that ends within a line, or before its end, is an error', () => {
    const line = '{"ts":"a","page_key":["5","6","0"]}';
    expect(pageOfLines(`${line}\n`, request)).toEqual({
      page: {
        ...{ count: 1, next: null, revision: '0' },
        ...{ low: { timeMs: 5, seq: '6' }, high: { timeMs: 5, seq: '6' } },
      },
      rows: '[\n{"ts":"a"}\n]\n',
    });
    for (const cut of [line, `${line}\n{"ts"`]) {
      expect(() => pageOfLines(cut, request)).toThrow(
        new StoreUnavailableError('the engine ended its answer early'),
      );
    }
  });

  test('that ends within a block of books is an error', async () => {
    const source = booksOf(M);
    const columns = `${bookColumns({ hasDepth: false })}, ${bookKeyColumn(source)}`;
    const { query, params } = plainRows(source, request, columns);
    const given = await buffer(await ask(query, params, { format: BOOK_FORMAT }));
    expect(pageOfBooks(given, request)?.count).toBe(2);
    expect(() => pageOfBooks(given.subarray(0, -1), request)).toThrow(
      new StoreUnavailableError('the engine ended its answer early'),
    );
  });
});

test.each([
  ['the default page', {}, true],
  ['the longest', { limit: 1_000 }, true],
  ['one row more', { limit: 1_001 }, false],
  ['a count alone', { limit: 0 }, false],
  ['the last state of each interval', { intervalMs: 1 }, false],
  ['an offset that makes it long', { limit: 1, offset: 1_000 }, false],
  ['an offset that a cursor replaces', { offset: 1_000, after: { timeMs: T0, seq: '1' } }, true],
] as const)('%s: read by a plain statement is %s', (_, asked, expected) => {
  const request: PageRequest = {
    ...{
      startMs: null,
      endMs: null,
      descending: false,
      limit: 100,
      offset: 0,
      after: null,
      intervalMs: null,
    },
    ...asked,
  };
  expect(isShort(request)).toBe(expected);
});
