import type { Market } from '../../schema/market.ts';
import type { BookRecord, QuoteRecord } from '../../schema/records.ts';
import { type LastQuote, type StoredBook, viewsOf } from '../../store/queries/resume.ts';
import { BookCopy } from '../bookCopy.ts';
import type { LiveBookView, LiveMarketRecording } from '../liveRecording.ts';

/** One market recorded by other processes: its record, a copy of its newest book, and its trust. */
export class FollowedMarket implements LiveMarketRecording {
  market: Market;
  /** Kinds of opportunities that were published here; there is one for each kind. */
  readonly publishedTiers = new Set<string>();
  readonly #yes = new BookCopy();
  readonly #no = new BookCopy();
  readonly #reception: { readonly isReceiving: boolean };
  /** The newest rows that were read from the store: the stream's rows up to them are known. */
  #resumedSeq = { book: Number.NEGATIVE_INFINITY, quote: Number.NEGATIVE_INFINITY };
  #eventTimeMs = 0;
  #quotedTimeMs: number | null = null;
  #isTrusted = false;
  #underlyingPrice: number | null = null;

  /** @param reception While it does not receive, the book is shown as untrusted. */
  constructor(market: Market, reception: { readonly isReceiving: boolean }) {
    this.market = market;
    this.#reception = reception;
  }

  /** @param quote Null: none is stored. */
  restore(book: StoredBook, quote: LastQuote | null): void {
    const { yes, no } = viewsOf(book);
    const { receivedTimeMs, trusted } = quote ?? book;
    this.#yes.copyFrom(yes);
    this.#no.copyFrom(no);
    this.#eventTimeMs = Math.max(book.eventTimeMs, quote?.eventTimeMs ?? 0);
    this.#quotedTimeMs = receivedTimeMs;
    this.#isTrusted = trusted;
    this.#underlyingPrice = book.underlyingPrice;
    this.#resumedSeq = { book: book.seq, quote: quote?.seq ?? Number.NEGATIVE_INFINITY };
  }

  /** Whether a row of the stream was read from the store. */
  isResumed(kind: 'book' | 'quote', seq: number): boolean {
    return seq <= this.#resumedSeq[kind];
  }

  /** Copies the levels after an action, before any record of the action is published. */
  copyLevels({ eventTimeMs, yes, no }: BookRecord): void {
    this.#yes.copyFrom(yes);
    this.#no.copyFrom(no);
    this.#eventTimeMs = eventTimeMs;
  }

  onBook({ underlyingPrice }: BookRecord): void {
    this.#underlyingPrice = underlyingPrice;
  }

  onQuote({ eventTimeMs, receivedTimeMs, trusted }: QuoteRecord): void {
    this.#eventTimeMs = Math.max(this.#eventTimeMs, eventTimeMs);
    this.#quotedTimeMs = receivedTimeMs;
    this.#isTrusted = trusted;
  }

  liveBook(): LiveBookView | null {
    if (this.#eventTimeMs === 0 || this.#quotedTimeMs === null) return null;
    return {
      eventTimeMs: this.#eventTimeMs,
      quotedTimeMs: this.#quotedTimeMs,
      trusted: this.#isTrusted && this.#reception.isReceiving,
      underlyingPrice: this.#underlyingPrice,
      yes: this.#yes,
      no: this.#no,
    };
  }
}
