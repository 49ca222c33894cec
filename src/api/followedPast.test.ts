import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { bookRecord } from '../../test/support/api.ts';
import { FollowerRig } from '../../test/support/followedRecording.ts';
import { MemoryValues } from '../../test/support/memoryElection.ts';
import { nativeBooks } from '../../test/support/nativeBooks.ts';
import { MARKET } from '../../test/support/wire.ts';
import { MarketMemory } from '../recorder/marketMemory.ts';
import { writeCheckpoint } from '../recorder/write/checkpoint.ts';
import { ReceivedPlaces, StoredProgress } from '../recorder/write/storedProgress.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { StoreReader } from '../store/reader.ts';
import { newestBook, storedBook } from './bookInForce.ts';

const T0 = MARKET.startTimeMs + 10_000;
const M = MARKET.marketId;
const HOUR_MS = 3_600_000;

/** A process that follows, as a cluster has it, on a store that has one trusted book. */
async function follower(storedMs: number) {
  const rig = new FollowerRig(T0);
  const { clock, bus } = rig;
  const memory = new MarketMemory({ recorder: rig.follower, bus, clock });
  const values = new MemoryValues();
  const received = new ReceivedPlaces(clock);
  const progress = new StoredProgress({
    ...{ values, received, clock, log: silentLogger, metrics: new Metrics() },
    stream: { partitions: 1, lastSeq: async () => rig.streamSeq },
  });
  const receive = (timeMs: number, isLate = false) => {
    const levels = { yesBids: [[4_900, rig.streamSeq]], yesAsks: [[5_000, 1]] } as const;
    const record = bookRecord({ seq: 2 * rig.streamSeq, marketId: M, timeMs, trusted: true, ...levels });
    received.note({ streamSeq: rig.streamSeq + 1, timeMs: clock.now(), partition: 0 });
    rig.emit([{ kind: 'book', record, isLate }]);
  };
  const row = { timeMs: storedMs, trusted: true, mirrored: true, underlying: null, wide: false };
  const bytes = nativeBooks([{ ...row, sides: [[[4900, 1]], [], [], []] }]);
  const store = { stream: async () => Readable.from([bytes]) } as unknown as StoreReader;
  const parts = { live: { storeLagMs: () => progress.lagMs(), followed: memory }, clock, store };
  const at = async (atMs: number) => {
    const moment = { marketId: M, atMs };
    const book = newestBook(parts, moment) ?? (await storedBook(parts, moment, new AbortController().signal));
    return [book?.timeMs, book?.trusted];
  };
  rig.emit([{ kind: 'market', record: { ...MARKET, seq: 1 }, isLate: false }]);
  receive(storedMs);
  await writeCheckpoint(values, 0, { streamSeq: rig.streamSeq, timeMs: clock.now(), state: null });
  await progress.refresh();
  return { rig, clock, progress, receive, at };
}

describe('the book of a past time, in a process that follows', () => {
  test('is the newest one while it waits for the store, however long no further message arrives', async () => {
    const { clock, progress, receive, at } = await follower(T0 - 10);
    await clock.advance(20);
    const timeMs = clock.now() - 5;
    receive(timeMs);
    await clock.advance(600);
    progress.stop();
    expect(await at(timeMs + 100)).toEqual([timeMs, true]);
  });

  test('is untrusted where no record of any collector was received', async () => {
    const { rig, clock, progress, at } = await follower(T0 - 10);
    await clock.advance(HOUR_MS);
    progress.stop();
    expect(rig.follower.reasons()).toEqual(['no collector heard for 3600 s']);
    expect(await at(T0 + HOUR_MS + 1)).toEqual([T0 - 10, false]);
    expect(await at(T0 + HOUR_MS - 1_000)).toEqual([T0 - 10, false]);
    expect(await at(T0 + 1)).toEqual([T0 - 10, false]);
    expect(await at(T0)).toEqual([T0 - 10, true]);
    rig.alive();
    expect(await at(T0 + HOUR_MS - 1_000)).toEqual([T0 - 10, true]);
  });

  test('is untrusted where a late book waits for the store', async () => {
    const { clock, progress, receive, at } = await follower(T0 - 20_000);
    await clock.advance(200);
    receive(T0);
    await clock.advance(1_000);
    receive(T0 - 10_000, true);
    for (let i = 0; i < 3; i++) {
      await clock.advance(100);
      receive(clock.now());
    }
    await clock.advance(200);
    progress.stop();
    expect(await at(T0 - 5_000)).toEqual([T0 - 20_000, false]);
    expect(await at(T0 - 10_001)).toEqual([T0 - 20_000, true]);
  });
});
