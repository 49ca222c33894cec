import { expect, test } from 'vitest';
import { book } from '../../../test/support/records.ts';
import { openTestStore } from '../../../test/support/store.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import type { Gap } from '../../schema/gap.ts';
import type { BookRecord } from '../../schema/records.ts';
import { forward } from '../../schema/records.ts';
import { firstState, PartitionMerge, type PartitionMergeState } from './earlierRecording.ts';

const BASE_SEQ = 1_000_000;
const T0 = MARKET.startTimeMs + 60_000;
const M = MARKET.marketId;
const PROVEN = { eventTimeMs: T0 - 40_000, receivedTimeMs: T0 - 39_990 };

function bookAt(timeMs: number, trusted = true): Omit<BookRecord, 'seq'> {
  const [yes, no] = [book([[4_000, 5_000_000]], []), book([], [[6_000, 5_000_000]])];
  const times = { eventTimeMs: timeMs, receivedTimeMs: timeMs + 10 };
  return { marketId: M, ...times, yes, no, mirrored: true, trusted, underlyingPrice: null };
}

function action(number: number, row: Omit<BookRecord, 'seq'>): StreamMessage {
  const hash = { ladderHash: `h${number}`, occurrence: 0, isRepeated: false };
  const sent = { id: `a${number}`, key: M, sender: 'c', run: 'r' };
  return { kind: 'action', body: { book: row, quote: null, ...hash }, ...sent };
}

const place = (streamSeq: number) => ({ streamSeq, timeMs: T0 + streamSeq, partition: 0 });
const gapsOf = (records: ReturnType<PartitionMerge['step']>) =>
  records.flatMap(({ kind, record }) => (kind === 'gap' ? [record] : []));

test('a market that was recorded before the stream has a gap until its first proven row in it', () => {
  const state: PartitionMergeState = { merge: null, earlier: { [M]: { proven: PROVEN } } };
  let merge = new PartitionMerge({ baseSeq: BASE_SEQ }, state);
  expect(gapsOf(merge.step(action(1, bookAt(T0, false)), place(1)))).toEqual([]);
  // Another writer continues.
  merge = new PartitionMerge({ baseSeq: BASE_SEQ }, merge.state());
  const records = merge.step(action(2, bookAt(T0 + 500)), place(2));
  expect(records.map(({ kind }) => kind)).toEqual(['gap', 'quote', 'book']);
  const seq = BASE_SEQ + 4;
  expect(records[0]?.record).toMatchObject({
    ...{ marketId: M, cause: 'process_down', feed: 'underround', repairedBy: 'snapshot' },
    ...{ startTimeMs: PROVEN.eventTimeMs, startReceivedMs: PROVEN.receivedTimeMs },
    ...{
      endTimeMs: T0 + 500,
      endReceivedMs: T0 + 510,
      seq,
      knownSeq: seq,
    },
  });
  expect(gapsOf(merge.step(action(3, bookAt(T0 + 900)), place(3)))).toEqual([]);
});

test('a gap that one process left open ends with that row', async () => {
  const gap: Gap = {
    ...{ gapId: 'gap_open', marketId: M, startTimeMs: T0 - 60_000, startReceivedMs: T0 - 60_000 },
    ...{ endTimeMs: null, endReceivedMs: null, knownTimeMs: T0 - 59_000, knownSeq: 7 },
    ...{ cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null },
  };
  const { store, dispose } = await openTestStore();
  try {
    forward(store.writer, 'market', { ...MARKET, status: 'open', confirmedTimeMs: null, seq: 1 });
    forward(store.writer, 'book', { ...bookAt(PROVEN.eventTimeMs), seq: 2 });
    await store.writer.flush();
    const parts = { partition: 0, partitions: 1, nowMs: T0 };
    const row = { eventTimeMs: PROVEN.eventTimeMs, receivedTimeMs: PROVEN.eventTimeMs + 10 };
    expect(await firstState(store, parts)).toEqual({ merge: null, earlier: { [M]: { proven: row } } });
    forward(store.writer, 'gap', { ...gap, seq: 7 });
    await store.writer.flush();
    const state = await firstState(store, parts);
    expect(state).toEqual({ merge: null, earlier: { [M]: { open: gap } } });
    const merge = new PartitionMerge({ baseSeq: BASE_SEQ }, state);
    const [closed] = gapsOf(merge.step(action(1, bookAt(T0)), place(1)));
    expect(closed).toMatchObject({ ...gap, endTimeMs: T0, endReceivedMs: T0 + 10, repairedBy: 'snapshot' });
  } finally {
    await dispose();
  }
});

test('only markets of the partition are asked for', async () => {
  const { store, dispose } = await openTestStore();
  try {
    forward(store.writer, 'market', { ...MARKET, status: 'open', confirmedTimeMs: null, seq: 1 });
    forward(store.writer, 'book', { ...bookAt(PROVEN.eventTimeMs), seq: 2 });
    await store.writer.flush();
    const states = [0, 1, 2, 3].map((partition) =>
      firstState(store, { partition, partitions: 4, nowMs: T0 }),
    );
    const found = (await Promise.all(states)).flatMap(({ earlier }) => Object.keys(earlier));
    expect(found).toEqual([M]);
  } finally {
    await dispose();
  }
});
