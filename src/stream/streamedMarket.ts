import type { Served } from '../runtime/fanOut.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { TextFrame } from './textFrame.ts';

/** A place in the log of messages. */
export interface LogPlace {
  /** Number of an entry in this process, without holes. */
  readonly index: number;
  /** Number of its record. */
  readonly seq: number;
}

/** One message for all subscribers of a market, as it goes out. */
export interface MarketMessage {
  /** Number of its record; of a notice, at least that of the entry before it. */
  readonly seq: number;
  /** Which change of its market's book this is; null: a notice. */
  readonly change: number | null;
  readonly frame: TextFrame;
  /** Where the part of the message begins that does not depend on the cursor. */
  readonly bodyAt: number;
  readonly trusted: boolean;
}

/** Keeps the latest messages of all markets. */
export interface MessageLog {
  /** Index of the newest message; 0 before the first. */
  readonly headIndex: number;
  /** A market's newest change up to a message; null when none is kept. */
  changeAt(
    market: StreamedMarket,
    upTo: number,
  ): { readonly entry: MarketMessage; readonly index: number } | null;
}

/** A client that receives the messages of a market. */
interface MarketSubscriber extends Served {
  forget(market: StreamedMarket): void;
}

/** A state of a book, ready to be sent with any cursor. */
interface PrintedState {
  readonly change: number;
  /** From `"ts"` on. */
  readonly body: Buffer;
  readonly trusted: boolean;
}

/**
 * One market in the stream. While it has a subscriber, or had one within the retention time, it is warm: every change
 * is printed and kept. A cold market costs nothing.
 */
export class StreamedMarket {
  record: Market;
  /** The newest record when it was discovered. */
  readonly sinceSeq: number;
  readonly subscribers = new Set<MarketSubscriber>();
  /** Changes counted so far. */
  changes = 0;
  newest: PrintedState | null = null;
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
  /** The state before its oldest kept change. */
  #base: PrintedState | null = null;

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
  warm(since: LogPlace, state: Omit<PrintedState, 'change'> | null): void {
    this.#warmSince = since;
    this.newest = this.#base = state && { ...state, change: this.changes };
  }

  cool(): void {
    this.#warmSince = null;
    this.newest = this.#base = null;
    this.isAwaited = false;
  }

  /** @param index The index that the entry had in the log. */
  dropped(entry: MarketMessage, index: number): void {
    if (this.#warmSince === null || index <= this.#warmSince.index) return;
    this.#droppedSeq = entry.seq;
    if (entry.change !== null) this.#base = stateOf(entry, entry.change);
  }

  /** Whether the log has every message of this market after a record. */
  isKeptSince(seq: number): boolean {
    if (this.#warmSince === null || this.#droppedSeq > seq) return false;
    const { seq: warmSeq } = this.#warmSince;
    return warmSeq <= seq || (this.sinceSeq >= seq && warmSeq === this.sinceSeq);
  }

  /** Whether it was resolved by a record, or later messages are no longer kept. */
  wasOverBy(seq: number): boolean {
    if (this.record.status !== 'resolved') return false;
    return this.resolvedSeq === null || this.resolvedSeq < seq || !this.isKeptSince(seq);
  }

  /** The book as of a log index, as far as it is kept; null: there was none yet. */
  stateAt(log: MessageLog, upTo: number): PrintedState | null {
    if (upTo >= log.headIndex) return this.newest;
    const found = log.changeAt(this, upTo);
    if (found === null || found.entry.change === null) return this.#base;
    if (found.index <= (this.#warmSince?.index ?? 0)) return this.#base;
    return stateOf(found.entry, found.entry.change);
  }

  /** A snapshot with the given cursor; the newest one has the current trust. */
  snapshot(state: PrintedState, cursor: string): Buffer {
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

function stateOf({ frame, bodyAt, trusted }: MarketMessage, change: number): PrintedState {
  return { change, trusted, body: frame.message.subarray(bodyAt) };
}
