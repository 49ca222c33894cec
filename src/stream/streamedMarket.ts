import type { Served } from '../runtime/fanOut.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { StreamMessage } from './streamMessage.ts';

/** Newest notices of a market that are kept when the log has dropped them: they say what no later book repeats. */
const NOTICES_MAX = 16;
/** Removed numbers that may remain at the front of the array. */
const REMOVED_MAX = 1024;

/** A place in the log of messages. */
export interface LogPlace {
  /** Number of an entry in this process, without holes. */
  readonly index: number;
  /** Number of its record. */
  readonly seq: number;
}

/** Keeps the latest messages of all markets. */
export interface MessageLog {
  /** Index of the newest message; 0 before the first. */
  readonly headIndex: number;
  at(index: number): { readonly message: StreamMessage } | null;
}

/** A client that receives the messages of a market. */
interface MarketSubscriber extends Served {
  forget(market: StreamedMarket): void;
}

/** A notice and its index in the log, which may have dropped it. */
interface KeptNotice {
  readonly index: number;
  readonly message: StreamMessage;
}

/** A state of a book, to be sent with any cursor. */
interface BookState {
  readonly change: number;
  /** From `"ts"` on. */
  readonly body: Buffer;
  readonly trusted: boolean;
}

/**
 * One market in the stream. While it has a subscriber, or had one within the retention time, it is warm: every change
 * is kept. A cold market costs nothing. In a cluster all markets are warm.
 */
export class StreamedMarket {
  record: Market;
  /** The newest record when it was discovered. */
  readonly sinceSeq: number;
  readonly subscribers = new Set<MarketSubscriber>();
  /** Changes counted so far. */
  changes = 0;
  /** The book after the newest change, with the trust of now. */
  newest: BookState | null = null;
  /** Record number of the entry before which it was resolved; null: unresolved, or resolved when first seen. */
  resolvedSeq: number | null = null;
  /** The market's open gap; at most one is open. */
  openGap: Gap | null = null;
  /** The book was half applied at the last read. */
  isAwaited = false;
  /** Monotonic time since when it has no subscriber; null: it has one. */
  idleSinceMs: number | null = null;
  /** The message up to the cursor. */
  readonly head: Buffer;
  /** The place since which every change was kept; null: cold. */
  #warmSince: LogPlace | null = null;
  /** Record number of its newest dropped message: a client before it has missed something. */
  #droppedSeq = 0;
  /** Log indexes of its kept changes. */
  readonly #kept = new IndexQueue();
  /** Its newest notices, oldest first. */
  #notices: KeptNotice[] = [];
  /** The state before its oldest kept change. */
  #base: BookState | null = null;

  constructor(record: Market, sinceSeq: number) {
    this.record = record;
    this.sinceSeq = sinceSeq;
    const { marketId, eventType } = record;
    this.head = Buffer.from(
      `{"type":"snapshot","market_id":${JSON.stringify(marketId)},"event_type":"${eventType}","cursor":"`,
    );
  }

  get isWarm(): boolean {
    return this.#warmSince !== null;
  }

  /** Begins to keep changes. @param state The current book; null: none yet. */
  warm(since: LogPlace, state: Omit<BookState, 'change'> | null): void {
    this.#warmSince = since;
    this.newest = this.#base = state && { ...state, change: this.changes };
  }

  cool(): void {
    this.#warmSince = null;
    this.#kept.clear();
    this.#notices = [];
    this.newest = this.#base = null;
    this.isAwaited = false;
  }

  /** Notes a message that the log keeps from now on. */
  onKept(message: StreamMessage, index: number): void {
    const { change } = message;
    if (change === null) {
      this.#notices = [...this.#notices, { index, message }].slice(-NOTICES_MAX);
      return;
    }
    this.#kept.add(index);
    this.newest = stateOf(message, change);
  }

  /** Its notices between two log indexes, also those that the log has dropped; oldest first. */
  noticesBetween(afterIndex: number, beforeIndex: number): readonly KeptNotice[] {
    return this.#notices.filter(({ index }) => index > afterIndex && index < beforeIndex);
  }

  /** @param index The index that the message had in the log. */
  onDropped(message: StreamMessage, index: number): void {
    if (this.#warmSince === null || index <= this.#warmSince.index) return;
    this.#droppedSeq = message.seq;
    if (message.change === null) return;
    this.#kept.removeOldest();
    this.#base = stateOf(message, message.change);
  }

  /** Whether the log has every message of this market after a record. */
  isKeptSince(seq: number): boolean {
    if (this.#warmSince === null || this.#droppedSeq > seq) return false;
    const { seq: warmSeq } = this.#warmSince;
    return warmSeq <= seq || (this.sinceSeq >= seq && warmSeq === this.sinceSeq);
  }

  /** Whether the market was resolved before the record `seq`, or is resolved and not every message since is kept. */
  wasOverBy(seq: number): boolean {
    if (this.record.status !== 'resolved') return false;
    return this.resolvedSeq === null || this.resolvedSeq < seq || !this.isKeptSince(seq);
  }

  /** The book as of a log index, or the oldest one kept if that is later; null before the first book. */
  stateAt(log: MessageLog, upTo: number): BookState | null {
    if (upTo >= log.headIndex) return this.newest;
    const index = this.#kept.lastUpTo(upTo);
    const message = index === null ? null : log.at(index)?.message;
    return message && message.change !== null ? stateOf(message, message.change) : this.#base;
  }

  /** A snapshot with the given cursor; the newest one has the current trust. */
  snapshot(state: BookState, cursor: string): Buffer {
    return Buffer.concat([this.head, Buffer.from(`${cursor}",`), state.body]);
  }

  /** Applies a change of trust without a change of the book. */
  trust(trusted: boolean): void {
    if (this.newest === null || this.newest.trusted === trusted) return;
    const { change, body } = this.newest;
    const kept = body.subarray(0, body.length - `${this.newest.trusted}}`.length);
    this.newest = { change, trusted, body: Buffer.concat([kept, Buffer.from(`${trusted}}`)]) };
  }
}

/** Printed when its text is first read. */
function stateOf(message: StreamMessage, change: number): BookState {
  return {
    change,
    trusted: message.trusted,
    get body() {
      return message.body;
    },
  };
}

/** Rising numbers, removed in the order of adding. */
class IndexQueue {
  #numbers: number[] = [];
  #removed = 0;

  add(number: number): void {
    this.#numbers.push(number);
  }

  removeOldest(): void {
    this.#removed++;
    if (this.#removed < REMOVED_MAX && this.#removed < this.#numbers.length) return;
    this.#numbers = this.#numbers.slice(this.#removed);
    this.#removed = 0;
  }

  clear(): void {
    this.#numbers = [];
    this.#removed = 0;
  }

  /** The highest number up to a limit; null if there is none. */
  lastUpTo(limit: number): number | null {
    let [low, high] = [this.#removed, this.#numbers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) <= limit) low = middle + 1;
      else high = middle;
    }
    return low > this.#removed ? (this.#numbers[low - 1] as number) : null;
  }
}
