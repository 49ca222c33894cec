import { describe, expect, it } from 'vitest';
import { bookRecord, KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { openTestStore } from '../../test/support/store.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import { coverLostRows } from './lostRows.ts';
import { Recorder } from './recorder.ts';

const { startTimeMs, endTimeMs } = MARKET;

function market(marketId: string, change: Partial<Market>): Market {
  return { ...MARKET, marketId, yesTokenId: `${marketId}y`, noTokenId: `${marketId}n`, ...change };
}

/** One market in each state that lost rows may meet, named by the expected result. */
const MARKETS: readonly Market[] = [
  market('open then', {}),
  market('recorded before its window', { startTimeMs: endTimeMs, recordedSinceMs: startTimeMs }),
  market('resolved before', { status: 'resolved', resolvedTimeMs: startTimeMs }),
  market('begun after', { startTimeMs: endTimeMs, endTimeMs: endTimeMs + 300_000 }),
];

async function rig() {
  const clock = new FakeClock(endTimeMs + 60_000);
  const { store, dispose } = await openTestStore();
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: store.writer, timeBy: 'receipt' });
  for (const one of MARKETS) recorder.track(one);
  // Followed ahead of its window and not proven yet: only its rows show that it was recorded.
  const early = market('with rows then', { startTimeMs: endTimeMs, endTimeMs: endTimeMs + 300_000 });
  recorder.track(early);
  const times = { eventTimeMs: startTimeMs + 60_000, receivedTimeMs: startTimeMs + 60_000 };
  const trade = { side: 'BUY_NO', price: 1, size: 1, tradeId: '' } as const;
  store.writer.trade({ seq: 1, marketId: early.marketId, ...times, ...trade });
  await store.writer.flush();
  const cover = (fromMs: number | null, toMs: number | null, insertedAgain = 0) =>
    coverLostRows([{ id: 'books/1', table: 'books', part: '1', rows: 9, fromMs, toMs }], {
      store: {
        ...store,
        writer: { flush: () => store.writer.flush(), reinsertKept: async () => insertedAgain },
      },
      ...{ recorder, clock },
      log: silentLogger,
    });
  const ids = [...MARKETS, early].map(({ marketId }) => marketId);
  let seq = 1;
  /** Stores a proven book of a market, received 50 ms after its venue time. */
  const proved = (marketId: string, timeMs: number) => {
    const levels = { yesBids: [[4_900, 1_000_000]], yesAsks: [[5_100, 1_000_000]] } as const;
    const book = bookRecord({ seq: ++seq, marketId, timeMs, ...levels });
    store.writer.book({ ...book, receivedTimeMs: timeMs + 50 });
  };
  return { store, recorder, cover, proved, dispose, gaps: () => loadGapsOf(store, ids) };
}

describe('rows lost with a broken part', () => {
  it('are covered by a gap of every market recorded at that time, and of no other', async () => {
    const { cover, gaps, dispose, recorder } = await rig();
    const open = { marketId: 'open then', cause: 'book_mismatch', feed: 'f' } as const;
    const start = { eventTimeMs: endTimeMs + 1_000, receivedTimeMs: endTimeMs + 1_000 };
    recorder.gaps.open({ ...open, start, knownTimeMs: endTimeMs + 1_000 });
    await cover(startTimeMs + 60_000, startTimeMs + 90_000);
    const lost = (await gaps()).filter(({ cause }) => cause === 'data_lost');
    expect(lost.map(({ marketId }) => marketId).sort()).toEqual([
      'open then',
      'recorded before its window',
      'with rows then',
    ]);
    expect(lost[0]).toMatchObject({
      // Nothing of it is stored, so the gap lasts as long as it was recorded.
      ...{ startTimeMs: startTimeMs + 60_000, endTimeMs: endTimeMs + 300_000 },
      ...{ feed: 'underround', repairedBy: null, knownTimeMs: endTimeMs + 60_000 },
    });
    await dispose();
  });

  it.each([
    [9, 0],
    [8, 3],
    [10, 3],
  ])('make no gap only if all 9 were reinserted: %i were, %i gaps', async (insertedAgain, expected) => {
    const { cover, gaps, dispose } = await rig();
    await cover(startTimeMs + 60_000, startTimeMs + 90_000, insertedAgain);
    expect((await gaps()).length).toBe(expected);
    await dispose();
  });

  it('are covered by the same gaps when a restart reports them again', async () => {
    const { cover, gaps, dispose } = await rig();
    await cover(startTimeMs, endTimeMs);
    const ids = (await gaps()).map(({ gapId }) => gapId);
    await cover(startTimeMs, endTimeMs);
    expect((await gaps()).map(({ gapId }) => gapId)).toEqual(ids);
    await dispose();
  });

  it('of two parts that begin together are covered to the end of the longer one', async () => {
    const { cover, gaps, dispose, proved } = await rig();
    for (const afterMs of [2_000, 400_000]) proved('recorded before its window', startTimeMs + afterMs);
    await cover(startTimeMs, endTimeMs);
    await cover(startTimeMs, startTimeMs + 1_000);
    const before = (await gaps()).filter(({ marketId }) => marketId === 'recorded before its window');
    expect(before.map(({ endTimeMs: ms }) => ms).sort()).toEqual([
      startTimeMs + 2_000,
      startTimeMs + 400_000,
    ]);
    await dispose();
  });

  it('are covered from the last proven row before them to the first one after them', async () => {
    const { cover, dispose, proved, store, recorder } = await rig();
    const { marketId } = MARKET;
    recorder.track(MARKET);
    const at = (afterMs: number) => startTimeMs + afterMs;
    for (const afterMs of [-5_000, 0, 60_000, 90_000]) proved(marketId, at(afterMs));
    await cover(at(10_000), at(20_000));
    const [gap] = await loadGapsOf(store, [marketId]);
    expect(gap).toMatchObject({ startTimeMs: at(0), endTimeMs: at(60_000) });
    expect(gap).toMatchObject({ startReceivedMs: at(50), endReceivedMs: at(60_050) });
    const app = testApi({ store });
    const trusted = async (afterMs: number) => {
      const url = `/v1/snapshot-at/${new Date(at(afterMs)).toISOString()}?market_id=${marketId}`;
      return (await app.inject({ url, headers: KEY })).json().trusted;
    };
    // The book before the loss is right at its own time, but not until the next row.
    const answers = [await trusted(0), await trusted(5_000), await trusted(30_000), await trusted(60_000)];
    expect(answers).toEqual([true, false, false, true]);
    await app.close();
    await dispose();
  });

  it('cause every followed market to be written again if their table is not partitioned by day', async () => {
    const { cover, gaps, dispose, store } = await rig();
    const newest = 'SELECT max(seq) AS seq FROM markets';
    const [before] = await store.rows<{ seq: number }>(newest);
    await cover(null, null);
    const [after] = await store.rows<{ seq: number }>(newest);
    expect(after!.seq).toBeGreaterThan(before!.seq);
    expect(await gaps()).toEqual([]);
    await dispose();
  });
});

