import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { recordedMessages } from '../../../test/support/followedRecording.ts';
import { openTestStore } from '../../../test/support/store.ts';
import { aliveAt } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { Bus } from '../../bus/bus.ts';
import type { OnStreamMessage, RecordStream, StreamMessage } from '../../bus/recordStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { forward, type SideView } from '../../schema/records.ts';
import type { LiveRecording } from '../liveRecording.ts';
import type { MergedRecord } from '../merge/mergedRecord.ts';
import { RecordFollower } from './recordFollower.ts';
import { resumeFollower } from './resumeFollower.ts';

const levelsOf = ({ count, prices, sizes }: SideView) => [
  [...prices.subarray(0, count)],
  [...sizes.subarray(0, count)],
];

/** The state of the market, with its book as it was published last. */
function shown(live: LiveRecording) {
  const book = live.recorded(MARKET.marketId)?.liveBook();
  if (book == null || book === 'unfinished') return book;
  const { yes, no, trusted, underlyingPrice } = book;
  const sides = [yes.bids, yes.asks, no.bids, no.asks].map(levelsOf);
  return {
    trusted,
    underlyingPrice,
    sides,
    gap: live.gaps.of(MARKET.marketId),
    markets: [...live.markets()],
  };
}

/** Where a reader begins. */
type Place = Parameters<RecordStream['follow']>[0];

/** Messages by their number in the stream, from 1 on; the fold emits what each contains. */
function streamOf(messages: readonly MergedRecord[][], clock: FakeClock) {
  const alive = aliveAt(clock.now());
  const message = { kind: 'alive', body: alive, id: '', key: null, sender: 'c', run: 'r' } as StreamMessage;
  const fold = {
    step: (_: StreamMessage, { streamSeq }: { streamSeq: number }) => messages[streamSeq - 1] ?? [],
  };
  let listener: OnStreamMessage = () => {};
  const read = (from: number, to: number) => {
    for (let streamSeq = from; streamSeq <= to; streamSeq++)
      listener(message, { streamSeq, timeMs: clock.now(), partition: 0 });
  };
  const followed: Place[] = [];
  const stream = {
    baseSeq: 0,
    partitions: 1,
    lastSeq: async () => messages.length,
    follow: async (place: Place, onMessage: OnStreamMessage) => {
      followed.push(place);
      listener = onMessage;
      return { stop: async () => {} };
    },
  };
  return { fold, stream, read, followed };
}

test.each([1, 2, 3])('continues from the store and the checkpoint (seed %i)', async (seed) => {
  const { recorder, messages } = recordedMessages(seed);
  const clock = new FakeClock(MARKET.startTimeMs + 60_000);
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  // The writer had stored some rows more than its checkpoint says.
  const [checkpointSeq, storedSeq] = [Math.floor(messages.length / 2), Math.floor(messages.length / 2) + 7];
  for (const { kind, record } of messages.slice(0, storedSeq).flat())
    if (kind !== 'opportunity') forward(store.writer, kind, record as never);
  await store.writer.flush();
  const { fold, stream, read, followed } = streamOf(messages, clock);
  const observed = { log: silentLogger, metrics: new Metrics() };
  const bus = new Bus(observed);
  const published: number[] = [];
  bus.subscribe('book', ({ seq }) => void published.push(seq));
  const follower = new RecordFollower({ bus, clock, ...observed });
  onTestFinished(() => follower.close());
  let isResumed = false;
  const checkpoint = async () => ({ streamSeq: checkpointSeq, timeMs: 70, fold });
  const resuming = resumeFollower({ follower, stream, store, checkpoint, clock, log: silentLogger }).then(
    () => {
      isResumed = true;
    },
  );
  while (followed.length === 0) await clock.advance(0);
  read(1, messages.length - 1);
  await clock.advance(100);
  expect(isResumed).toBe(false);
  read(messages.length, messages.length);
  await clock.advance(100);
  await resuming;
  const after = { streamSeq: checkpointSeq, timeMs: 70 };
  expect(followed).toEqual([{ fromSeq: checkpointSeq + 1, after }]);
  // The next sign of life shows that what was read is the present.
  expect(shown(follower)).toMatchObject({ trusted: false });
  read(messages.length + 1, messages.length + 1);
  expect(shown(follower)).toEqual(shown(recorder));
  const books = messages
    .slice(storedSeq)
    .flat()
    .filter(({ kind }) => kind === 'book');
  expect(published).toEqual(books.map(({ record }) => (record as { seq: number }).seq));
});

