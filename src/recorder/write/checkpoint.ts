import type { SharedValues } from '../../bus/recordStream.ts';

/** Up to where a partition of the stream is stored, and how its merge continues from there. */
export interface Checkpoint {
  /** Number of the last stored message; 0: none. */
  readonly streamSeq: number;
  /** When the stream received that message. */
  readonly timeMs: number;
  /** State of the merge; null: from the beginning. */
  readonly state: unknown;
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

function keyOf(partition: number): string {
  return `merge.${partition}`;
}
