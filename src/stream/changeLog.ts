import type { MarketMessage, MessageLog, StreamedMarket } from './streamedMarket.ts';

/** How far back a client that was away is replayed what it missed. */
export const RETAINED_MS = 60_000;
/** The same in bytes of messages, whichever is less. */
export const RETAINED_BYTES_MAX = 64 * 1024 * 1024;
/** Entries already dropped that may still stand at the front of the array. */
const DROPPED_MAX = 4096;

export interface Entry extends MarketMessage {
  readonly market: StreamedMarket;
  /** Monotonic. */
  readonly timeMs: number;
}

/** The latest messages of all markets in the order they happened, each kept once for all clients. */
export class ChangeLog implements MessageLog {
  #entries: Entry[] = [];
  #dropped = 0;
  #bytes = 0;
  #head = 0;

  /** Number of the newest entry; 0 before the first. */
  get head(): number {
    return this.#head;
  }

  /** Number of the oldest entry kept; one above `head` when none is. */
  get first(): number {
    return this.#head - (this.#entries.length - this.#dropped) + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(seq: number): Entry | null {
    if (seq < this.first) return null;
    return this.#entries[this.#dropped + seq - this.first] ?? null;
  }

  /** @throws {RangeError} Unless its number is the next. */
  append(entry: Entry): void {
    if (entry.seq !== this.#head + 1) throw new RangeError(`entry ${entry.seq} after ${this.#head}`);
    this.#entries.push(entry);
    this.#head = entry.seq;
    this.#bytes += entry.frame.message.length;
    this.drop(entry.timeMs);
  }

  /** Drops what is older than `RETAINED_MS` or beyond `RETAINED_BYTES_MAX`; its markets are told. */
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

  /** The state of a market's book as of an entry: its newest change up to there, null when none is kept. */
  changeAt(market: StreamedMarket, seq: number): Entry | null {
    for (let at = Math.min(seq, this.#head); at >= this.first; at--) {
      const entry = this.at(at);
      if (entry !== null && entry.market === market && entry.change !== null) return entry;
    }
    return null;
  }
}