test('a start with a long backlog, or without any message, ends after half a minute', async () => {
  const clock = new FakeClock(MARKET.startTimeMs);
  const { fold, stream } = streamOf([[], []], clock);
  const observed = { log: silentLogger, metrics: new Metrics() };
  const follower = new RecordFollower({ bus: new Bus(observed), clock, ...observed });
  onTestFinished(() => follower.close());
  const store = { rows: async () => [], stream: () => Promise.reject(new Error('nothing streams here')) };
  const checkpoint = async () => ({ streamSeq: 0, timeMs: 0, fold });
  let isResumed = false;
  void resumeFollower({ follower, stream, store, checkpoint, clock, log: silentLogger }).then(() => {
    isResumed = true;
  });
  await clock.advance(29_000);
  expect(isResumed).toBe(false);
  await clock.advance(1_100);
  expect(isResumed).toBe(true);
  expect(follower.reasons()).toEqual(['no collector heard for 30 s']);
});

/** Follows a stream without messages from a store with these markets and open gaps. */
async function resumed(
  rows: { readonly markets: readonly object[]; readonly gaps: readonly object[] },
  { storedTo, baseSeq }: { readonly storedTo: readonly number[]; readonly baseSeq: number },
) {
  const clock = new FakeClock(MARKET.startTimeMs);
  const { fold, stream, followed } = streamOf([], clock);
  const observed = { log: silentLogger, metrics: new Metrics() };
  const follower = new RecordFollower({ bus: new Bus(observed), clock, ...observed });
  onTestFinished(() => follower.close());
  const rowsOf = (query: string) => {
    if (query.includes('FROM markets FINAL')) return rows.markets;
    return query.includes('FROM gaps FINAL') ? rows.gaps : [];
  };
  const store = {
    rows: async (query: string) => rowsOf(query) as never,
    stream: () => Promise.reject(new Error('nothing streams here')),
  };
  await resumeFollower({
    ...{ follower, store, clock, log: silentLogger },
    stream: { ...stream, baseSeq, partitions: storedTo.length },
    checkpoint: async (partition) => ({
      streamSeq: storedTo[partition] as number,
      timeMs: 70 + partition,
      fold,
    }),
  });
  return { follower, followed };
}

test.each([
  // With the time of the message before it, the stream shows whether it has lost messages.
  ['behind the place of the partition that is stored least', [8, 5, 9], 6, { streamSeq: 5, timeMs: 71 }],
  ['from its beginning if nothing of a partition is stored', [8, 0, 9], 1, null],
])('the stream is read %s', async (_, storedTo, fromSeq, after) => {
  const { followed } = await resumed({ markets: [], gaps: [] }, { storedTo, baseSeq: 0 });
  expect(followed).toEqual([{ fromSeq, after }]);
});

test.each([
  ['found in the stream', 100, 'gap_1'],
  ['from before the stream', 99, undefined],
  ['of a release that did not number it', null, undefined],
])('of an open gap %s, known by number %j, is shown: %j', async (_, knownSeq, gapId) => {
  const gap = { gapId: 'gap_1', marketId: MARKET.marketId, startTimeMs: 1, endTimeMs: null, knownSeq };
  const { follower } = await resumed({ markets: [MARKET], gaps: [gap] }, { storedTo: [0], baseSeq: 100 });
  expect(follower.market(MARKET.marketId)).toEqual(MARKET);
  expect(follower.gaps.of(MARKET.marketId)?.gapId).toBe(gapId);
});
