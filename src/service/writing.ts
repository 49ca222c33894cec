import type { Election, RecordStream, SharedValues } from '../bus/recordStream.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import { firstState, PartitionMerge, type PartitionMergeState } from '../recorder/merge/earlierRecording.ts';
import { PartitionWorker } from '../recorder/write/partitionWorker.ts';
import { WriteRole } from '../recorder/write/writeRole.ts';
import type { StoreConnection } from '../store/connection.ts';
import { PartitionWriter } from '../store/partitionWriter.ts';
import type { RunningRole } from './collecting.ts';
import type { NodeOptions } from './nodeOptions.ts';

/** The role `write`: the partitions of the stream for which this process is elected, into the store. */
export function startWriting(
  parts: { stream: RecordStream; values: SharedValues; election: Election; store: StoreConnection },
  { config, clock, log, metrics }: NodeOptions,
): RunningRole {
  const { stream, values, election } = parts;
  const { client } = parts.store;
  const openMerge = (state: unknown) =>
    new PartitionMerge(stream, structuredClone(state as PartitionMergeState));
  const startWorker = async (partition: number, isOwner: () => boolean) => {
    const { dataDir } = config;
    const own = { partition, clock, log };
    const store = await PartitionWriter.open({ ...own, client, dataDir, metrics, mayInsert: isOwner });
    const { partitions } = stream;
    const beginning = () => firstState(parts.store, { partition, partitions, nowMs: clock.now() });
    const merging = { openMerge, firstState: beginning };
    return await PartitionWorker.start({ ...own, ...merging, stream, values, store, isOwner });
  };
  const role = new WriteRole({ stream, election, startWorker, clock, log, metrics });
  role.start();
  // While the store is away the batches wait, and the stream keeps what follows.
  const probe = new StoreProbe({ clock, ask: () => parts.store.rows('SELECT 1') });
  return {
    addChecks: (readiness) => {
      readiness.addReasons(() => probe.reasons());
      readiness.addReasons(() => role.reasons());
    },
    stop: async () => {
      probe.stop();
      await role.stop();
    },
  };
}
