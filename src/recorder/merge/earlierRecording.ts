import { partitionsOf } from '../../bus/partition.ts';
import type { RecordStream, StreamMessage, StreamPlace } from '../../bus/recordStream.ts';
import type { Gap, RowTimes } from '../../schema/gap.ts';
import { UNKNOWN } from '../../schema/market.ts';
import { resumedLastProven, resumedMarkets, resumedOpenGaps } from '../../store/journal/resumeRows.ts';
import type { StoreReader } from '../../store/reader.ts';
import { gapIdOf } from '../gapTracker.ts';
import { OUTCOME_AWAITED_MS } from '../liveRecording.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { StreamMerge, type StreamMergeState } from './streamMerge.ts';

/** How the recording of a market ended before the stream was created: with a proven row, or in a gap. */
type EarlierEnd = { readonly proven: RowTimes } | { readonly open: Gap };

/** State of the merge of one partition, as plain JSON. */
export interface PartitionMergeState {
  readonly merge: StreamMergeState | null;
  /** By market, until its first proven row arrives in the stream. */
  readonly earlier: Readonly<Record<string, EarlierEnd>>;
}

/**
 * The merge of one partition of a store that may have recordings from before the stream. A market that one process
 * recorded until then gets a gap up to its first proven row in the stream: nobody saw it in between.
 */
export class PartitionMerge {
  readonly #merge: StreamMerge;
  readonly #earlier: Map<string, EarlierEnd>;

  /** @param state Of an earlier merge, kept: pass a copy of your own; null: nothing was recorded before. */
  constructor({ baseSeq }: Pick<RecordStream, 'baseSeq'>, state: PartitionMergeState | null) {
    const merge = state?.merge ?? null;
    this.#merge = new StreamMerge({ baseSeq, ...(merge === null ? {} : { state: merge }) });
    this.#earlier = new Map(Object.entries(state?.earlier ?? {}));
  }

  /** A copy of the state, as a process reads it that continues here. */
  state(): PartitionMergeState {
    return JSON.parse(
      JSON.stringify({ merge: this.#merge.state, earlier: Object.fromEntries(this.#earlier) }),
    );
  }

  /** @returns The records that the message adds, in their order. */
  step(message: StreamMessage, place: StreamPlace): MergedRecord[] {
    const records = this.#merge.step(message, place);
    if (this.#earlier.size === 0) return records;
    return records.flatMap((record) => [...this.#gapBefore(record), record]);
  }

  #gapBefore({ kind, record }: MergedRecord): MergedRecord[] {
    if ((kind !== 'book' && kind !== 'quote') || !record.trusted) return [];
    const end = this.#earlier.get(record.marketId);
    if (end === undefined) return [];
    this.#earlier.delete(record.marketId);
    return [{ kind: 'gap', record: { ...gapUntil(end, record), seq: record.seq }, isLate: false }];
  }
}

function gapUntil(
  end: EarlierEnd,
  {
    marketId,
    eventTimeMs,
    receivedTimeMs,
    seq,
  }: RowTimes & { readonly marketId: string; readonly seq: number },
): Gap {
  const closed = { repairedBy: 'snapshot' };
  if ('open' in end) {
    const { startTimeMs, startReceivedMs } = end.open;
    const endTimeMs = Math.max(eventTimeMs, startTimeMs);
    return { ...end.open, ...closed, endTimeMs, endReceivedMs: Math.max(receivedTimeMs, startReceivedMs) };
  }
  const { proven: start } = end;
  return {
    ...{ gapId: gapIdOf({ marketId, start, cause: 'process_down' }), marketId },
    ...{ cause: 'process_down', feed: 'underround', ...closed },
    ...{ startTimeMs: start.eventTimeMs, startReceivedMs: start.receivedTimeMs },
    endTimeMs: Math.max(eventTimeMs, start.eventTimeMs),
    endReceivedMs: Math.max(receivedTimeMs, start.receivedTimeMs),
    ...{ knownTimeMs: receivedTimeMs, knownSeq: seq },
  };
}

/**
 * The first state of a partition: how the recordings end that the store has of its markets.
 * @throws {StoreUnavailableError} When the store does not answer.
 */
export async function firstState(
  store: StoreReader,
  { partition, partitions, nowMs }: { partition: number; partitions: number; nowMs: number },
): Promise<PartitionMergeState> {
  const stored = await resumedMarkets(store, { endAfterMs: nowMs - OUTCOME_AWAITED_MS });
  const marketIds = stored
    .filter(({ slug, status }) => slug !== UNKNOWN && status !== 'resolved')
    .map(({ marketId }) => marketId)
    .filter((marketId) => partitionsOf(marketId, partitions).includes(partition));
  const proven = await resumedLastProven(store, marketIds);
  const open = new Map((await resumedOpenGaps(store)).map((gap) => [gap.marketId, gap]));
  const earlier: Record<string, EarlierEnd> = {};
  for (const marketId of marketIds) {
    const [gap, row] = [open.get(marketId), proven.get(marketId)];
    if (gap !== undefined) earlier[marketId] = { open: gap };
    else if (row !== undefined) {
      const { eventTimeMs, receivedTimeMs } = row;
      earlier[marketId] = { proven: { eventTimeMs, receivedTimeMs } };
    }
  }
  return { merge: null, earlier };
}
