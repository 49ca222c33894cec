import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { openTestStore } from '../../test/support/store.ts';
import { MARKET } from '../../test/support/wire.ts';
import type { Retention } from '../config/values.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import type { Store } from '../store/store.ts';
import { Recorder } from './recorder.ts';
import { RetentionKeeper } from './retention.ts';

const DAY_MS = 86_400_000;
const BOOK = book([[5_000, 1_000_000]], [[5_100, 2_000_000]]);
const NOW_MS = Date.parse('2026-11-23T12:00:00Z');

function writeBook({ writer }: Store, marketId: string, seq: number, eventTimeMs: number): void {
  const facts = { mirrored: true, trusted: true, underlyingPrice: null, yes: BOOK, no: BOOK };
  writer.book({ marketId, seq, eventTimeMs, receivedTimeMs: eventTimeMs + 3, ...facts });
}

function writeImported(store: Store): void {
  const eventTimeMs = NOW_MS - 40 * DAY_MS;
  const times = { eventTimeMs, receivedTimeMs: eventTimeMs + 3, seq: 1_000 };
  const trade = { side: 'BUY_NO', price: 1, size: 1, tradeId: 'imported' } as const;
  store.writer.trade({ marketId: 'imported', ...times, ...trade });
  for (const seq of [1_000, 1_001]) writeBook(store, 'imported', seq, eventTimeMs);
}

async function rig(retention: Retention, budgetBytes: number | null = null) {
  const clock = new FakeClock(NOW_MS);
  const { store, dispose } = await openTestStore();
  const metrics = new Metrics();
  const common = { clock, log: silentLogger, metrics };
  const recorder = new Recorder({ ...common, sink: store.writer, timeBy: 'receipt' });
  for (const [index, age] of [40, 20, 1, 0].entries()) {
    const eventTimeMs = NOW_MS - age * DAY_MS;
    const times = { eventTimeMs, receivedTimeMs: eventTimeMs + 3, seq: index + 1 };
    const trade = { side: 'BUY_NO', price: 1, size: 1, tradeId: String(age) } as const;
    store.writer.trade({ marketId: `m${age}`, ...times, ...trade });
    store.writer.underlying({ kind: 'underlying', ticker: 'BTC', source: 'twap60', price: 5, ...times });
  }
  await store.writer.flush();
  const freeBytes = async () => 1_000_000;
  const limits = { retention, budgetBytes, freeBytes };
  let isImporting = true;
  /** An import stores this trade and book once the keeper has read the markets of their day. */
  const importing: Pick<Store, 'rows'> = {
    rows: async (query, params, options) => {
      const found = await store.rows(query, params, options);
      if (!isImporting || !query.includes('GROUP BY market_id')) return found as never;
      isImporting = false;
      writeImported(store);
      await store.writer.flush();
      return found as never;
    },
  };
  const keeper = new RetentionKeeper({ ...common, ...limits, store, recorder });
  const keeperDuringImport = new RetentionKeeper({
    ...{ ...common, ...limits, recorder, metrics: new Metrics(), store: { ...store, ...importing } },
  });
  onTestFinished(async () => {
    await keeperDuringImport.stop();
    await keeper.stop();
    await dispose();
  });
  const seqsOf = async (table: string) =>
    (await store.rows<{ seq: number }>(`SELECT seq FROM ${table} ORDER BY seq`)).map(({ seq }) => seq);
  const gaps = () => loadGapsOf(store, ['imported', 'm40', 'm20', 'm1', 'm0']);
  return { clock, store, recorder, keeper, keeperDuringImport, metrics, seqsOf, gaps };
}

test('rows older than their period are removed, and a gap says so', async () => {
  const { keeper, seqsOf, gaps, metrics } = await rig({ trades: 30 });
  await keeper.run();
  expect(await seqsOf('trades')).toEqual([2, 3, 4]);
  expect(await seqsOf('underlying')).toEqual([1, 2, 3, 4]);
  const removedMs = NOW_MS - 40 * DAY_MS;
  expect(await gaps()).toMatchObject([
    {
      ...{ marketId: 'm40', cause: 'retention', feed: 'underround.trades' },
      ...{ startTimeMs: removedMs, endTimeMs: removedMs, startReceivedMs: removedMs + 3 },
    },
  ]);
  expect(await metrics.registry.getSingleMetricAsString('underround_retention_removed_bytes_total')).toMatch(
    /\{table="trades"\} [1-9]/,
  );
  await keeper.run();
  expect((await gaps()).length).toBe(1);
});

test('rows of two tables that begin at one row have a gap each, to the last row of each', async () => {
  const { store, keeper, gaps } = await rig({ trades: 30, books: 30 });
  const firstMs = NOW_MS - 40 * DAY_MS;
  for (const offset of [0, 9_000]) {
    const times = { eventTimeMs: firstMs + offset, receivedTimeMs: firstMs + offset + 3, seq: 100 + offset };
    const facts = { mirrored: true, trusted: true, underlyingPrice: null, yes: BOOK, no: BOOK };
    store.writer.book({ marketId: 'm40', ...times, ...facts });
  }
  await store.writer.flush();
  await keeper.run();
  const found = (await gaps()).map(({ feed, endTimeMs }) => [feed, (endTimeMs as number) - firstMs]);
  expect(found.sort()).toEqual([
    ['underround.books', 9_000],
    ['underround.trades', 0],
  ]);
});

