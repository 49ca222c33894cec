import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { marketRecord } from '../../../test/support/api.ts';
import { book } from '../../../test/support/records.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { NOON_MS, WriterRig } from '../../../test/support/writerRig.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { GapRecord } from '../../schema/records.ts';
import { releaseRuns, scanJournals } from './journalScan.ts';
import {
  type ResumedStore,
  resumedLastBooks,
  resumedLastProven,
  resumedMarkets,
  resumedOpenGaps,
  resumedPrices,
  resumedSecondPrices,
} from './resumeRows.ts';
import type { StoreWriter } from './writer.ts';

const MARKETS = ['only waits', 'only stored', 'both', 'wide'];

let rig: WriterRig;
let opened: TestStore | null = null;
beforeEach(async () => {
  rig = await WriterRig.make();
});
afterEach(async () => {
  await opened?.store.close();
  opened = null;
  await rig.dispose();
});

function writeBook(
  writer: StoreWriter,
  row: { marketId: string; seq: number; atMs: number; wide?: boolean },
): void {
  const { marketId, seq, atMs, wide = false } = row;
  const size = wide ? 1_234_567 : seq * 10_000;
  const [bids, asks] = [
    [
      [4_000, size],
      [3_900, size * 2],
    ],
    [[4_100, size]],
  ] as const;
  writer.book({
    ...{
      seq,
      marketId,
      eventTimeMs: atMs,
      receivedTimeMs: atMs + 3,
      mirrored: !wide,
      trusted: seq % 2 === 0,
    },
    yes: book(bids, asks),
    no: wide ? book([[5_900, size]], []) : book([], []),
    underlyingPrice: wide ? null : 97_000.5,
  });
}

function gap(gapId: string, seq: number, ended: { endTimeMs: number | null }): GapRecord {
  const cause = 'disconnected' as const;
  const known = { knownTimeMs: NOON_MS, knownSeq: 5 };
  return {
    seq,
    gapId,
    marketId: 'both',
    startTimeMs: NOON_MS - 9_000,
    startReceivedMs: NOON_MS - 8_960,
    endReceivedMs: ended.endTimeMs,
    cause,
    feed: 'f',
    repairedBy: null,
    ...known,
    ...ended,
  };
}

function writePrices(writer: StoreWriter, { fromSeq, fromMs }: { fromSeq: number; fromMs: number }): void {
  let seq = fromSeq;
  for (let atMs = fromMs; atMs < fromMs + 4_000; atMs += 250) {
    const times = { eventTimeMs: atMs, receivedTimeMs: atMs + 7 };
    const of = { kind: 'underlying', ticker: 'BTC', ...times } as const;
    writer.underlying({ ...of, seq: seq++, source: 'binance_spot', price: 97_000 + seq });
    // The relay repeats a point: only the first one counts.
    for (const price of [1, 2])
      if (atMs % 1_000 === 0)
        writer.underlying({ ...of, seq: seq++, source: 'chainlink', price: 97_000 + price });
  }
}

/** The data a start loads; the order of several prices within one second is not defined. */
async function takenUp(store: ResumedStore) {
  const sinceMs = NOON_MS - 600_000;
  const markets = await resumedMarkets(store, { endAfterMs: NOON_MS - 86_400_000 });
  const ids = [...new Set([...MARKETS, ...markets.map(({ marketId }) => marketId)])];
  const text = (value: object) => JSON.stringify(value);
  return {
    markets,
    gaps: await resumedOpenGaps(store),
    books: (await resumedLastBooks(store, ids)).sort((a, b) => (a.marketId < b.marketId ? -1 : 1)),
    proven: [...(await resumedLastProven(store, ids))].sort(),
    prices: await resumedPrices(store, { fromMs: sinceMs, toMs: Date.UTC(2030, 0) }),
    seconds: (await resumedSecondPrices(store, sinceMs)).sort((a, b) => (text(a) < text(b) ? -1 : 1)),
  };
}

/**
 * Opens the store while inserts are not allowed, then lets recovery run; returns the loaded data before and after it.
 */
async function beforeAndAfterRecovery(dataDir: string) {
  let allowed = false;
  opened = await openTestStore({
    dataDir,
    clock: rig.clock,
    recovery: 'background',
    mayInsert: () => allowed,
  });
  const { store } = opened;
  expect(store.waiting.isEmpty).toBe(false);
  const before = await takenUp(store);
  allowed = true;
  await rig.whileTimePasses(store.writer.startRecovery(), 250);
  expect(store.waiting.isEmpty).toBe(true);
  return { before, after: await takenUp(store) };
}

