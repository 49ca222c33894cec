import type { LogPlace, MessageLog, StreamedMarket } from './streamedMarket.ts';
import type { StreamMessage } from './streamMessage.ts';

/** A client that reconnects within this time is replayed the changes it missed. */
export const RETAINED_MS = 60_000;
/** Limits in bytes of messages; whichever limit is reached first applies. */
export const RETAINED_BYTES_MAX = {
  /** One process keeps the markets that have clients. */
  subscribed: 64 * 1024 * 1024,
  /** A process of a cluster keeps all markets. */
  all: 128 * 1024 * 1024,
} as const;
/** Dropped entries that may remain at the front of the array. */
const DROPPED_MAX = 4096;

export interface LogEntry {
  readonly market: StreamedMarket;
  readonly message: StreamMessage;
  /** Monotonic. */
  readonly timeMs: number;
}

/**
 * The latest messages of all markets in order, each stored once for all clients. Its indexes belong to this process;
 * cursors contain the numbers of records, which are the same in every process that receives them.
 */
export class ChangeLog implements MessageLog {
  #entries: LogEntry[] = [];
  readonly #bytesMax: number;
  #dropped = 0;
  #bytes = 0;
  #headIndex = 0;
  #headSeq: number;
  /** Record number of the newest dropped entry. */
  #droppedSeq: number;

  /** @param startSeq Number of the newest record before the first entry. */
  constructor({ startSeq, bytesMax }: { startSeq: number; bytesMax: number }) {
    this.#bytesMax = bytesMax;
    this.#headSeq = this.#droppedSeq = startSeq;
  }

  /** The newest entry, index 0 before the first; and the newest record, which may have given no entry. */
  get head(): LogPlace {
    return { index: this.#headIndex, seq: this.#headSeq };
  }

  get headIndex(): number {
    return this.#headIndex;
  }

  /** Index of the oldest kept entry; `headIndex + 1` if there is none. */
  get firstIndex(): number {
    return this.#headIndex - (this.#entries.length - this.#dropped) + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(index: number): LogEntry | null {
    if (index < this.firstIndex) return null;
    return this.#entries[this.#dropped + index - this.firstIndex] ?? null;
  }

  /** Record number of an entry, for cursors. */
  seqAt(index: number): number {
    if (index >= this.#headIndex) return this.#headSeq;
    return this.at(index)?.message.seq ?? this.#droppedSeq;
  }

  /**
   * The last entry that a client with this record number surely has; the entry before the oldest if that is no longer
   * kept. A notice may have the number of the change before it, and the client need not have that notice.
   */
  indexOf(seq: number): number {
    const last = this.#lastUpTo(seq);
    for (let index = last; this.at(index)?.message.seq === seq; index--) {
      if (this.at(index)?.message.change !== null) return index;
    }
    return last;
  }

  /** @throws {RangeError} If its record number is lower than the newest. */
  append(entry: LogEntry): void {
    const { message, timeMs } = entry;
    if (message.seq < this.#headSeq) throw new RangeError(`record ${message.seq} after ${this.#headSeq}`);
    this.#entries.push(entry);
    this.#headIndex++;
    this.#headSeq = message.seq;
    this.#bytes += message.bytes;
    message.onPrinted = (bytes) => {
      this.#bytes += bytes;
    };
    this.drop(timeMs);
  }

  /** Notes a record that gives no entry. */
  reach(seq: number): void {
    this.#headSeq = Math.max(this.#headSeq, seq);
  }

  /** Drops entries older than `RETAINED_MS` or beyond the limit in bytes, and notifies their markets. */
  drop(nowMs: number): void {
    for (;;) {
      const oldest = this.#entries[this.#dropped];
      if (oldest === undefined) break;
      if (nowMs - oldest.timeMs <= RETAINED_MS && this.#bytes <= this.#bytesMax) break;
      const index = this.firstIndex;
      const { message, market } = oldest;
      this.#dropped++;
      this.#droppedSeq = message.seq;
      this.#bytes -= message.bytes;
      message.onPrinted = null;
      market.onDropped(message, index);
    }
    if (this.#dropped < DROPPED_MAX && this.#dropped < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }

  #lastUpTo(seq: number): number {
    let [low, high] = [this.firstIndex - 1, this.#headIndex];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.at(middle)?.message.seq ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