test('a budget removes the oldest days, and leaves the last two', async () => {
  const { keeper, seqsOf } = await rig({}, 1);
  await keeper.run();
  expect([await seqsOf('trades'), await seqsOf('underlying')]).toEqual([
    [3, 4],
    [3, 4],
  ]);
});

test('a clock that was set a year ahead removes no more than the right one', async () => {
  const { clock, keeper, seqsOf } = await rig({ trades: 30 }, 1);
  clock.stepWall(365 * DAY_MS);
  await keeper.run();
  expect([await seqsOf('trades'), await seqsOf('underlying')]).toEqual([
    [3, 4],
    [3, 4],
  ]);
});

test('rows of an open window stay, whatever their age', async () => {
  const { keeper, seqsOf, recorder, store } = await rig({ trades: 2 });
  recorder.track({ ...MARKET, startTimeMs: NOW_MS - 30 * DAY_MS, endTimeMs: NOW_MS + DAY_MS });
  await store.writer.flush();
  await keeper.run();
  expect(await seqsOf('trades')).toEqual([2, 3, 4]);
});

test('old books are thinned to the last state of each second, and a gap says so', async () => {
  const { store, keeper, gaps } = await rig({ books_thinned: 30 });
  const firstMs = NOW_MS - 40 * DAY_MS;
  const write = (marketId: string, offsets: readonly number[], startMs: number) => {
    for (const [index, offset] of offsets.entries())
      store.writer.book({
        ...{ marketId, seq: 100 + index, mirrored: true, trusted: true, underlyingPrice: null },
        ...{ eventTimeMs: startMs + offset, receivedTimeMs: startMs + offset + 3 },
        ...{ yes: BOOK, no: BOOK },
      });
  };
  write('m40', [0, 10, 990, 1_000, 1_001, 5_000], firstMs);
  write('m20', [0, 10, 990], NOW_MS - 20 * DAY_MS);
  write('m1', [0], firstMs);
  await store.writer.flush();
  const kept = async (marketId: string) =>
    (
      await store.rows<{ seq: number }>(
        'SELECT seq FROM books WHERE market_id = {marketId:String} ORDER BY ts',
        { marketId },
      )
    ).map(({ seq }) => seq);
  await keeper.run();
  expect([await kept('m40'), await kept('m20'), await kept('m1')]).toEqual([
    [102, 104, 105],
    [100, 101, 102],
    [100],
  ]);
  expect(await gaps()).toMatchObject([
    {
      ...{ marketId: 'm40', cause: 'thinned', feed: 'underround.books' },
      ...{ startTimeMs: firstMs, endTimeMs: firstMs + 5_000 },
    },
  ]);
  await keeper.run();
  expect((await gaps()).length).toBe(1);
  expect(await store.rows("SELECT name FROM system.databases WHERE name LIKE '%thinning'")).toEqual([]);
});

test('a day that was thinned is thinned again once an import has added books', async () => {
  const { store, keeper, seqsOf } = await rig({ books_thinned: 30 });
  const timeMs = NOW_MS - 40 * DAY_MS;
  for (const seq of [10, 11]) writeBook(store, 'm40', seq, timeMs);
  await store.writer.flush();
  await keeper.run();
  await keeper.run();
  for (const seq of [20, 21]) writeBook(store, 'imported', seq, timeMs);
  await store.writer.flush();
  await keeper.run();
  expect(await seqsOf('books')).toEqual([11, 21]);
});

test.each([
  {
    ...{ cause: 'retention', periods: { trades: 30 }, table: 'trades' },
    ...{ before: [1, 2, 3, 4, 1_000], after: [2, 3, 4] },
  },
  {
    ...{ cause: 'thinned', periods: { books_thinned: 30 }, table: 'books' },
    ...{ before: [1_000, 1_001, 5_000, 5_001], after: [1_001, 5_001] },
  },
])('a day that gets rows of a market without a gap waits for the next round: $cause', async (one) => {
  const { cause, periods, table, before, after } = one;
  const { store, keeperDuringImport, seqsOf, gaps } = await rig(periods);
  if (table === 'books') for (const seq of [5_000, 5_001]) writeBook(store, 'm40', seq, NOW_MS - 40 * DAY_MS);
  await store.writer.flush();
  const marketsOf = async () => (await gaps()).map((gap) => [gap.marketId, gap.cause]).sort();
  await keeperDuringImport.run();
  expect([await seqsOf(table), await marketsOf()]).toEqual([before, [['m40', cause]]]);
  await keeperDuringImport.run();
  const both = [
    ['imported', cause],
    ['m40', cause],
  ];
  expect([await seqsOf(table), await marketsOf()]).toEqual([after, both]);
});
