/**
 * The recording of one market in typed arrays: produced by a store's loader and by the live runner, and all that a
 * replay may know. Times are Unix milliseconds of OUR receipt unless stated otherwise; `seq` is the order of arrival
 * and merges the three streams into one. Prices are ticks of 1/10000 USDC, sizes 1/1,000,000 share; NaN means no value.
 */

import type { DecidingFeed, EventType, Ticker } from '../../schema/market.ts';
import type { BookSide, SideView, TradeSide } from '../../schema/records.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';

/** Length of the recording before the window: a strategy may ask for a mean over it when the window opens. */
export const TAPE_BEFORE_MS = 3_600_000;
/** A fill counts only after a later message has arrived; after the end messages are rare. */
export const TAPE_AFTER_MS = 60_000;

/** Smaller than every arrival number. */
export const BEFORE_FIRST_SEQ = 0;

/** The market's own data. */
export interface TapeMarket {
  readonly marketId: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  readonly strikePrice: number | null;
  /** When the strike became known; null: never, whatever the strike. */
  readonly strikeKnownTimeMs: number | null;
  /** As listed; null: by the table of rules. */
  readonly takerFeeRate: number | null;
  readonly takerFeeExponent: number | null;
  readonly takerDelayMs: number | null;
  readonly twapLookbackSeconds: number | null;
  readonly decidingFeed: DecidingFeed | null;
}

/** How a market ended according to the venue; never computed from prices. */
export interface Resolution {
  /** Payout of one YES share: 1, 0 or 0.5. Null: annulled, the cost of every share is refunded. */
  readonly payoutYes: number | null;
  readonly resolvedTimeMs: number;
}

/** Best prices, one row per change of any of the four or of the trust. */
export interface TapeQuotes {
  readonly seq: Float64Array;
  readonly receivedMs: Float64Array;
  readonly trusted: Uint8Array;
  readonly yesBid: Float64Array;
  readonly yesAsk: Float64Array;
  readonly noBid: Float64Array;
  readonly noAsk: Float64Array;
  /** Price of the underlying at the row; read only until the first of the tape's `prices` has been received. */
  readonly underlying: Float64Array;
}

/** The levels of one side of many books one after another, best first. */
export interface TapeSide {
  /** Levels of book `i`: from `offsets[i]` up to `offsets[i + 1]`. */
  readonly offsets: Uint32Array;
  readonly prices: Uint16Array;
  readonly sizes: Float64Array;
}

/** The book after every change. The loader may leave out levels deeper than any order reaches. */
export interface TapeBooks {
  readonly seq: Float64Array;
  readonly receivedMs: Float64Array;
  readonly trusted: Uint8Array;
  readonly yesBids: TapeSide;
  readonly yesAsks: TapeSide;
  /** Null: NO is the mirror of YES in every book. */
  readonly noBids: TapeSide | null;
  readonly noAsks: TapeSide | null;
}

/** One price of the underlying, preferably of the feed that resolves the market, from an hour before it opens. */
export interface TapePrices {
  readonly seq: Float64Array;
  readonly receivedMs: Float64Array;
  /** The price's own time. */
  readonly eventMs: Float64Array;
  readonly price: Float64Array;
}

/** The order of sides in `TapeTrades`. */
export const TAPE_TRADE_SIDES: readonly TradeSide[] = ['BUY_YES', 'SELL_YES', 'BUY_NO', 'SELL_NO'];

/** The venue's trades. */
export interface TapeTrades {
  readonly seq: Float64Array;
  readonly receivedMs: Float64Array;
  /** The venue's own time. */
  readonly eventMs: Float64Array;
  /** Index in `TAPE_TRADE_SIDES`. */
  readonly side: Uint8Array;
  readonly price: Float64Array;
  readonly size: Float64Array;
}

/** A period that cannot be trusted. `knownMs`: when it was detected; it reaches back to `startMs`. */
export interface TapeGap {
  readonly startMs: number;
  readonly knownMs: number;
  readonly endMs: number | null;
  /** Arrival numbers of its detection and of its end; recordings of earlier releases do not have them. */
  readonly knownSeq?: number;
  readonly endSeq?: number;
  /** The gap is one of these rows alone, because the operator had some removed or thinned; absent: of all. */
  readonly of?: 'books' | 'quotes' | 'trades';
}

export interface MarketTape {
  readonly market: TapeMarket;
  readonly quotes: TapeQuotes;
  /** Null: best prices only; then no order can walk a book. */
  readonly books: TapeBooks | null;
  readonly prices: TapePrices | null;
  /** Only users' own strategies and resting orders need the trades. */
  readonly trades?: TapeTrades | null;
  readonly gaps: readonly TapeGap[];
}

/** Reads a side of a book by its number. */
export interface Ladders {
  /** A view, valid until the next call. */
  side(book: number, token: Token, side: BookSide): SideView;
  /** Whether NO is the exact mirror of YES in that book; false if unknown. */
  isMirrored(book: number): boolean;
}

/** Views cached per market: the cells of a sweep read the same books repeatedly. Some 3 MB. */
const VIEWS_MAX = 8_192;
const SIDES = 4;

export class TapeLadders implements Ladders {
  readonly #books: TapeBooks;
  /** The last view in each slot; its side and book are in `#keys`. */
  readonly #views: SideView[] = [];
  readonly #keys: Float64Array;

  constructor(books: TapeBooks) {
    this.#books = books;
    this.#keys = new Float64Array(Math.min(VIEWS_MAX, SIDES * books.seq.length)).fill(-1);
  }

  side(book: number, token: Token, side: BookSide): SideView {
    const key = SIDES * book + (token === 'yes' ? 0 : 2) + (side === 'bids' ? 0 : 1);
    const place = key % this.#keys.length;
    if (this.#keys[place] !== key) {
      this.#views[place] = this.#view(book, token, side);
      this.#keys[place] = key;
    }
    return this.#views[place] as SideView;
  }

  #view(book: number, token: Token, side: BookSide): SideView {
    const { yesBids, yesAsks, noBids, noAsks } = this.#books;
    if (token === 'yes') return levelsOf(side === 'bids' ? yesBids : yesAsks, book);
    const own = side === 'bids' ? noBids : noAsks;
    return own === null
      ? mirroredView(levelsOf(side === 'bids' ? yesAsks : yesBids, book))
      : levelsOf(own, book);
  }

  isMirrored(): boolean {
    return this.#books.noBids === null;
  }
}

function levelsOf({ offsets, prices, sizes }: TapeSide, book: number): SideView {
  const [from, to] = [offsets[book] as number, offsets[book + 1] as number];
  return { count: to - from, prices: prices.subarray(from, to), sizes: sizes.subarray(from, to) };
}

/** A side as displayed in the other outcome's book, on its other side; the order stays best first. */
export function mirroredView({ count, prices, sizes }: SideView): SideView {
  return {
    count,
    prices: prices.subarray(0, count).map((price) => TICKS_PER_USDC - price),
    sizes: sizes.subarray(0, count),
  };
}