describe('rows lost after which no row of a market is stored', () => {
  const LOST = { fromMs: startTimeMs + 10_000, toMs: startTimeMs + 20_000 };

  /**
   * Covers the loss in a market that the recorder follows.
   * @param bookTimeMs When its newest book changed; null before its first book.
   * @param nowMs When the loss is found.
   */
  async function cover(bookTimeMs: number | null, nowMs: number, prepare?: (recorder: Recorder) => void) {
    const clock = new FakeClock(nowMs);
    const sink = new MemorySink();
    const recorder = new Recorder({
      clock,
      sink,
      log: silentLogger,
      metrics: new Metrics(),
      timeBy: 'receipt',
    });
    recorder.track(MARKET);
    const wire = new WireMarket();
    wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
    if (bookTimeMs !== null) recorder.clobFrame(wire.snapshot(bookTimeMs), bookTimeMs + 50);
    recorder.finishQuiet(Number.POSITIVE_INFINITY);
    prepare?.(recorder);
    const written = sink.books.length;
    const { marketId } = MARKET;
    const rows = async <T>(query: string) =>
      (query.includes('recorded_since')
        ? [{ marketId }]
        : query.includes('countIf')
          ? [{ marketId, beforeMs: [[startTimeMs, startTimeMs + 50]], afterMs: [] }]
          : [{ marketId, endTimeMs }]) as T[];
    const writer = { flush: async () => undefined, reinsertKept: async () => 0 };
    const stream = () => Promise.reject(new Error('nothing streams here'));
    const part = { id: 'books/1', table: 'books', part: '1', rows: 9, ...LOST };
    await coverLostRows([part], { store: { rows, stream, writer }, recorder, clock, log: silentLogger });
    const gap = sink.gaps.find(({ cause }) => cause === 'data_lost');
    expect(gap).toMatchObject({ startTimeMs, startReceivedMs: startTimeMs + 50 });
    return { gap, recorder, wire, sink, again: sink.books.slice(written) };
  }

  const NOW = startTimeMs + 30_000;

  it('are covered to its newest book, which is written again', async () => {
    const { gap, again } = await cover(LOST.toMs, NOW);
    expect(gap).toMatchObject({ endTimeMs: LOST.toMs, endReceivedMs: NOW });
    expect(again).toMatchObject([{ eventTimeMs: LOST.toMs, receivedTimeMs: NOW, trusted: true }]);
  });

  it('are covered to their end where its newest book is older than they are', async () => {
    const { gap, again } = await cover(startTimeMs, NOW);
    expect(gap).toMatchObject({ endTimeMs: LOST.toMs, endReceivedMs: NOW });
    expect(again).toEqual([]);
  });

  it('are covered up to its open gap, after which the next proven book is written as a whole', async () => {
    const lose = (recorder: Recorder) =>
      recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], LOST.toMs + 5_000);
    const { gap, again, recorder, wire, sink } = await cover(LOST.toMs, NOW, lose);
    expect(gap).toMatchObject({ endTimeMs: LOST.toMs + 1 });
    expect(recorder.gaps.of(MARKET.marketId)).toMatchObject({ startTimeMs: LOST.toMs });
    expect(again).toEqual([]);
    const before = sink.books.length;
    recorder.clobFrame(wire.snapshot(LOST.toMs), NOW + 1_000);
    recorder.finishQuiet(Number.POSITIVE_INFINITY);
    expect(sink.books.slice(before)).toMatchObject([{ eventTimeMs: LOST.toMs, trusted: true }]);
  });

  it('are covered to the end of its recording where nothing will prove its book', async () => {
    const { gap } = await cover(null, endTimeMs + 1_000);
    expect(gap).toMatchObject({ endTimeMs: endTimeMs + 300_000 });
  });
});
