import { expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { M, MINUTE, T0, writeDataSet } from '../../test/support/apiDataSet.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { oneClock } from '../../test/support/gaps.ts';
import { openTestStore } from '../../test/support/store.ts';

const RANGE = `start=${new Date(T0).toISOString()}&end=${new Date(T0 + 5 * MINUTE).toISOString()}`;
/** The fields of each list that a gap changes. */
const LISTS: readonly (readonly [url: string, fields: (body: never) => unknown])[] = [
  [
    `/v1/snapshots?market_id=${M}&${RANGE}`,
    ({ snapshots }: { snapshots: { trusted: boolean }[] }) => snapshots.map(({ trusted }) => trusted),
  ],
  [
    `/v1/markets/${M}/timeseries?${RANGE}`,
    ({ snapshots }: { snapshots: { mid_yes: number | null }[] }) => snapshots.map(({ mid_yes }) => mid_yes),
  ],
  [
    `/v1/candles?market_id=${M}&timeframe=5m&${RANGE}`,
    ({ candles }: { candles: { open: number }[] }) => candles.map(({ open }) => open),
  ],
  [`/v1/trades?market_id=${M}&${RANGE}`, ({ count }: { count: number }) => count],
];

test('a gap found long after a response invalidates cached copies whose trust it changes', async () => {
  const { store, dispose } = await openTestStore();
  const app = testApi({ store, clock: new FakeClock(T0 + 60 * MINUTE) });
  onTestFinished(async () => {
    await app.close();
    await dispose();
  });
  writeDataSet(store.writer);
  await store.writer.flush();

  const kept = await Promise.all(LISTS.map(([url]) => app.inject({ url, headers: KEY })));
  const again = () =>
    Promise.all(
      LISTS.map(async ([url, told], index) => {
        const headers = { ...KEY, 'if-none-match': String(kept[index]?.headers.etag) };
        const { statusCode, body } = await app.inject({ url, headers });
        return statusCode === 304 ? 304 : told(JSON.parse(body) as never);
      }),
    );
  expect(kept.map((answer, index) => LISTS[index]?.[1](answer.json() as never))).toEqual([
    [true, true, false],
    [0.515, null, null, 0.535, 0.405],
    [0.515],
    2,
  ]);
  expect(await again()).toEqual([304, 304, 304, 304]);

  store.writer.gap(
    oneClock({
      ...{ seq: 1000, gapId: 'gap_late', marketId: M, startTimeMs: T0 - 1, endTimeMs: T0 + 3000 },
      ...{ cause: 'silent_feed', feed: 'polymarket.clob', repairedBy: null },
      ...{ knownTimeMs: T0 + 30 * MINUTE, knownSeq: 999 },
    }),
  );
  await store.writer.flush();
  expect(await again()).toEqual([[false, false, false], [null, null, null, null, 0.405], [0.405], 304]);
});
