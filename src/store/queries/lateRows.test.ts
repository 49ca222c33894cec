import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../../../test/support/api.ts';
import { openTestStore, reachTestEngine, type TestStore } from '../../../test/support/store.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { KindedRecord } from '../../schema/records.ts';
import { StoreClient } from '../engine/client.ts';
import { PartitionWriter } from '../partitionWriter.ts';
import { loadBookReceivedBy } from '../tables/bookReceived.ts';
import { findBook } from './books.ts';
import { candlesWithNext } from './candles.ts';
import { exportRows, exportSources, type RowSource } from './exports.ts';
import { booksBefore, nextBooks, spansOf } from './replay.ts';
import {
  loadLastBooks,
  loadLastProven,
  loadLastQuotes,
  loadRecentBooks,
  loadRecentPrices,
} from './resume.ts';
import { loadFeedPrices, loadTape, stretchEnd } from './tapeReader.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const NEVER = new AbortController().signal;
const MARKET = marketRecord({
  ...{ marketId: '0xlate', ticker: 'BTC', eventType: '5m' },
  ...{ startTimeMs: T0, endTimeMs: T0 + 300_000 },
});
const { marketId } = MARKET;
const WHOLE = { fromMs: T0 - 1_000, toMs: T0 + 60_000 };
const REPLAYED = [{ marketId, ticker: 'BTC', eventType: '5m' } as const];

/** A book of so many shares bid, and the quote whose number is 1 lower; received 10 ms after its venue time. */
function action(seq: number, afterMs: number, { shares, isLate }: { shares: number; isLate: boolean }) {
  const bid = 5_000 + shares * 100;
  const at = { seq, marketId, timeMs: T0 + afterMs };
  const yesBids: [number, number][] = [[bid, shares * 1_000_000]];
  const yesAsks: [number, number][] = [[9_000, 1_000_000]];
  const record = bookRecord({ ...at, yesBids, yesAsks });
  const times = { eventTimeMs: at.timeMs, receivedTimeMs: at.timeMs + 10 };
  const prices = { yesBid: bid, yesAsk: 9_000, noBid: 1_000, noAsk: 10_000 - bid };
  const shown = { yesChanged: true, trusted: true, underlyingPrice: null };
  return [
    { kind: 'quote', record: { seq: seq - 1, marketId, ...times, ...prices, ...shown }, isLate },
    { kind: 'book', record: { ...record, ...times, trusted: true }, isLate },
  ] satisfies KindedRecord[];
}

function price(seq: number, afterMs: number, isLate: boolean): KindedRecord {
  const times = { eventTimeMs: T0 + afterMs, receivedTimeMs: T0 + afterMs + 10 };
  const record = { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: seq, ...times } as const;
  return { kind: 'underlying', record: { ...record, seq }, isLate };
}

function trade(seq: number, afterMs: number, isLate: boolean): KindedRecord {
  const times = { eventTimeMs: T0 + afterMs, receivedTimeMs: T0 + afterMs + 10 };
  const terms = { side: 'BUY_YES', price: 5_000, size: 1_000_000, tradeId: `trade ${seq}` } as const;
  return { kind: 'trade', record: { ...terms, ...times, seq, marketId }, isLate };
}

/** Seconds 0, 1, 5 and 6 arrive in order; second 3, which another collector saw, arrives between 5 and 6. */
const ROWS: KindedRecord[] = [
  ...[price(2, 0, false), trade(5, 0, false), ...action(11, 0, { shares: 1, isLate: false })],
  ...[price(12, 1_000, false), ...action(21, 1_000, { shares: 2, isLate: false })],
  ...[price(42, 5_000, false), trade(45, 5_000, false), ...action(51, 5_000, { shares: 6, isLate: false })],
  ...[price(52, 3_000, true), trade(55, 3_000, true), ...action(61, 3_000, { shares: 4, isLate: true })],
];
const NEWER = action(71, 6_000, { shares: 7, isLate: false });
const LAST_LATE = action(81, 5_500, { shares: 8, isLate: true });

let opened: TestStore;
beforeAll(async () => {
  const dataDir = temporaryDirectory(afterAll);
  const parts = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  opened = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ access, ...parts });
  const writer = await PartitionWriter.open({
    ...{ client, partition: 0, dataDir: temporaryDirectory(afterAll) },
    ...{ ...parts, metrics: new Metrics() },
  });
  await writer.insert(ROWS, 't/1');
  await writer.insert(NEWER, 't/2');
  await writer.insert(LAST_LATE, 't/3');
});
afterAll(() => opened.dispose());

const tape = (stretch?: { afterSeq: number; toSeq: number }) =>
  loadTape(
    opened.store,
    {
      market: MARKET,
      gaps: [],
      terms: { depth: 10, prices: true, trades: true },
      ...(stretch ? { stretch } : {}),
    },
    NEVER,
  );

