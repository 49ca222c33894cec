import type { HandledPlace, RecordStream, SharedValues } from '../../bus/recordStream.ts';

/** Up to where a partition of the stream is stored, and how its merge continues from there. */
export interface Checkpoint {
  /** Number of the last stored message; 0: none. */
  readonly streamSeq: number;
  /** When the stream received that message. */
  readonly timeMs: number;
  /** State of the merge; null: from the beginning. */
  readonly state: unknown;
}

/**
 * The shared values of one stream. The numbers of a stream that was deleted and created again begin again: what was
 * noted about the old one says nothing about the new one.
 */
export function valuesOfStream(
  values: SharedValues,
  { baseSeq }: Pick<RecordStream, 'baseSeq'>,
): SharedValues {
  const own = (key: string) => `${baseSeq}.${key}`;
  return { get: (key) => values.get(own(key)), put: (key, value) => values.put(own(key), value) };
}

/** The last stored message; null: none. */
export function lastStored({
  streamSeq,
  timeMs,
}: Pick<Checkpoint, 'streamSeq' | 'timeMs'>): HandledPlace | null {
  return streamSeq === 0 ? null : { streamSeq, timeMs };
}

const NOTHING_STORED: Checkpoint = { streamSeq: 0, timeMs: 0, state: null };

/** The checkpoint of a partition as its last writer left it. */
export async function readCheckpoint(values: SharedValues, partition: number): Promise<Checkpoint> {
  const bytes = await values.get(keyOf(partition));
  return bytes === null ? NOTHING_STORED : (JSON.parse(Buffer.from(bytes).toString()) as Checkpoint);
}

export async function writeCheckpoint(
  values: SharedValues,
  partition: number,
  checkpoint: Checkpoint,
): Promise<void> {
  await values.put(keyOf(partition), Buffer.from(JSON.stringify(checkpoint)));
}

/** The messages of one batch by their numbers, both included. */
export interface BatchRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/**
 * The batch that the partition's last writer began to insert; null before the first. It may be stored, or its insert may
 * still run in the engine: it is finished with the same messages, so that the engine recognises it.
 */
export async function readBatch(values: SharedValues, partition: number): Promise<BatchRange | null> {
  const bytes = await values.get(batchKeyOf(partition));
  return bytes === null ? null : (JSON.parse(Buffer.from(bytes).toString()) as BatchRange);
}

/** Notes a batch; must end before its insert begins. */
export async function writeBatch(values: SharedValues, partition: number, batch: BatchRange): Promise<void> {
  await values.put(batchKeyOf(partition), Buffer.from(JSON.stringify(batch)));
}

function keyOf(partition: number): string {
  return `merge.${partition}`;
}

function batchKeyOf(partition: number): string {
  return `merge.${partition}.batch`;
}
