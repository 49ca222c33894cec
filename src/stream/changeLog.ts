import type { MarketMessage, MessageLog, StreamedMarket } from './streamedMarket.ts';

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

/** The latest messages of all markets in order, each stored once for all clients. */
export class ChangeLog implements MessageLog {
  #entries: LogEntry[] = [];
  #dropped = 0;
  #bytes = 0;
  #head = 0;

  /** Number of the newest entry; 0 before the first. */
  get head(): number {
    return this.#head;
  }

  /** Number of the oldest kept entry; `head + 1` if there is none. */
  get first(): number {
    return this.#head - (this.#entries.length - this.#dropped) + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(seq: number): LogEntry | null {
    if (seq < this.first) return null;
    return this.#entries[this.#dropped + seq - this.first] ?? null;
  }

  /** @throws {RangeError} Unless its number is the next. */
  append(entry: LogEntry): void {
    if (entry.seq !== this.#head + 1) throw new RangeError(`entry ${entry.seq} after ${this.#head}`);
    this.#entries.push(entry);
    this.#head = entry.seq;
    this.#bytes += entry.frame.message.length;
    this.drop(entry.timeMs);
  }

  /** Drops entries older than `RETAINED_MS` or beyond `RETAINED_BYTES_MAX`, and notifies their markets. */
  drop(nowMs: number): void {
    for (;;) {
      const oldest = this.#entries[this.#dropped];
      if (oldest === undefined) break;
      if (nowMs - oldest.timeMs <= RETAINED_MS && this.#bytes <= RETAINED_BYTES_MAX) break;
      this.#dropped++;
      this.#bytes -= oldest.frame.message.length;
      oldest.market.dropped(oldest);
    }
    if (this.#dropped < DROPPED_MAX && this.#dropped < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }

  /** A market's newest change up to an entry; null if it is no longer kept. */
  changeAt(market: StreamedMarket, seq: number): LogEntry | null {
    for (let at = Math.min(seq, this.#head); at >= this.first; at--) {
      const entry = this.at(at);
      if (entry !== null && entry.market === market && entry.change !== null) return entry;
    }
    return null;
  }
}
