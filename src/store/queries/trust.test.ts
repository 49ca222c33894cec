import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookRecord, KEY, marketRecord, testApi } from '../../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = '0xaa';
/** Of the books and quotes: each half a second after the one before, received at once, all stored as trusted. */
const STEP_MS = 500;

let opened: TestStore;
const get = async (url: string) => {
  const app = testApi({ store: opened.store });
  const response = await app.inject({ url, headers: KEY });
  await app.close();
  return response.json();
};

beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  writer.market({ ...marketRecord({ marketId: M, startTimeMs: T0, endTimeMs: T0 + 10_000 }), seq: 1 });
  const at = (index: number) => ({
    eventTimeMs: T0 + index * STEP_MS,
    receivedTimeMs: T0 + index * STEP_MS,
    seq: index + 2,
    marketId: M,
  });
  for (let index = 0; index < 8; index++) {
    const yesAsks: [number, number][] = [[5200, 1_000_000 * (index + 1)]];
    writer.book({
      ...bookRecord({ seq: 0, marketId: M, timeMs: 0, yesBids: [[5000, 1_000_000]], yesAsks }),
      ...at(index),
    });
    writer.quote({
      ...at(index),
      ...{
        yesBid: 5000 - 100 * index,
        yesAsk: 5200,
        noBid: null,
        noAsk: null,
        yesChanged: true,
        trusted: true,
      },
      underlyingPrice: null,
    });
  }
  const common = { marketId: M, cause: 'silent_market', feed: 'polymarket.clob', repairedBy: null } as const;
  const known = { knownTimeMs: null, knownSeq: null };
  // Found after rows 2 to 4 had been written; row 1 was the last good one and row 5 proved the book again.
  writer.gap({
    ...{ ...common, ...known },
    ...{ gapId: 'a', seq: 10, startTimeMs: T0 + STEP_MS, endTimeMs: T0 + 5 * STEP_MS },
  });
  writer.gap({
    ...common,
    ...known,
    ...{ gapId: 'b', seq: 11, startTimeMs: T0 + 6 * STEP_MS, endTimeMs: null },
  });
  await writer.flush();
});
afterAll(() => opened?.dispose());

const TRUSTED = [true, true, false, false, false, true, true, false];

test('what came out of a gap is not trusted, though it was stored before the gap was found', async () => {
  const { snapshots } = await get(`/v1/snapshots?market_id=${M}`);
  expect(snapshots.map((row: { trusted: boolean }) => row.trusted)).toEqual(TRUSTED);
  expect((await get(`/v1/markets/${M}/orderbook`)).trusted).toBe(false);
  const at = new Date(T0 + 5 * STEP_MS).toISOString();
  expect((await get(`/v1/snapshot-at/${at}?market_id=${M}`)).trusted).toBe(true);
});

test.each([
  ['the last good receipt', 500, true],
  ['a moment later, before anything else came', 501, false],
  ['between rows of the gap', 2_200, false],
  ['just before the proof', 2_499, false],
  ['the proof', 2_500, true],
  ['after it', 2_800, true],
  ['the last good receipt before the open gap', 3_000, true],
  ['in the open gap', 3_200, false],
  ['long after', 86_400_000, false],
])('the book in force at %s is trusted: %3$s', async (_when, afterMs, trusted) => {
  const at = new Date(T0 + afterMs).toISOString();
  expect((await get(`/v1/snapshot-at/${at}?market_id=${M}`)).trusted).toBe(trusted);
  expect((await get(`/v1/markets/${M}/orderbook?at=${at}`)).trusted).toBe(trusted);
});

test('nor does it make a mid', async () => {
  const { snapshots } = await get(`/v1/markets/${M}/timeseries`);
  expect(snapshots.map((point: { mid_yes: number | null }) => point.mid_yes !== null)).toEqual(TRUSTED);
  const candles = await get(
    `/v1/candles?market_id=${M}&timeframe=5m&start=${new Date(T0).toISOString()}&end=${new Date(T0 + 300_000).toISOString()}`,
  );
  // Mids of rows 0, 1, 5 and 6: 0.51, 0.505, 0.485 and 0.48.
  expect(candles.candles).toMatchObject([{ open: 0.51, high: 0.51, low: 0.48, close: 0.48 }]);
});

test('an open gap takes from the coverage to the end of the window', async () => {
  expect((await get(`/v1/markets/${M}`)).coverage).toBe(0.1);
});
