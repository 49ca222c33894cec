import { sharesOf } from '../core/money.ts';
import { SnapshotPrinter } from '../print/snapshotText.ts';
import type { BookRecord, SideView } from '../schema/records.ts';
import { type BookRow, emptySide, type RowSide } from '../store/tables/bookRowReader.ts';

/** The current book; a view, as in records. */
export type LiveBook = Pick<BookRecord, 'eventTimeMs' | 'trusted' | 'underlyingPrice' | 'yes' | 'no'>;

/** Converts live books to rows of the store reader's form, so that both print alike. */
export class LiveBookRow {
  readonly #row: BookRow = {
    ...{ timeMs: 0, trusted: false, mirrored: false, underlyingPrice: null },
    ...{ yesBids: emptySide(), yesAsks: emptySide(), noBids: emptySide(), noAsks: emptySide() },
  };

  /** @returns A row that the next call overwrites. */
  of(book: LiveBook): BookRow {
    const row = this.#row;
    row.timeMs = book.eventTimeMs;
    row.trusted = book.trusted;
    row.underlyingPrice = book.underlyingPrice;
    fill(row.yesBids, book.yes.bids);
    fill(row.yesAsks, book.yes.asks);
    fill(row.noBids, book.no.bids);
    fill(row.noAsks, book.no.asks);
    return row;
  }
}

/** Prints live books exactly as `GET /v1/snapshots` prints them once they are stored. */
export class BookText {
  readonly #printers = new Map<string, SnapshotPrinter>();
  readonly #row = new LiveBookRow();

  /** @returns A snapshot without its opening brace; later calls do not overwrite it. */
  print(book: LiveBook, ticker: string): Buffer {
    const printer = this.#printer(ticker);
    printer.print(this.#row.of(book), '');
    return printer.finishView().subarray(1);
  }

  #printer(ticker: string): SnapshotPrinter {
    const known = this.#printers.get(ticker);
    if (known !== undefined) return known;
    const made = new SnapshotPrinter(ticker);
    this.#printers.set(ticker, made);
    return made;
  }
}

function fill(into: RowSide, from: SideView): void {
  const { count, sizes } = from;
  if (into.shares.length < count) into.shares = new Float64Array(count * 2);
  into.count = count;
  into.wide = true;
  into.prices = from.prices;
  for (let i = 0; i < count; i++) into.shares[i] = sharesOf(sizes[i] as number);
}
