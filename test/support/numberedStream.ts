import type { StreamMessage, StreamPlace } from '../../src/bus/recordStream.ts';
import type { MergedRecord } from '../../src/recorder/merge/mergedRecord.ts';
import { StreamMerge } from '../../src/recorder/merge/streamMerge.ts';
import { forward, type RecordSink } from '../../src/schema/records.ts';
import type { MemorySink } from './memorySink.ts';

/** How long the stream remembers the id of a message. */
const DUPLICATE_WINDOW_MS = 120_000;

export interface PlacedMessage {
  readonly message: StreamMessage;
  readonly place: StreamPlace;
}

/** A stream of one partition in memory: it drops copies and numbers the others. Its time is set by the test. */
export class NumberedStream {
  timeMs: number;
  readonly placed: PlacedMessage[] = [];
  onPlaced: ((placed: PlacedMessage) => void) | null = null;
  readonly #ids = new Map<string, number>();

  constructor(timeMs: number) {
    this.timeMs = timeMs;
  }

  publish(message: StreamMessage): void {
    const seenMs = this.#ids.get(message.id);
    if (seenMs !== undefined && this.timeMs - seenMs < DUPLICATE_WINDOW_MS) return;
    this.#ids.set(message.id, this.timeMs);
    const place = { streamSeq: this.placed.length + 1, timeMs: this.timeMs, partition: 0 };
    const placed = { message, place };
    this.placed.push(placed);
    this.onPlaced?.(placed);
  }
}

/** A merge whose state is written as JSON and read back at chosen messages. */
export class InterruptedMerge {
  #merge = new StreamMerge({ baseSeq: 0 });
  readonly #isInterrupted: () => boolean;

  constructor(isInterrupted: () => boolean = () => false) {
    this.#isInterrupted = isInterrupted;
  }

  step({ message, place }: PlacedMessage): MergedRecord[] {
    if (this.#isInterrupted())
      this.#merge = new StreamMerge({ baseSeq: 0, state: JSON.parse(JSON.stringify(this.#merge.state)) });
    return this.#merge.step(message, place);
  }
}

/** Gives merged records to a sink. */
export function forwardMerged(records: readonly MergedRecord[], sink: RecordSink): void {
  for (const merged of records)
    if (merged.kind !== 'opportunity') forward(sink, merged.kind, merged.record as never);
}

/** All records of a sink by kind, without the numbers in which a stream differs from one process. */
export function withoutNumbers(kept: MemorySink): unknown[][] {
  const { books, quotes, trades, underlyings, depths, markets, gaps } = kept;
  const kinds: readonly (readonly object[])[] = [books, quotes, trades, underlyings, depths, markets, gaps];
  return kinds.map((records) => records.map((record) => ({ ...record, seq: 0, knownSeq: 0 })));
}
