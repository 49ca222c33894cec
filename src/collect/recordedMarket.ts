import { type FinishedAction, MarketBook } from '../core/marketBook.ts';
import { formatPrice } from '../core/money.ts';
import type { TokenTradeEvent } from '../schema/events.ts';
import type { Market } from '../schema/market.ts';
import type { BookRecord, QuoteRecord, TradeRecord, TradeSide } from '../schema/records.ts';

/** Trades remembered to recognise the venue's duplicates; it repeats frames within seconds. */
const TRADES_REMEMBERED_MAX = 2000;

type Stamped = { seq: number; underlyingPrice: number | null };

/** One market being recorded: its record, its book, and what is needed to tell news from repetition. */
export class RecordedMarket {
  market: Market;
  readonly book: MarketBook;
  lastReceivedTimeMs: number | null = null;
  #yesBid: number | null = null;
  #yesAsk: number | null = null;
  #noBid: number | null = null;
  #noAsk: number | null = null;
  #quoteTrusted: boolean | null = null;
  #tradeTimeMs = 0;
  readonly #trades = new Set<string>();

  constructor(market: Market, onFinished: (recorded: RecordedMarket, action: FinishedAction) => void) {
    this.market = market;
    this.book = new MarketBook(
      {
        marketId: market.marketId,
        yesTokenId: market.yesTokenId,
        noTokenId: market.noTokenId,
        tickSize: formatPrice(market.tickSize),
      },
      (_, action) => onFinished(this, action),
    );
  }

  bookRecord(action: FinishedAction, { seq, underlyingPrice }: Stamped): BookRecord {
    const { book } = this;
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

  /** A quote when a best price of either token or the trust is news, else null. */
  quoteRecord(action: FinishedAction, { seq, underlyingPrice }: Stamped): QuoteRecord | null {
    const { yes, no } = this.book;
    const [yesBid, yesAsk, noBid, noAsk] = [yes.bids.best, yes.asks.best, no.bids.best, no.asks.best];
    const trustChanged = action.trusted !== this.#quoteTrusted;
    const yesChanged = trustChanged || yesBid !== this.#yesBid || yesAsk !== this.#yesAsk;
    if (!yesChanged && noBid === this.#noBid && noAsk === this.#noAsk) return null;
    this.#yesBid = yesBid;
    this.#yesAsk = yesAsk;
    this.#noBid = noBid;
    this.#noAsk = noAsk;
    this.#quoteTrusted = action.trusted;
    const { eventTimeMs, receivedTimeMs, trusted } = action;
    const times = { seq, marketId: this.book.marketId, eventTimeMs, receivedTimeMs };
    return { ...times, yesBid, yesAsk, noBid, noAsk, yesChanged, trusted, underlyingPrice };
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
