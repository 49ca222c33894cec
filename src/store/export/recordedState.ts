/** The state of a recording that an export contains. A service may record further rows meanwhile. */
import { type Clock, sleep } from '../../runtime/clock.ts';
import { lastSeq } from '../queries/resume.ts';
import type { StoreReader } from '../reader.ts';

/** Rows are inserted in the order of arrival, the tables of a second side by side: a row may be there before an older one. */
const SETTLED_AFTER_MS = 3_000;

/**
 * Returns the highest arrival number so far, once all rows up to it are stored.
 * @param options.isRecording A service may still be storing older rows.
 */
export async function recordedState(
  store: StoreReader,
  { isRecording, clock, signal }: { isRecording: boolean; clock: Clock; signal: AbortSignal },
): Promise<number> {
  const upToSeq = (await lastSeq(store)) ?? 0;
  if (isRecording) await sleep(clock, SETTLED_AFTER_MS, signal);
  signal.throwIfAborted();
  return upToSeq;
}
