import { expect, onTestFinished, test } from 'vitest';
import { KEY, marketRecord, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { oneClock } from '../../test/support/gaps.ts';
import { openTestStore } from '../../test/support/store.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const M = `0x${'a'.repeat(64)}`;

test.each(['book_mismatch', 'thinned', 'retention'] as const)(
  'a quote that was trusted on arrival counts, though a later gap covers it: %s',
  async (cause) => {
    const { store, dispose } = await openTestStore();
    const app = testApi({ store, clock: new FakeClock(T0 + 60 * MINUTE) });
    onTestFinished(async () => {
      await app.close();
      await dispose();
    });
    const window = { marketId: M, startTimeMs: T0, endTimeMs: T0 + 5 * MINUTE };
    store.writer.market({
      ...marketRecord({ ...window, status: 'resolved', outcome: 'Up', payoutYes: 1 }),
      seq: 1,
    });
    const quote = (seq: number, atMs: number, bid: number) =>
      store.writer.quote({
        ...{
          seq,
          marketId: M,
          eventTimeMs: T0 + atMs,
          receivedTimeMs: T0 + atMs,
          yesBid: bid,
          yesAsk: bid + 200,
        },
        ...{ noBid: null, noAsk: null, yesChanged: true, trusted: true, underlyingPrice: null },
      });
    quote(2, 1_000, 2_000);
    // Stored as trusted; its gap was recorded afterwards.
    quote(3, 2 * MINUTE, 9_000);
    store.writer.gap(
      oneClock({
        ...{ seq: 4, gapId: 'g', marketId: M, startTimeMs: T0 + 1_000, endTimeMs: T0 + 6 * MINUTE },
        ...{ cause, feed: 'polymarket.clob', repairedBy: null },
        ...{ knownTimeMs: T0 + 3 * MINUTE, knownSeq: 4 },
      }),
    );
    await store.writer.flush();
    const get = async (url: string) => (await app.inject({ url, headers: KEY })).json();
    const { snapshots } = await get(`/v1/markets/${M}/timeseries`);
    expect(snapshots.map(({ mid_yes }: { mid_yes: number | null }) => mid_yes)).toEqual([0.21, null]);
    const { buckets } = await get('/v1/stats/calibration');
    const used = buckets.filter(({ n_markets: markets }: { n_markets: number }) => markets > 0);
    expect(used.map(({ mean_prob: mean }: { mean_prob: number }) => mean)).toEqual([0.91]);
  },
);
