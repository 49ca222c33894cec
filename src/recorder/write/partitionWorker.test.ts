import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryValues } from '../../../test/support/memoryElection.ts';
import { MemoryStreamServer } from '../../../test/support/memoryStream.ts';
import type { HandledPlace, StreamMessage, StreamWork } from '../../bus/recordStream.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { KindedRecord } from '../../schema/records.ts';
import { type Merge, type PartitionStore, PartitionWorker } from './partitionWorker.ts';

/** What the test's merge keeps: how many messages it has seen. */
interface Seen {
  readonly count: number;
}

/** Numbers the trades it is given, and notes in its state how many it has seen. */
function countingMerge(state: unknown, baseSeq: number): Merge {
  let { count } = (state as Seen | null) ?? { count: 0 };
  return {
    step: (message, { streamSeq }) => {
      count++;
      if (message.kind !== 'trade') return [];
      return [{ kind: 'trade', record: { ...message.body, seq: baseSeq + 2 * streamSeq } }];
    },
    state: (): Seen => ({ count }),
  };
}

class RowStore implements PartitionStore {
  readonly rows: number[] = [];
  readonly tokens: string[] = [];
  failures = 0;
  /** Ends a process after the rows are stored and before it knows. */
  dieAfterInsert = false;
  #uncertainUpTo = 0;

  async insert(records: readonly KindedRecord[], token: string): Promise<void> {
    if (this.failures > 0) {
      this.failures--;
      throw new StoreUnavailableError('no answer');
    }
    const seqs = records.map(({ record }) => record.seq);
    // Like the store, it looks for stored rows among uncertain ones alone.
    this.rows.push(...seqs.filter((seq) => seq > this.#uncertainUpTo || !this.rows.includes(seq)));
    this.tokens.push(token);
    if (this.dieAfterInsert) await new Promise(() => undefined);
  }

  mayBeStoredUpTo(seq: number): void {
    this.#uncertainUpTo = seq;
  }

  close(): void {}
}

function rig() {
  const clock = new FakeClock();
  const server = new MemoryStreamServer({ clock, partitions: 1, baseSeq: 1_000 });
  const values = new MemoryValues();
  const store = new RowStore();
  const publisher = server.connect();
  let published = 0;
  const publish = (count: number) => {
    for (let index = 0; index < count; index++) publisher.publish(trade(++published));
  };
  let handle: (work: StreamWork) => Promise<void> = async () => undefined;
  /** Where each worker began. */
  const places: { readonly after?: HandledPlace | null }[] = [];
  /** Where each reading of a noted batch began. */
  const readings: { readonly fromSeq: number; readonly after?: HandledPlace | null }[] = [];
  const startWorker = (openMerge = (state: unknown) => countingMerge(state, server.baseSeq)) => {
    const stream = server.connect();
    const { follow, work } = stream;
    stream.follow = (place, onMessage) => {
      readings.push(place);
      return follow.call(stream, place, onMessage);
    };
    stream.work = (place, onWork) => {
      places.push(place);
      handle = onWork;
      return work.call(stream, place, onWork);
    };
    return PartitionWorker.start({
      ...{ partition: 0, stream, values, store, clock, log: silentLogger },
      isOwner: () => true,
      openMerge,
      firstState: async () => ({ count: 0 }),
    });
  };
  /** Gives the last worker messages by their numbers, and whether the stream's numbers went back before each. */
  const work = (places: readonly (readonly [streamSeq: number, isRenumbered?: true])[]) =>
    handle(
      places.map(([streamSeq, isRenumbered]) => ({
        message: trade(streamSeq),
        place: { streamSeq, timeMs: streamSeq, partition: 0, ...(isRenumbered && { isRenumbered }) },
      })),
    );
  const checkpoint = async () => {
    const bytes = await values.get('merge.0');
    return bytes && JSON.parse(Buffer.from(bytes).toString());
  };
  return { clock, server, store, publish, startWorker, places, readings, work, checkpoint };
}

function trade(number: number): StreamMessage {
  const times = { eventTimeMs: number, receivedTimeMs: number };
  const body = {
    marketId: 'm',
    ...times,
    side: 'BUY_YES',
    price: 1,
    size: 1,
    tradeId: `t${number}`,
  } as const;
  return { kind: 'trade', id: `t${number}`, key: 'm', sender: 'a', run: 'r', body };
}

/** The numbers of the first `count` records. */
const seqs = (count: number) => Array.from({ length: count }, (_, index) => 1_000 + 2 * (index + 1));

test('stores each batch, then notes how far it is and how the merge continues', async () => {
  const { server, store, publish, startWorker, checkpoint } = rig();
  publish(3);
  const worker = await startWorker();
  await server.idle();
  publish(2);
  await server.idle();
  expect(store.rows).toEqual(seqs(5));
  expect(store.tokens[0]).toBe('1000-0-1-3');
  expect(await checkpoint()).toMatchObject({ streamSeq: 5, state: { count: 5 } });
  await worker.stop();
});

test('continues where the worker before it stopped, in another process', async () => {
  const { clock, server, store, publish, startWorker, places, checkpoint } = rig();
  const stored = clock.now();
  const first = await startWorker();
  publish(2);
  await server.idle();
  await first.stop();
  publish(2);
  const second = await startWorker();
  await server.idle();
  expect(store.rows).toEqual(seqs(4));
  expect(await checkpoint()).toMatchObject({ streamSeq: 4, state: { count: 4 } });
  // The stream may not know the place of the first worker: a cluster leaves out a consumer without a leader.
  expect(places.map(({ after }) => after)).toEqual([null, { streamSeq: 2, timeMs: stored }]);
  await second.stop();
});

test.each([
  ['', 4],
  // As a new leader of a cluster may answer that has not all messages yet.
  [', also if the stream seems to end before them', 0],
])('rows stored right before a crash are not stored again%s', async (_, value) => {
  const { server, store, publish, startWorker, readings, checkpoint } = rig();
  publish(2);
  store.dieAfterInsert = true;
  void startWorker();
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.rows).toEqual(seqs(2));
  expect(await checkpoint()).toEqual({ streamSeq: 0, timeMs: 0, state: { count: 0 } });
  store.dieAfterInsert = false;
  publish(2);
  Object.defineProperty(server, 'lastSeq', { value });
  const second = await startWorker();
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.rows).toEqual(seqs(4));
  expect(await checkpoint()).toMatchObject({ streamSeq: 4, state: { count: 4 } });
  expect(readings).toMatchObject([{ fromSeq: 1, after: null }]);
  await second.stop();
});