test('a tape has the rows that live consumers saw, in their order', async () => {
  const { quotes, books, prices, trades } = await tape();
  expect(Array.from(books?.seq ?? [])).toEqual([11, 21, 51, 71]);
  expect(Array.from(quotes.seq)).toEqual([10, 20, 50, 70]);
  expect(Array.from(prices?.seq ?? [])).toEqual([2, 12, 42]);
  expect(Array.from(trades?.seq ?? [])).toEqual([5, 45]);
});

test('a stretch of a tape ends after live books, and does not begin with a late one', async () => {
  expect(await stretchEnd(opened.store, MARKET, { afterSeq: 11, books: 2 })).toBe(51);
  expect(await stretchEnd(opened.store, MARKET, { afterSeq: 51, books: 2 })).toBeNull();
  const { books, quotes } = await tape({ afterSeq: 51, toSeq: 1_000 });
  expect([Array.from(books?.seq ?? []), Array.from(quotes.seq)]).toEqual([[71], [70]]);
});

test('the price history of a restart is the one that was received', async () => {
  const feed = { ticker: 'BTC', source: 'chainlink', fromMs: T0, toMs: T0 + 60_000 } as const;
  expect(Array.from((await loadFeedPrices(opened.store, feed))?.seq ?? [])).toEqual([2, 12, 42]);
  // Its last price was received 10 ms after its own time: after the end of this span.
  const short = await loadFeedPrices(opened.store, { ...feed, toMs: T0 + 5_005 });
  expect(Array.from(short?.seq ?? [])).toEqual([2, 12]);
});

test('a strike is computed from all prices by their own time', async () => {
  const prices = await loadRecentPrices(opened.store, { fromMs: T0 - 1, toMs: T0 + 60_000 });
  expect(prices.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual([2, 12, 42, 52]);
});

test('a replayed stream sends each book once, in the order in which it was sent live', async () => {
  const spans = await spansOf(opened.store, REPLAYED, WHOLE, NEVER);
  expect(spans).toEqual([{ marketId, firstSeq: 11, lastSeq: 71 }]);
  const read = (afterSeq: number) =>
    nextBooks(opened.store, { markets: REPLAYED, spans }, { ...WHOLE, afterSeq, limit: 100 }, NEVER);
  expect((await read(0)).map(({ seq }) => seq)).toEqual([11, 21, 51, 71]);
  expect(await read(71)).toEqual([]);
});

test('a replay begins with the newest book of the time before, not with a late one', async () => {
  const before = await booksBefore(opened.store, REPLAYED, T0 + 5_800, NEVER);
  expect(before.map(({ seq }) => seq)).toEqual([51]);
});

test('a restart continues with the newest state, whatever arrived last', async () => {
  expect((await loadLastBooks(opened.store, [marketId])).map(({ seq }) => seq)).toEqual([71]);
  expect((await loadLastQuotes(opened.store, [marketId])).map(({ seq }) => seq)).toEqual([70]);
  expect((await loadLastProven(opened.store, [marketId])).get(marketId)).toEqual({
    ...{ seq: 71, eventTimeMs: T0 + 6_000, receivedTimeMs: T0 + 6_010 },
  });
  const range = { sinceMs: T0, untilMs: T0 + 60_000 };
  const counted = await loadRecentBooks(opened.store, range);
  expect(counted.reduce((sum, { books }) => sum + books, 0)).toBe(4);
});

test('an audited signal is checked against the book that detection had', async () => {
  const book = await loadBookReceivedBy(opened.store, { marketId, timeMs: T0 + 5_700 });
  expect(book?.yes.bids.sizes[0]).toBe(6_000_000);
});

test('the archive has a late row at its venue time', async () => {
  const at = (afterMs: number) => findBook(opened.store, { marketId, atMs: T0 + afterMs }, NEVER);
  expect((await at(2_999))?.timeMs).toBe(T0 + 1_000);
  // A time between two milliseconds is before the second one.
  expect((await at(2_999.5))?.timeMs).toBe(T0 + 1_000);
  expect((await at(3_500))?.timeMs).toBe(T0 + 3_000);
  expect((await at(9_000))?.timeMs).toBe(T0 + 6_000);
  const range = { startMs: null, endMs: null };
  const subject = { dataset: 'snapshots', markets: { marketIds: [marketId] } } as const;
  const [source] = await exportSources(opened.store, subject, { range, signal: NEVER });
  const { query, params } = exportRows(source as RowSource, 'json');
  const exported = await opened.store.rows<{ ts: string; late: boolean }>(query, { ...params });
  expect(exported.map(({ ts, late }) => [Date.parse(ts) - T0, late])).toEqual(
    [0, 1_000, 3_000, 5_000, 5_500, 6_000].map((afterMs) => [
      afterMs,
      afterMs === 3_000 || afterMs === 5_500,
    ]),
  );
  const minutes = { startMs: T0, endMs: T0 + 60_000, timeframeMs: 1_000, limit: 10 };
  const candles = candlesWithNext({ marketId, ...minutes }, 'bucket AS key');
  const closes = await opened.store.rows<{ close: number }>(candles.query, candles.params);
  expect(closes.map(({ close }) => close)).toEqual([0.705, 0.71, 0.72, 0.74, 0.735]);
});
