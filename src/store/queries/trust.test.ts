import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookRecord, KEY, marketRecord, testApi } from '../../../test/support/api.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { loadTape } from './tapeReader.ts';
import { loadTapeGaps } from './universe.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = '0xaa';
/** Time between rows. Books and quotes are received at once and stored as trusted. */
const STEP_MS = 500;

let opened: TestStore;
const get = async (url: string) => {
  const app = testApi({ store: opened.store, clock: new FakeClock(T0 + 60_000) });
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
  // Detected after rows 2 to 4 were written; row 1 was the last good one and row 5 verified the book again.
  writer.gap(
    oneClock({
      ...{ ...common, ...known },
      ...{ gapId: 'a', seq: 10, startTimeMs: T0 + STEP_MS, endTimeMs: T0 + 5 * STEP_MS },
    }),
  );
  writer.gap(
    oneClock({
      ...common,
      ...known,
      ...{ gapId: 'b', seq: 11, startTimeMs: T0 + 6 * STEP_MS, endTimeMs: null },
    }),
  );
  await writer.flush();
});
afterAll(() => opened?.dispose());

const TRUSTED = [true, true, false, false, false, true, true, false];

test('rows inside a gap are not trusted, even if they were stored before the gap was detected', async () => {
  const { snapshots } = await get(`/v1/snapshots?market_id=${M}`);
  expect(snapshots.map((row: { trusted: boolean }) => row.trusted)).toEqual(TRUSTED);
  expect((await get(`/v1/markets/${M}/orderbook`)).trusted).toBe(false);
  const at = new Date(T0 + 5 * STEP_MS).toISOString();
  expect((await get(`/v1/snapshot-at/${at}?market_id=${M}`)).trusted).toBe(true);
});

test.each([
  ['the last good receive time', 500, true],
  ['one millisecond later, before the next row', 501, false],
  ['between rows inside the gap', 2_200, false],
  ['just before verification', 2_499, false],
  ['the proof', 2_500, true],
  ['after it', 2_800, true],
  ['the last good receive time before the open gap', 3_000, true],
  ['in the open gap', 3_200, false],
  ['long after', 86_400_000, false],
])('the book in force at %s is trusted: %3$s', async (_when, afterMs, trusted) => {
  const at = new Date(T0 + afterMs).toISOString();
  expect((await get(`/v1/snapshot-at/${at}?market_id=${M}`)).trusted).toBe(trusted);
  expect((await get(`/v1/markets/${M}/orderbook?at=${at}`)).trusted).toBe(trusted);
});

test('rows inside a gap give no mid', async () => {
  const { snapshots } = await get(`/v1/markets/${M}/timeseries`);
  expect(snapshots.map((point: { mid_yes: number | null }) => point.mid_yes !== null)).toEqual(TRUSTED);
  const candles = await get(
    `/v1/candles?market_id=${M}&timeframe=5m&start=${new Date(T0).toISOString()}&end=${new Date(T0 + 300_000).toISOString()}`,
  );
  // Mids of rows 0, 1, 5 and 6: 0.51, 0.505, 0.485 and 0.48.
  expect(candles.candles).toMatchObject([{ open: 0.51, high: 0.51, low: 0.48, close: 0.48 }]);
});

test('an open gap reduces the coverage until the end of the window', async () => {
  expect((await get(`/v1/markets/${M}`)).coverage).toBe(0.1);
});

/** Times of a row or a gap on two clocks: the venue's timestamp and the receive time. */
type Times = readonly [eventMs: number, receivedMs: number];

async function trustOf(
  marketId: string,
  rows: readonly Times[],
  gaps: readonly [Times, Times | null, 'old'?][],
) {
  const { writer } = opened.store;
  const seqOf = (index: number) => 1_000 + index;
  writer.market({ ...marketRecord({ marketId, startTimeMs: T0, endTimeMs: T0 + 10_000 }), seq: 1 });
  for (const [index, [eventMs, receivedMs]] of rows.entries()) {
    const yesAsks: [number, number][] = [[5200, 1_000_000 * (index + 1)]];
    writer.book({
      ...bookRecord({ seq: seqOf(index), marketId, timeMs: 0, yesBids: [[5000, 1_000_000]], yesAsks }),
      ...{ eventTimeMs: T0 + eventMs, receivedTimeMs: T0 + receivedMs },
    });
  }
  for (const [index, [start, end, old]] of gaps.entries()) {
    const received = { startReceivedMs: T0 + start[1], endReceivedMs: end && T0 + end[1] };
    writer.gap({
      ...{ gapId: `gap_${index}`, marketId, seq: 5_000 + index, cause: 'disconnected', feed: 'f' },
      ...{ startTimeMs: T0 + start[0], endTimeMs: end && T0 + end[0] },
      // Earlier releases did not write these columns.
      ...(old === undefined ? received : { startReceivedMs: null as never, endReceivedMs: null }),
      ...{ repairedBy: null, knownTimeMs: null, knownSeq: null },
    });
  }
  await writer.flush();
  const { snapshots } = await get(`/v1/snapshots?market_id=${marketId}`);
  return snapshots.map((row: { trusted: boolean }) => row.trusted);
}