test('a noted batch is read again from behind the last message before it, whose time shows what the stream lost', async () => {
  const { clock, server, store, publish, startWorker, readings } = rig();
  const stored = clock.now();
  const first = await startWorker();
  publish(2);
  await server.idle();
  await first.stop();
  store.dieAfterInsert = true;
  publish(2);
  void startWorker();
  await new Promise((resolve) => setImmediate(resolve));
  store.dieAfterInsert = false;
  const third = await startWorker();
  await new Promise((resolve) => setImmediate(resolve));
  expect(readings).toMatchObject([{ fromSeq: 3, after: { streamSeq: 2, timeMs: stored } }]);
  expect(store.rows).toEqual(seqs(4));
  await third.stop();
});

test('after the numbers of the stream went back, the next stored message reports the loss to the merge, once', async () => {
  const { startWorker, work } = rig();
  const merged: [number, boolean][] = [];
  const worker = await startWorker((state) => ({
    ...countingMerge(state, 0),
    step: (_, { streamSeq, isAfterLoss = false }) => {
      merged.push([streamSeq, isAfterLoss]);
      return [];
    },
  }));
  await work([[1], [2]]);
  // The stream has lost the second message and given its number to another one.
  await work([[2, true]]);
  await work([[3], [4]]);
  await work([[5]]);
  expect(merged).toEqual([
    [1, false],
    [2, false],
    [3, true],
    [4, false],
    [5, false],
  ]);
  await worker.stop();
});

test('a batch that the store refused for now comes again, and the merge sees it once', async () => {
  const { clock, server, store, publish, startWorker, checkpoint } = rig();
  const worker = await startWorker();
  store.failures = 2;
  publish(3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.rows).toEqual([]);
  await clock.advance(5_000);
  await server.idle();
  expect(store.rows).toEqual(seqs(3));
  expect(await checkpoint()).toMatchObject({ streamSeq: 3, state: { count: 3 } });
  await worker.stop();
});
