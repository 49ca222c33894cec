import type { LogPlace, MarketMessage, MessageLog, StreamedMarket } from './streamedMarket.ts';

/** A client that reconnects within this time is replayed the changes it missed. */
export const RETAINED_MS = 60_000;
/** Limit in bytes of messages; whichever limit is reached first applies. */
const RETAINED_BYTES_MAX = 64 * 1024 * 1024;
/** Dropped entries that may remain at the front of the array. */
const DROPPED_MAX = 4096;

export interface LogEntry extends MarketMessage {
  readonly market: StreamedMarket;
  /** Monotonic. */
  readonly timeMs: number;
}

/**
 * The latest messages of all markets in order, each stored once for all clients. Its indexes belong to this process;
 * cursors contain the numbers of records, which are the same in every process that receives them.
 */
export class ChangeLog implements MessageLog {
  #entries: LogEntry[] = [];
  #dropped = 0;
  #bytes = 0;
  #headIndex = 0;
  #headSeq: number;
  /** Record number of the newest dropped entry. */
  #droppedSeq: number;

  /** @param startSeq Number of the newest record before the first entry. */
  constructor(startSeq: number) {
    this.#headSeq = this.#droppedSeq = startSeq;
  }

  /** The newest entry; index 0 before the first. */
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
    return this.at(index)?.seq ?? (index < this.firstIndex ? this.#droppedSeq : this.#headSeq);
  }

  /**
   * The last entry that a client with this record number surely has; the entry before the oldest if that is no longer
   * kept. A notice may have the number of the change before it, and the client need not have that notice.
   */
  indexOf(seq: number): number {
    const last = this.#lastUpTo(seq);
    for (let index = last, entry = this.at(index); entry?.seq === seq; entry = this.at(--index)) {
      if (entry.change !== null) return index;
    }
    return last;
  }

  /** @throws {RangeError} If its record number is lower than the newest. */
  append(entry: LogEntry): void {
    if (entry.seq < this.#headSeq) throw new RangeError(`record ${entry.seq} after ${this.#headSeq}`);
    this.#entries.push(entry);
    this.#headIndex++;
    this.#headSeq = entry.seq;
    this.#bytes += entry.frame.message.length;
    this.drop(entry.timeMs);
  }

  /** Drops entries older than `RETAINED_MS` or beyond `RETAINED_BYTES_MAX`, and notifies their markets. */
  drop(nowMs: number): void {
    for (;;) {
      const oldest = this.#entries[this.#dropped];
      if (oldest === undefined) break;
      if (nowMs - oldest.timeMs <= RETAINED_MS && this.#bytes <= RETAINED_BYTES_MAX) break;
      const index = this.firstIndex;
      this.#dropped++;
      this.#droppedSeq = oldest.seq;
      this.#bytes -= oldest.frame.message.length;
      oldest.market.dropped(oldest, index);
    }
    if (this.#dropped < DROPPED_MAX && this.#dropped < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }

  /** A market's newest change up to an entry, and its index; null if it is no longer kept. */
  changeAt(market: StreamedMarket, upTo: number): { entry: LogEntry; index: number } | null {
    for (let index = Math.min(upTo, this.#headIndex); index >= this.firstIndex; index--) {
      const entry = this.at(index);
      if (entry !== null && entry.market === market && entry.change !== null) return { entry, index };
    }
    return null;
  }

  #lastUpTo(seq: number): number {
    let [low, high] = [this.firstIndex - 1, this.#headIndex];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.seqAt(middle) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
