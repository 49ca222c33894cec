import { formatPrice, parsePrice } from '../core/money.ts';
import type { TokenTradeEvent } from '../schema/events.ts';
import type { GapCause, RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { BookRecord, QuoteRecord, TradeRecord, TradeSide } from '../schema/records.ts';
import type { StoredBook } from '../store/queries/resume.ts';
import type { FinishedAction } from '../venues/polymarket/book/bookAction.ts';
import { MarketBook } from '../venues/polymarket/book/marketBook.ts';
import type { UnprovenStates } from '../venues/polymarket/book/unprovenStates.ts';
import type { LiveBookView, LiveMarketRecording } from './liveRecording.ts';

/** Number of trades remembered to recognise duplicates; the venue repeats frames within seconds. */
const TRADES_REMEMBERED_MAX = 2000;

/** A published but unproven book: since when, with which hash inputs, and the states that it has shown. */
export interface Unproven {
  readonly sinceMs: number;
  readonly cause: GapCause;
  readonly inputs: string;
  readonly states: UnprovenStates;
  /** Frames that one socket lost have since arrived on the other. */
  wasLate: boolean;
  /** They came too late for the states between. */
  wasOverdue: boolean;
  /** The other token's book had never arrived. */
  readonly isOneSided: boolean;
}

type Stamped = { seq: number; underlyingPrice: number | null };

/** One recorded market: its record, its book, and the state that distinguishes new data from repetitions. */
export class RecordedMarket implements LiveMarketRecording {
  market: Market;
  readonly book: MarketBook;
  /** Receive time of the newest message; null before the first. */
  lastReceivedTimeMs: number | null = null;
  unproven: Unproven | null = null;
  /** No earlier run stored any row of it, so the first proof here is the first ever; always false in imports. */
  isNew = false;
  /** The tick size with which the record was last compared. */
  #tickSize: string;
  /** Time of this market's last unreadable frame. */
  rejectedTimeMs: number | null = null;
  #yesBid: number | null = null;
  #yesAsk: number | null = null;
  #noBid: number | null = null;
  #noAsk: number | null = null;
  #quoteTrusted: boolean | null = null;
  #quotedTimeMs: number | null = null;
  #underlyingPrice: number | null = null;
  /** The last row written as proven, and the last one for which a frame had named both tokens. */
  #proven: RowTimes | null = null;
  #provenTogether: RowTimes | null = null;
  /** The start of a gap while no row has been proven. */
  #first: RowTimes | null = null;
  #tradeTimeMs = 0;
  readonly #trades = new Set<string>();

  constructor(market: Market) {
    this.market = market;
    this.#tickSize = formatPrice(market.tickSize);
    const { marketId, yesTokenId, noTokenId } = market;
    this.book = new MarketBook({ marketId, yesTokenId, noTokenId, tickSize: this.#tickSize });
  }

  /**
   * Restores the last book and the last proven row that an earlier run stored.
   * @param proven Null when no row was proven.
   */
  restore(last: StoredBook, proven: RowTimes | null): void {
    this.isNew = false;
    this.#proven = this.#provenTogether = proven;
    this.#first = last;
    this.book.restore(last);
    this.#noteQuote(last);
    this.#underlyingPrice = last.underlyingPrice;
    this.lastReceivedTimeMs = last.receivedTimeMs;
  }

  /** Records the times of a message from the venue. */
  received({ eventTimeMs, receivedTimeMs }: RowTimes): void {
    this.lastReceivedTimeMs = receivedTimeMs;
    this.#first ??= { eventTimeMs, receivedTimeMs };
  }

  /** Records the times of a proven row that is being written. */
  proved({ eventTimeMs, receivedTimeMs }: RowTimes): void {
    const { yes, no } = this.book;
    this.#proven = { eventTimeMs, receivedTimeMs };
    // The first proven row has whole books of both tokens, each with the time of its own last change.
    if (yes.timeMs === no.timeMs || this.#provenTogether === null) this.#provenTogether = this.#proven;
  }

  /** The last row written as proven; null before the first. */
  get provenRow(): RowTimes | null {
    return this.#proven;
  }

  /**
   * The row at which a gap detected now starts: the last proven one, or the first message received; null before it.
   * Rows that name one token prove nothing about the other: its frames may have been lost since it was last named.
   */
  get gapStart(): RowTimes | null {
    return this.#provenTogether ?? this.#first;
  }

  /** Whether the newest published state is not trusted; false before the first. */
  get isInDoubt(): boolean {
    return this.#quoteTrusted === false;
  }

  bookRecord(action: FinishedAction, { seq, underlyingPrice }: Stamped): BookRecord {
    const { book } = this;
    this.#underlyingPrice = underlyingPrice;
    return {
      seq,
      marketId: book.marketId,
      eventTimeMs: action.eventTimeMs,
      receivedTimeMs: action.receivedTimeMs,
      yes: book.yes,
      no: book.no,
      mirrored: book.mirrored,
      trusted: action.trusted,
      underlyingPrice,
    };
  }

  /**
   * A live view of the last published book, with the time since which its best prices and trust are unchanged; null
   * before the first book, `unfinished` between two states.
   */
  liveBook(): LiveBookView | 'unfinished' | null {
    const { eventTimeMs, waitingSinceMs, yes, no } = this.book;
    const isHalf = yes.known !== no.known && !this.book.isOneSided;
    if (waitingSinceMs !== null || isHalf) return 'unfinished';
    if (eventTimeMs === 0 || this.#quotedTimeMs === null) return null;
    return {
      eventTimeMs,
      quotedTimeMs: this.#quotedTimeMs,
      trusted: this.#quoteTrusted ?? false,
      underlyingPrice: this.#underlyingPrice,
      yes,
      no,
    };
  }

  /** A quote when a best price of either token or the trust changed, else null. Written out: see `mapClobFrame`. */
  quoteRecord(action: FinishedAction, { seq, underlyingPrice }: Stamped): QuoteRecord | null {
    const { yes, no } = this.book;
    const [yesBid, yesAsk, noBid, noAsk] = [yes.bids.best, yes.asks.best, no.bids.best, no.asks.best];
    const trustChanged = action.trusted !== this.#quoteTrusted;
    const yesChanged = trustChanged || yesBid !== this.#yesBid || yesAsk !== this.#yesAsk;
    if (!yesChanged && noBid === this.#noBid && noAsk === this.#noAsk) return null;
    this.#noteQuote(action);
    const { eventTimeMs, receivedTimeMs, trusted } = action;
    return {
      seq,
      marketId: this.book.marketId,
      eventTimeMs,
      receivedTimeMs,
      yesBid,
      yesAsk,
      noBid,
      noAsk,
      yesChanged,
      trusted,
      underlyingPrice,
    };
  }

  /**
   * The tick size that a proven book's hashes show, where the record has another; null where they agree. A
   * listing may be ahead of the book but never behind its hashes: only a finer tick size corrects it.
   */
  provenTickSize(): number | null {
    const { context, yes, no } = this.book;
    if (context.tickSize === this.#tickSize || !yes.verified || !no.verified) return null;
    this.#tickSize = context.tickSize;
    const ticks = parsePrice(context.tickSize);
    return ticks !== null && ticks < this.market.tickSize ? ticks : null;
  }

  /** Names the other token of a market for which a recording had shown only one. */
  nameNoToken(tokenId: string): Market {
    this.book.no.tokenId = tokenId;
    return { ...this.market, noTokenId: tokenId };
  }

  /** The next action is a quote, whether or not it changes the best prices or the trust. */
  forgetQuote(): void {
    this.#quoteTrusted = null;
  }

  #noteQuote({ trusted, receivedTimeMs }: { trusted: boolean; receivedTimeMs: number }): void {
    const { yes, no } = this.book;
    this.#quotedTimeMs = receivedTimeMs;
    this.#yesBid = yes.bids.best;
    this.#yesAsk = yes.asks.best;
    this.#noBid = no.bids.best;
    this.#noAsk = no.asks.best;
    this.#quoteTrusted = trusted;
  }

  /** The record of a trade; null for a trade already recorded. */
  tradeRecord(event: TokenTradeEvent, seq: number): TradeRecord | null {
    const { side, tradeId, key } = this.#idOf(event);
    if (this.#trades.has(key)) return null;
    this.#trades.add(key);
    if (this.#trades.size > TRADES_REMEMBERED_MAX)
      this.#trades.delete(this.#trades.values().next().value as string);
    this.#tradeTimeMs = Math.max(this.#tradeTimeMs, event.eventTimeMs);
    const { marketId, price, size, receivedTimeMs } = event;
    return { seq, marketId, eventTimeMs: this.#tradeTimeMs, receivedTimeMs, side, price, size, tradeId };
  }

  /** Whether a trade is already recorded. */
  hasTrade(event: TokenTradeEvent): boolean {
    return this.#trades.has(this.#idOf(event).key);
  }

  #idOf(event: TokenTradeEvent): { side: TradeSide; tradeId: string; key: string } {
    const outcome = event.tokenId === this.market.yesTokenId ? 'YES' : 'NO';
    const side: TradeSide = `${event.side}_${outcome}`;
    const origin = event.transactionHash ?? String(event.eventTimeMs);
    const tradeId = `${origin}:${side}:${event.price}:${event.size}`;
    return { side, tradeId, key: `${event.eventTimeMs}:${tradeId}` };
  }
}
