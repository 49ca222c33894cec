import type { Election, RecordStream, SharedValues } from '../bus/recordStream.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import { StreamMerge, type StreamMergeState } from '../recorder/merge/streamMerge.ts';
import { type Merge, PartitionWorker } from '../recorder/write/partitionWorker.ts';
import { WriteRole } from '../recorder/write/writeRole.ts';
import type { StoreConnection } from '../store/connection.ts';
import { PartitionWriter } from '../store/partitionWriter.ts';
import type { NodeOptions, RunningRole } from './collecting.ts';

/** The role `write`: the partitions of the stream for which this process is elected, into the store. */
export function startWriting(
  parts: { stream: RecordStream; values: SharedValues; election: Election; store: StoreConnection },
  { config, clock, log, metrics }: NodeOptions,
): RunningRole {
  const { stream, values, election } = parts;
  const { client } = parts.store;
  const openMerge = (state: unknown) => mergeOf(stream, state);
  const startWorker = async (partition: number, isOwner: () => boolean) => {
    const { dataDir } = config;
    const parts = { partition, clock, log };
    const store = await PartitionWriter.open({ ...parts, client, dataDir, metrics, mayInsert: isOwner });
    return await PartitionWorker.start({ ...parts, stream, values, store, openMerge, isOwner });
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

/** The merge of one partition. @param state Of a checkpoint; null: from the beginning. */
export function mergeOf(
  { baseSeq }: Pick<RecordStream, 'baseSeq'>,
  state: unknown,
): Merge & Pick<StreamMerge, 'step'> {
  const merge = new StreamMerge({
    baseSeq,
    ...(state === null ? {} : { state: structuredClone(state) as StreamMergeState }),
  });
  return {
    step: (message, place) => merge.step(message, place),
    state: () => JSON.parse(JSON.stringify(merge.state)),
  };
}