test.each<[string, readonly Times[], [Times, Times | null, 'old'?][], boolean[]]>([
  [
    'rows between its ends by `ts`, even if they were received late',
    [
      [0, 50],
      [100, 150],
      [200, 9_000],
      [300, 9_050],
      [400, 9_100],
    ],
    [
      [
        [100, 150],
        [400, 9_100],
      ],
    ],
    [true, true, false, false, true],
  ],
  [
    'no rows outside its `ts` range, even if a clock set back gave them receive times inside it',
    [
      [0, 5_000],
      [100, 5_100],
      [200, 800],
      [300, 900],
      [1_000, 5_050],
    ],
    [
      [
        [200, 800],
        [1_000, 5_050],
      ],
    ],
    [true, true, true, false, true],
  ],
  [
    'rows with the `ts` of its ends, decided by receive time',
    [
      [100, 150],
      [100, 160],
      [100, 170],
      [400, 450],
      [400, 460],
    ],
    [
      [
        [100, 150],
        [400, 460],
      ],
    ],
    [true, false, false, false, true],
  ],
  [
    'no rows if the book did not change meanwhile',
    [
      [100, 150],
      [200, 250],
    ],
    [
      [
        [200, 250],
        [200, 9_000],
      ],
    ],
    [true, true],
  ],
  [
    'all later rows while it is open',
    [
      [100, 150],
      [200, 250],
    ],
    [[[100, 150], null]],
    [true, false],
  ],
  [
    'rows by receive time only, for gaps of an earlier release',
    [
      [0, 50],
      [100, 150],
      [200, 250],
      [300, 350],
      [400, 450],
    ],
    [[[150, 0], [350, 0], 'old']],
    [true, true, false, true, true],
  ],
])('a gap contains %s', async (name, rows, gaps, trusted) => {
  expect(await trustOf(`0x${Buffer.from(name).toString('hex').slice(0, 60)}`, rows, gaps)).toEqual(trusted);
});

test('a gap is answered with the times of the rows at its ends on both clocks', async () => {
  const marketId = '0xb07h';
  await trustOf(
    marketId,
    [
      [100, 150],
      [400, 460],
    ],
    [
      [
        [100, 150],
        [400, 460],
      ],
    ],
  );
  await trustOf('0x01d', [], [[[150, 0], null, 'old']]);
  expect((await get(`/v1/gaps?market_id=${marketId}`)).gaps).toMatchObject([
    {
      ...{ start: '2026-11-20T12:00:00.100+00:00', end: '2026-11-20T12:00:00.400+00:00' },
      start_received: '2026-11-20T12:00:00.150+00:00',
      end_received: '2026-11-20T12:00:00.460+00:00',
    },
  ]);
  expect((await get('/v1/gaps?market_id=0x01d')).gaps).toMatchObject([
    {
      ...{ start: '2026-11-20T12:00:00.150+00:00', end: null },
      ...{ start_received: '2026-11-20T12:00:00.150+00:00', end_received: null },
    },
  ]);
});

