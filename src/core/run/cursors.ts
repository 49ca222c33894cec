/** Cursors over recordings: each gives the items of its recording in order of arrival. */
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { PerpDepthRecord } from '../../schema/records.ts';
import { type MarketTape, TAPE_TRADE_SIDES, TapeLadders, type TapePrices } from '../session/tape.ts';
import { type GapItem, gapItemsOf } from './gapItems.ts';
import type { RunItem } from './runner.ts';

/** The source of items. */
export interface Cursor {
  /** Place of the next item in the order of arrival; infinite at the end. */
  order: number;
  /** Receive time of the next item. */
  timeMs: number;
  /** The next item; moves the cursor on. */
  take(): RunItem;
}

const NO_SEQ = new Float64Array(0);

/** Quotes, books, trades and gaps of one market. */
export class MarketCursor implements Cursor {
  order = Number.POSITIVE_INFINITY;
  timeMs = Number.POSITIVE_INFINITY;
  readonly #tape: MarketTape;
  readonly #marketId: string;
  readonly #ladders: TapeLadders | null;
  readonly #gaps: readonly GapItem[];
  readonly #seqs: { readonly book: Float64Array; readonly quote: Float64Array; readonly trade: Float64Array };
  #next: 'gap' | 'book' | 'quote' | 'trade' = 'gap';
  #gap = 0;
  #book = 0;
  #quote = 0;
  #trade = 0;

  constructor(tape: MarketTape) {
    const { books, quotes, trades } = tape;
    this.#tape = tape;
    this.#marketId = tape.market.marketId;
    this.#ladders = books === null ? null : new TapeLadders(books);
    this.#gaps = gapItemsOf(tape);
    this.#seqs = { book: books?.seq ?? NO_SEQ, quote: quotes.seq, trade: trades?.seq ?? NO_SEQ };
    this.#find();
  }

  take(): RunItem {
    const item = this.#item();
    this.#find();
    return item;
  }

  #item(): RunItem {
    switch (this.#next) {
      case 'gap':
        return (this.#gaps[this.#gap++] as GapItem).item;
      case 'book':
        return this.#bookAt(this.#book++);
      case 'quote':
        return this.#quoteAt(this.#quote++);
      case 'trade':
        return this.#tradeAt(this.#trade++);
    }
  }

  /** Of equal arrival numbers, gaps come first, then books, quotes and trades. */
  #find(): void {
    const { book, quote, trade } = this.#seqs;
    const gap = this.#gaps[this.#gap];
    this.order = gap?.order ?? Number.POSITIVE_INFINITY;
    this.timeMs = gap?.item.timeMs ?? Number.POSITIVE_INFINITY;
    this.#next = 'gap';
    const bookSeq = book[this.#book] ?? Number.POSITIVE_INFINITY;
    if (bookSeq < this.order) this.#move('book', bookSeq, this.#tape.books?.receivedMs[this.#book]);
    const quoteSeq = quote[this.#quote] ?? Number.POSITIVE_INFINITY;
    if (quoteSeq < this.order) this.#move('quote', quoteSeq, this.#tape.quotes.receivedMs[this.#quote]);
    const tradeSeq = trade[this.#trade] ?? Number.POSITIVE_INFINITY;
    if (tradeSeq < this.order) this.#move('trade', tradeSeq, this.#tape.trades?.receivedMs[this.#trade]);
  }

  #move(next: 'book' | 'quote' | 'trade', order: number, timeMs = 0): void {
    this.#next = next;
    this.order = order;
    this.timeMs = timeMs;
  }

  #bookAt(book: number): RunItem {
    const trusted = this.#tape.books?.trusted[book] === 1;
    const ladders = this.#ladders as TapeLadders;
    return {
      kind: 'book',
      seq: this.order,
      timeMs: this.timeMs,
      marketId: this.#marketId,
      trusted,
      book,
      ladders,
    };
  }

  #quoteAt(at: number): RunItem {
    const { trusted, yesBid, yesAsk, noBid, noAsk, underlying } = this.#tape.quotes;
    return {
      kind: 'quote',
      seq: this.order,
      timeMs: this.timeMs,
      marketId: this.#marketId,
      trusted: trusted[at] === 1,
      yesBid: yesBid[at] as number,
      yesAsk: yesAsk[at] as number,
      noBid: noBid[at] as number,
      noAsk: noAsk[at] as number,
      underlying: underlying[at] as number,
    };
  }

  #tradeAt(at: number): RunItem {
    const { trades } = this.#tape;
    if (trades === undefined || trades === null) throw new RangeError('a tape without trades');
    const side = TAPE_TRADE_SIDES[trades.side[at] as number];
    if (side === undefined) throw new RangeError(`no side ${trades.side[at]} of a trade`);
    return {
      kind: 'trade',
      seq: this.order,
      timeMs: this.timeMs,
      marketId: this.#marketId,
      side,
      price: trades.price[at] as number,
      size: trades.size[at] as number,
      eventTimeMs: trades.eventMs[at] as number,
    };
  }
}

/** Prices of one feed. */
export class PriceCursor implements Cursor {
  order = Number.POSITIVE_INFINITY;
  timeMs = Number.POSITIVE_INFINITY;
  readonly #feed: { readonly ticker: Ticker; readonly source: UnderlyingSource };
  readonly #rows: TapePrices;
  #at = -1;

  constructor(feed: { readonly ticker: Ticker; readonly source: UnderlyingSource }, rows: TapePrices) {
    this.#feed = feed;
    this.#rows = rows;
    this.#move();
  }

  take(): RunItem {
    const { ticker, source } = this.#feed;
    const { order: seq, timeMs } = this;
    const [price, eventTimeMs] = [
      this.#rows.price[this.#at] as number,
      this.#rows.eventMs[this.#at] as number,
    ];
    this.#move();
    return {
      kind: 'price',
      seq,
      timeMs,
      price: { kind: 'underlying', ticker, source, price, eventTimeMs, receivedTimeMs: timeMs },
    };
  }

  #move(): void {
    this.#at++;
    this.order = this.#rows.seq[this.#at] ?? Number.POSITIVE_INFINITY;
    this.timeMs = this.#rows.receivedMs[this.#at] ?? Number.POSITIVE_INFINITY;
  }
}

/** Books of perpetual venues. */
export class DepthCursor implements Cursor {
  order = Number.POSITIVE_INFINITY;
  timeMs = Number.POSITIVE_INFINITY;
  readonly #records: readonly PerpDepthRecord[];
  #at = -1;

  constructor(records: readonly PerpDepthRecord[]) {
    this.#records = records;
    this.#move();
  }

  take(): RunItem {
    const depth = this.#records[this.#at] as PerpDepthRecord;
    this.#move();
    return { kind: 'perp_depth', seq: depth.seq, timeMs: depth.receivedTimeMs, depth };
  }

  #move(): void {
    const next = this.#records[++this.#at];
    this.order = next?.seq ?? Number.POSITIVE_INFINITY;
    this.timeMs = next?.receivedTimeMs ?? Number.POSITIVE_INFINITY;
  }
}
