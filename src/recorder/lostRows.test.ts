import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore } from '../../test/support/store.ts';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import { coverLostRows } from './lostRows.ts';
import { Recorder } from './recorder.ts';

const { startTimeMs, endTimeMs } = MARKET;
const signal = new AbortController().signal;

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
  return { store, recorder, cover, dispose, gaps: () => loadGapsOf(store, ids, signal) };
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
      ...{ startTimeMs: startTimeMs + 60_000, endTimeMs: startTimeMs + 90_000 },
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
    const { cover, gaps, dispose } = await rig();
    await cover(startTimeMs, endTimeMs);
    await cover(startTimeMs, startTimeMs + 1_000);
    const before = (await gaps()).filter(({ marketId }) => marketId === 'recorded before its window');
    expect(before.map(({ endTimeMs: ms }) => ms).sort()).toEqual([startTimeMs + 1_000, endTimeMs]);
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
