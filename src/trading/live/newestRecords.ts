import { DEPTH_MAX } from '../../backtest/depth.ts';
import type { LiveMarket } from '../../core/session/liveMarket.ts';
import { NewestBooks } from '../../core/session/newestBooks.ts';
import type { BookRecord, QuoteRecord } from '../../schema/records.ts';

/** The newest book and quote of a market, for row builders that join later. */
export class NewestRecords {
  readonly #books = new NewestBooks({ depth: DEPTH_MAX, fromMs: Number.NEGATIVE_INFINITY });
  #book: { readonly number: number; readonly head: Omit<BookRecord, 'yes' | 'no'> } | null = null;
  #quote: QuoteRecord | null = null;

  book(record: BookRecord): void {
    const number = this.#books.keep(record) ?? this.#book?.number ?? 0;
    const { yes: _yes, no: _no, ...head } = record;
    this.#book = { number, head };
  }

  quote(record: QuoteRecord): void {
    this.#quote = record;
  }

  replayTo(live: LiveMarket): void {
    const [book, quote] = [this.#book, this.#quote];
    if (book !== null) {
      const sides = (token: 'yes' | 'no') => ({
        bids: this.#books.side(book.number, token, 'bids'),
        asks: this.#books.side(book.number, token, 'asks'),
      });
      live.book({ ...book.head, yes: sides('yes'), no: sides('no') });
    }
    if (quote !== null && quote.seq > (book?.head.seq ?? 0)) live.quote(quote);
  }
}
