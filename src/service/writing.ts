import type { Election, RecordStream, SharedValues } from '../bus/recordStream.ts';
import { StreamMerge, type StreamMergeState } from '../recorder/merge/streamMerge.ts';
import { type Merge, PartitionWorker } from '../recorder/write/partitionWorker.ts';
import { WriteRole } from '../recorder/write/writeRole.ts';
import type { InsertClient } from '../store/journal/rowInserter.ts';
import { PartitionWriter } from '../store/partitionWriter.ts';
import type { NodeOptions, RunningRole } from './collecting.ts';

/** The role `write`: the partitions of the stream for which this process is elected, into the store. */
export function startWriting(
  parts: { stream: RecordStream; values: SharedValues; election: Election; client: InsertClient },
  { config, clock, log, metrics }: NodeOptions,
): RunningRole {
  const { stream, values, election, client } = parts;
  const openMerge = (state: unknown) => mergeOf(stream, state);
  const startWorker = async (partition: number) => {
    const { dataDir } = config;
    const store = await PartitionWriter.open({ client, partition, dataDir, clock, log, metrics });
    return await PartitionWorker.start({ partition, stream, values, store, openMerge, log });
  };
  const role = new WriteRole({ stream, election, startWorker, clock, log, metrics });
  role.start();
  return { addChecks: (readiness) => readiness.addReasons(() => role.reasons()), stop: () => role.stop() };
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