test('a start loads the same data before and after the waiting rows are in the engine', async () => {
  const stored = await openTestStore({ dataDir: rig.dataDir });
  const { writer } = stored.store;
  writer.market({ ...marketRecord({ marketId: 'only stored' }), seq: 1 });
  writer.market({ ...marketRecord({ marketId: 'both' }), seq: 2 });
  for (const gapId of ['closed later', 'stays open']) writer.gap(gap(gapId, 3, { endTimeMs: null }));
  // Newer than the waiting rows of these keys.
  writer.gap(gap('closed by another', 90, { endTimeMs: NOON_MS }));
  writeBook(writer, { marketId: 'only stored', seq: 10, atMs: NOON_MS });
  writeBook(writer, { marketId: 'both', seq: 11, atMs: NOON_MS });
  writePrices(writer, { fromSeq: 100, fromMs: NOON_MS - 2_100 });
  await writer.flush();
  await stored.store.close();

  const killed = await rig.open();
  killed.market({
    ...marketRecord({ marketId: 'both', status: 'resolved', outcome: 'Up', strikePrice: 97_000.25 }),
    seq: 20,
  });
  // Without a source, a delay of 0 is the exchange's, and any other one is the table's of an earlier release.
  const withoutDelay = { marketId: 'only waits', recordedSinceMs: NOON_MS, takerDelayMs: 0 };
  killed.market({ ...marketRecord(withoutDelay), seq: 21 });
  killed.gap(gap('closed later', 22, { endTimeMs: NOON_MS }));
  killed.gap(gap('only waits', 23, { endTimeMs: null }));
  killed.gap(gap('closed by another', 24, { endTimeMs: null }));
  writeBook(killed, { marketId: 'both', seq: 31, atMs: NOON_MS + 50 });
  // For equal times the later arrival counts, otherwise the later time.
  writeBook(killed, { marketId: 'both', seq: 32, atMs: NOON_MS + 50 });
  writeBook(killed, { marketId: 'both', seq: 33, atMs: NOON_MS + 40 });
  writeBook(killed, { marketId: 'only waits', seq: 34, atMs: NOON_MS });
  writeBook(killed, { marketId: 'wide', seq: 35, atMs: NOON_MS, wide: true });
  writePrices(killed, { fromSeq: 300, fromMs: NOON_MS - 600 });
  // A trade at a whole second belongs to the second that ends with it.
  const whole = { eventTimeMs: NOON_MS + 1_000, receivedTimeMs: NOON_MS + 1_007 };
  const trade = { kind: 'underlying', ticker: 'BTC', source: 'binance_spot', ...whole } as const;
  killed.underlying({ ...trade, seq: 400, price: 97_777 });
  const over = { startTimeMs: NOON_MS - 86_700_000, endTimeMs: NOON_MS - 86_400_000 };
  killed.market({ ...marketRecord({ marketId: 'over', ...over }), seq: 25 });
  await rig.clock.advance(100);
  await killed.keep();
  await rig.killRuns();

  const scan = scanJournals({ dataDir: rig.dataDir, clock: rig.clock, log: silentLogger });
  const { waiting } = await scan;
  await releaseRuns(scan);
  expect(MARKETS.map((marketId) => waiting.lastProven(marketId)?.seq ?? null)).toEqual([34, null, 32, null]);

  const { before, after } = await beforeAndAfterRecovery(rig.dataDir);
  expect(before).toEqual(after);
  expect(before.markets.map(({ marketId, status }) => [marketId, status])).toEqual([
    ['both', 'resolved'],
    ['only stored', 'open'],
    ['only waits', 'open'],
  ]);
  expect(before.markets.map(({ takerDelayMs }) => takerDelayMs)).toEqual([null, null, 0]);
  expect(before.gaps.map(({ gapId }) => gapId)).toEqual(['only waits', 'stays open']);
  expect(before.books.map(({ marketId, seq }) => [marketId, seq])).toEqual([
    ['both', 32],
    ['only stored', 10],
    ['only waits', 34],
    ['wide', 35],
  ]);
  expect(before.proven.map(([marketId, { seq }]) => [marketId, seq])).toEqual([
    ['both', 32],
    ['only stored', 10],
    ['only waits', 34],
  ]);
  expect(before.prices.length).toBeGreaterThan(5);
});

test('waiting rows of an earlier release are loaded', async () => {
  const fixture = join(import.meta.dirname, '../../../test/fixtures/dataDirectory/187b58b.tar.gz');
  execFileSync('tar', ['-xzf', fixture, '-C', rig.dataDir]);
  const { before, after } = await beforeAndAfterRecovery(rig.dataDir);
  expect(before).toEqual(after);
  for (const found of [before.markets, before.books, before.prices]) expect(found.length).toBeGreaterThan(0);
});

test.each([
  [1_000, [5]],
  [1_001, []],
])('the prices of a start since %i ms include a waiting one of that time: %j', async (sinceMs, prices) => {
  const of = { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 5, seq: 1 } as const;
  const waitingPrice = { ...of, eventTimeMs: 1_000, receivedTimeMs: 1_007 };
  const waiting = {
    prices: ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
      [waitingPrice].filter(({ eventTimeMs }) => eventTimeMs > fromMs && eventTimeMs <= toMs),
  };
  const store = { rows: async () => [], waiting } as unknown as ResumedStore;
  expect((await resumedSecondPrices(store, sinceMs)).map(({ price }) => price)).toEqual(prices);
});