test('a range that begins where a gap ends has the untrusted rows of that time, and their gap', async () => {
  const marketId = '0xed6e';
  await trustOf(
    marketId,
    [
      [100, 150],
      [400, 455],
      [400, 460],
    ],
    [
      [
        [100, 150],
        [400, 460],
      ],
    ],
  );
  const from = (ms: number) => `market_id=${marketId}&start=${new Date(T0 + ms).toISOString()}`;
  const { snapshots } = await get(`/v1/snapshots?${from(400)}`);
  expect(snapshots.map(({ trusted }: { trusted: boolean }) => trusted)).toEqual([false, true]);
  expect(await get(`/v1/gaps?${from(400)}`)).toMatchObject({ count: 1, gaps: [{ gap_id: 'gap_0' }] });
  expect(await get(`/v1/gaps?${from(400)}&limit=0`)).toMatchObject({ count: 1 });
  expect(await get(`/v1/gaps?${from(401)}`)).toMatchObject({ count: 0 });
  // No stored time lies between two milliseconds.
  const between = (T0 + 400.5) / 1_000;
  expect(await get(`/v1/gaps?market_id=${marketId}&start=${between}`)).toMatchObject({ count: 0 });
});

test('a replay reads rows as stored: a later detected gap takes effect at its detection', async () => {
  const marketId = '0x7ape';
  await trustOf(
    marketId,
    [
      [100, 150],
      [200, 250],
      [400, 460],
    ],
    [
      [
        [100, 150],
        [400, 460],
      ],
    ],
  );
  const market = { ...MARKET, marketId, startTimeMs: T0, endTimeMs: T0 + 10_000 };
  const terms = { depth: 5, prices: false };
  const gaps = (await loadTapeGaps(opened.store, [marketId])).get(marketId) ?? [];
  const tape = await loadTape(opened.store, { market, gaps, terms }, new AbortController().signal);
  expect([...(tape.books?.trusted ?? [])]).toEqual([1, 1, 1]);
  expect(tape.gaps).toEqual([{ startMs: T0 + 150, endMs: T0 + 460, knownMs: T0 + 150.5 }]);
});

test.each([
  ['books', 'retention', { books: 4, mids: 6, gaps: 0 }],
  ['books', 'thinned', { books: 4, mids: 6, gaps: 0 }],
  ['quotes', 'retention', { books: 6, mids: 4, gaps: 1 }],
  ['trades', 'retention', { books: 6, mids: 6, gaps: 0 }],
  ['books', 'data_lost', { books: 4, mids: 4, gaps: 1 }],
] as const)('a gap of %s (%s) leaves the rows of other tables trusted', async (table, cause, left) => {
  const { writer } = opened.store;
  const marketId = `0x${table}${cause}`;
  const facts = marketRecord({ marketId, startTimeMs: T0, endTimeMs: T0 + 10_000 });
  writer.market({ ...facts, seq: 1 });
  for (let index = 0; index < 6; index++) {
    const times = { eventTimeMs: T0 + index * STEP_MS, receivedTimeMs: T0 + index * STEP_MS };
    const yesAsks: [number, number][] = [[5200 + index, 1_000_000]];
    const levels = { yesBids: [[5000, 1_000_000]], yesAsks } as const;
    writer.book({ ...bookRecord({ seq: 100 + 2 * index, marketId, timeMs: 0, ...levels }), ...times });
    writer.quote({
      ...{ ...times, marketId, seq: 101 + 2 * index, yesBid: 5000, yesAsk: 5200 + index },
      ...{ noBid: null, noAsk: null, yesChanged: true, trusted: true, underlyingPrice: null },
    });
  }
  writer.gap(
    oneClock({
      ...{ gapId: 'removed', marketId, seq: 500, cause, feed: `underround.${table}`, repairedBy: null },
      ...{ startTimeMs: T0 + STEP_MS, endTimeMs: T0 + 4 * STEP_MS, knownTimeMs: T0, knownSeq: 499 },
    }),
  );
  await writer.flush();
  const { snapshots } = await get(`/v1/snapshots?market_id=${marketId}`);
  const series = (await get(`/v1/markets/${marketId}/timeseries`)).snapshots;
  const gaps = (await loadTapeGaps(opened.store, [marketId])).get(marketId) ?? [];
  const terms = { depth: null, prices: false };
  const tape = await loadTape(opened.store, { market: facts, gaps, terms }, new AbortController().signal);
  expect({
    books: snapshots.filter(({ trusted }: { trusted: boolean }) => trusted).length,
    mids: series.filter(({ mid_yes }: { mid_yes: number | null }) => mid_yes !== null).length,
    gaps: tape.gaps.length,
  }).toEqual(left);
  const at = new Date(T0 + 2 * STEP_MS).toISOString();
  const inForce = await get(`/v1/snapshot-at/${at}?market_id=${marketId}`);
  expect(inForce.trusted).toBe(left.books === 6);
});
