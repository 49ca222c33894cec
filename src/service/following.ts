import { Bus } from '../bus/bus.ts';
import type { RecordStream, SharedValues } from '../bus/recordStream.ts';
import type { DiskState } from '../ops/systemFindings.ts';
import { RecordFollower } from '../recorder/follow/recordFollower.ts';
import { resumeFollower } from '../recorder/follow/resumeFollower.ts';
import { MarketMemory } from '../recorder/marketMemory.ts';
import { PartitionMerge, type PartitionMergeState } from '../recorder/merge/earlierRecording.ts';
import { readCheckpoint } from '../recorder/write/checkpoint.ts';
import { ReceivedPlaces, StoredProgress } from '../recorder/write/storedProgress.ts';
import type { StoreReader } from '../store/reader.ts';
import type { NodeOptions } from './nodeOptions.ts';
import type { RecordingSource } from './recordingSource.ts';

/** Of a server's disk, whose own reserve is usually 0. */
const DISK_RESERVE_SHARE = 0.02;
/** Stored data that is older makes a process that reads it not ready. */
const STORE_LAG_MAX_MS = 10_000;

/**
 * The recording as seen by a process that does not record: what is stored, and from there on the stream.
 * @throws {StoreUnavailableError} When the store or the stream does not answer.
 */
export async function followRecording(
  { stream, values, store }: { stream: RecordStream; values: SharedValues; store: StoreReader },
  { clock, log, metrics }: NodeOptions,
): Promise<RecordingSource> {
  const bus = new Bus({ log, metrics });
  const follower = new RecordFollower({ bus, clock, log, metrics });
  const memory = new MarketMemory({ recorder: follower, bus, clock });
  const received = new ReceivedPlaces(clock);
  const progress = new StoredProgress({ stream, values, received, clock, log, metrics });
  const noted: Pick<RecordStream, 'baseSeq' | 'partitions' | 'follow' | 'lastSeq'> = {
    baseSeq: stream.baseSeq,
    partitions: stream.partitions,
    lastSeq: () => stream.lastSeq(),
    follow: (from, onMessage) =>
      stream.follow(from, (message, place) => {
        received.note(place);
        onMessage(message, place);
      }),
  };
  const checkpoint = async (partition: number) => {
    const { streamSeq, timeMs, state } = await readCheckpoint(values, partition);
    return { streamSeq, timeMs, fold: new PartitionMerge(stream, state as PartitionMergeState | null) };
  };
  const resuming = resumeFollower({ follower, stream: noted, store, checkpoint, clock, log });
  const following = await resuming.catch((error: unknown) => {
    follower.close();
    progress.stop();
    throw error;
  });
  // Until then it is unknown whether a received row is stored.
  await progress.refresh();
  return {
    ...{ store, bus, live: follower, memory },
    shared: {
      baseSeq: stream.baseSeq,
      newestSeq: () => stream.baseSeq + 2 * received.streamSeq + 1,
    },
    storeLagMs: () => progress.lagMs(),
    stored: () => progress.stored(),
    disks: () => serverDisks(store),
    collectors: () => follower.collectors(),
    addChecks: (readiness) => {
      readiness.addReasons(() => follower.reasons());
      readiness.addReasons(() => lagReasons(progress.lagsMs()));
      readiness.addDegraded(() => follower.degraded());
    },
    listening: () => undefined,
    stopReceiving: async () => {
      await following.stop();
      follower.close();
      progress.stop();
    },
    close: async () => undefined,
  };
}

/** The local disks of the store's server; object storage has no end. */
async function serverDisks(store: StoreReader): Promise<DiskState[]> {
  const rows = await store.rows<{ name: string; free: number; reserve: number }>(
    `SELECT name, toFloat64(free_space) AS free, greatest(toFloat64(keep_free_space), ${DISK_RESERVE_SHARE} * total_space) AS reserve
     FROM system.disks WHERE type = 'Local' OR type = 'local'`,
  );
  return rows.map(({ name, free, reserve }) => ({ name, freeBytes: free, reserveBytes: reserve }));
}

/** Names the partitions unless all are late: of a late one the writer is missing or slow. @param lagsMs By partition. */
function lagReasons(lagsMs: readonly number[]): string[] {
  const late = lagsMs.flatMap((lagMs, partition) => (lagMs > STORE_LAG_MAX_MS ? [partition] : []));
  if (late.length === 0) return [];
  const which = late.length === lagsMs.length ? '' : ` (partition ${late.join(', ')} of ${lagsMs.length})`;
  return [`stored data is ${Math.floor(Math.max(...lagsMs) / 1000)} s behind what was received${which}`];
}
