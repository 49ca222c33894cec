import { formatPrice, parsePrice } from '../core/money.ts';
import type { TokenTradeEvent } from '../schema/events.ts';
import type { GapCause, RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { BookRecord, QuoteRecord, TradeRecord, TradeSide } from '../schema/records.ts';
import type { StoredBook } from '../store/queries/resume.ts';
import { type FinishedAction, LOPSIDED_MS, MarketBook } from '../venues/polymarket/book/marketBook.ts';

/** Trades remembered to recognise the venue's duplicates; it repeats frames within seconds. */
const TRADES_REMEMBERED_MAX = 2000;

/** A book that is shown but not proven, since when, and with what its hash was tried. */
export interface Unproven {
  readonly sinceMs: number;
  readonly cause: GapCause;
  readonly inputs: string;
  /** Frames that one socket had lost have come by the other since. */
  wasLate: boolean;
  /** The other token's book had never come. */
  readonly isOneSided: boolean;
}

type LastShown = Pick<BookRecord, 'eventTimeMs' | 'trusted' | 'underlyingPrice' | 'yes' | 'no'> & {
  readonly quotedTimeMs: number;
};

type Stamped = { seq: number; underlyingPrice: number | null };

/** One market being recorded: its record, its book, and what is needed to tell news from repetition. */
export class RecordedMarket {
  market: Market;
  readonly book: MarketBook;
  /** Receipt of the newest message; null before the first. */
  lastReceivedTimeMs: number | null = null;
  unproven: Unproven | null = null;
  /** Nothing of it was stored before this run, so what is proven first is the first there is; never so in imports. */
  isNew = false;
  /** The price step that its record was last held against. */
  #tickSize: string;
  /** When a frame of this market last could not be read. */
  rejectedTimeMs: number | null = null;
  #yesBid: number | null = null;
  #yesAsk: number | null = null;
  #noBid: number | null = null;
  #noAsk: number | null = null;
  #quoteTrusted: boolean | null = null;
  #quotedTimeMs: number | null = null;
  #underlyingPrice: number | null = null;
  /** The last row that was written as proven, and the last one at which both tokens had been named together. */
  #proven: RowTimes | null = null;
  #provenTogether: RowTimes | null = null;
  /** What a gap begins with while nothing has been proven. */
  #first: RowTimes | null = null;
  #tradeTimeMs = 0;
  readonly #trades = new Set<string>();

  constructor(market: Market, onFinished: (recorded: RecordedMarket, action: FinishedAction) => void) {
    this.market = market;
    this.#tickSize = formatPrice(market.tickSize);
    this.book = new MarketBook(
      {
        marketId: market.marketId,
        yesTokenId: market.yesTokenId,
        noTokenId: market.noTokenId,
        tickSize: this.#tickSize,
      },
      (_, action) => onFinished(this, action),
    );
  }

  /**
   * Restores what an earlier run stored: its last book, and the last row that was proven.
   * @param proven Null: none was.
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

  /** Notes a message of the venue. */
  received({ eventTimeMs, receivedTimeMs }: RowTimes): void {
    this.lastReceivedTimeMs = receivedTimeMs;
    this.#first ??= { eventTimeMs, receivedTimeMs };
  }

  /** Notes a proven row that is being written. */
  proved({ eventTimeMs, receivedTimeMs }: RowTimes): void {
    const { yes, no } = this.book;
    this.#proven = { eventTimeMs, receivedTimeMs };
    if (yes.timeMs === no.timeMs) this.#provenTogether = this.#proven;
  }

  /** The last row that was written as proven; null before the first. */
  get provenRow(): RowTimes | null {
    return this.#proven;
  }

  /**
   * The row a gap that is found now begins with: the last that was proven, or the first thing received; null before.
   * Rows of one token alone prove nothing of the other.
   */
  get gapStart(): RowTimes | null {
    const { yes, no } = this.book;
    const isLopsided = Math.abs(yes.timeMs - no.timeMs) >= LOPSIDED_MS;
    return (isLopsided ? (this.#provenTogether ?? this.#proven) : this.#proven) ?? this.#first;
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
   * The book as last shown, a view, and since when its best prices and its trust have been these; null before the first,
   * `unfinished` while it is between two states.
   */
  liveBook(): LastShown | 'unfinished' | null {
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

  /** A quote when a best price of either token or the trust is news, else null. Written out: see `mapClobFrame`. */
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
   * The price step that the hashes of a proven book show, where the record has another; null where it is as recorded. A
   * listing may be ahead of the book but never behind its hashes: only a finer step corrects it.
   */
  provenTickSize(): number | null {
    const { context, yes, no } = this.book;
    if (context.tickSize === this.#tickSize || !yes.verified || !no.verified) return null;
    this.#tickSize = context.tickSize;
    const ticks = parsePrice(context.tickSize);
    return ticks !== null && ticks < this.market.tickSize ? ticks : null;
  }

  /** Names the other token of a market of which a recording had shown one alone. */
  nameNoToken(tokenId: string): Market {
    this.book.no.tokenId = tokenId;
    return { ...this.market, noTokenId: tokenId };
  }

  /** Has the book written as it stands: rows of it may have been lost on the way to the store. */
  rewrite(nowMs: number): void {
    this.#quoteTrusted = null;
    this.book.republish(nowMs);
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

  /** A trade that was not recorded yet, else null. */
  tradeRecord(event: TokenTradeEvent, seq: number): TradeRecord | null {
    const outcome = event.tokenId === this.market.yesTokenId ? 'YES' : 'NO';
    const side: TradeSide = `${event.side}_${outcome}`;
    const origin = event.transactionHash ?? String(event.eventTimeMs);
    const tradeId = `${origin}:${side}:${event.price}:${event.size}`;
    const key = `${event.eventTimeMs}:${tradeId}`;
    if (this.#trades.has(key)) return null;
    this.#trades.add(key);
    if (this.#trades.size > TRADES_REMEMBERED_MAX)
      this.#trades.delete(this.#trades.values().next().value as string);
    this.#tradeTimeMs = Math.max(this.#tradeTimeMs, event.eventTimeMs);
    const { marketId, price, size, receivedTimeMs } = event;
    return { seq, marketId, eventTimeMs: this.#tradeTimeMs, receivedTimeMs, side, price, size, tradeId };
  }
}
