/** The live form of a market for sessions: the newest row, and the newest two books. */
import type { BookRecord, QuoteRecord, SideView } from '../../schema/records.ts';
import { NewestBooks } from './newestBooks.ts';
import { RowBuilder, type Rows } from './rows.ts';
import type { Ladders, TapeGap, TapeMarket } from './tape.ts';
import type { UnderlyingState } from './underlyingState.ts';

export interface LiveTerms {
  /** Shared by the markets of a ticker, pushed to before `price` is called; null: no session uses the model. */
  readonly underlying: UnderlyingState | null;
  /** Levels per side of an equivalent tape. */
  readonly depth: number;
  /** Receive time at which such a tape would begin. */
  readonly fromMs: number;
}

/**
 * Call one method per event, in the order of arrival. After each new row call `session.step(0)` of every session on the
 * market.
 */
export class LiveMarket {
  readonly market: TapeMarket;
  readonly rows: Rows;
  readonly ladders: Ladders;
  readonly #builder: RowBuilder;
  readonly #books: NewestBooks;

  constructor(market: TapeMarket, { underlying, depth, fromMs }: LiveTerms) {
    this.market = market;
    this.#books = new NewestBooks({ depth, fromMs });
    this.#builder = new RowBuilder(market, { underlying, capacity: 1 });
    this.rows = this.#builder.rows;
    this.ladders = this.#books;
  }

  /** @returns False if nothing changed that a tape would contain. */
  book(record: BookRecord): boolean {
    const { no, mirrored, trusted, receivedTimeMs } = record;
    const book = this.#books.keep(record);
    if (book === null) return false;
    const best = (side: SideView) => (side.count === 0 ? Number.NaN : (side.prices[0] as number));
    const yes = (side: 'bids' | 'asks') => this.#books.side(book, 'yes', side);
    this.#builder.book({
      ...{ receivedMs: receivedTimeMs, trusted, book, yesBids: yes('bids'), yesAsks: yes('asks') },
      ...(mirrored ? {} : { no: { bid: best(no.bids), ask: best(no.asks) } }),
    });
    return true;
  }

  quote({ receivedTimeMs, trusted, yesBid, yesAsk, noBid, noAsk }: QuoteRecord): boolean {
    return this.#builder.quote({
      ...{ receivedMs: receivedTimeMs, trusted },
      ...{ yesBid: yesBid ?? Number.NaN, yesAsk: yesAsk ?? Number.NaN },
      ...{ noBid: noBid ?? Number.NaN, noAsk: noAsk ?? Number.NaN },
    });
  }

  price(receivedMs: number): boolean {
    return this.#builder.price(receivedMs);
  }

  /** Applies a new or better strike; it makes no row of its own. */
  strike(strike: Pick<TapeMarket, 'strikePrice' | 'strikeKnownTimeMs'>): void {
    this.#builder.strike(strike);
  }

  gapDetected(gap: Omit<TapeGap, 'endMs'>): true {
    this.#builder.gapDetected(gap);
    return true;
  }

  gapEnded(endMs: number): true {
    this.#builder.gapEnded(endMs);
    return true;
  }
}
