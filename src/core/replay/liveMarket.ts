/** A market as it is being recorded, in the form a session reads: the newest row, and the newest two books. */
import type { BookRecord, QuoteRecord, SideView } from '../../schema/records.ts';
import type { BookSide } from '../fills/consumption.ts';
import type { Token } from '../signals/signal.ts';
import { RowBuilder, type Rows } from './rows.ts';
import { type Ladders, mirroredView, type TapeGap, type TapeMarket } from './tape.ts';
import type { UnderlyingState } from './underlyingState.ts';

const SLOTS = 2;
const INITIAL_LEVELS = 128;

/**
 * Call one method an event, in the order of arrival; where it says that there is a new row, `session.step(0)` of every
 * session on the market has to follow.
 */
export class LiveMarket {
  readonly market: TapeMarket;
  readonly rows: Rows;
  readonly ladders: Ladders;
  readonly #builder: RowBuilder;
  readonly #books = new NewestBooks();

  /** @param underlying Shared by the markets of a ticker, pushed to before `price` is called; null: no model is asked for. */
  constructor(market: TapeMarket, underlying: UnderlyingState | null) {
    this.market = market;
    this.#builder = new RowBuilder(market, { underlying, capacity: 1 });
    this.rows = this.#builder.rows;
    this.ladders = this.#books;
  }

  book(record: BookRecord): true {
    const { yes, no, mirrored, trusted, receivedTimeMs } = record;
    const book = this.#books.keep(record);
    const best = (side: SideView) => (side.count === 0 ? Number.NaN : (side.prices[0] as number));
    this.#builder.book({
      ...{ receivedMs: receivedTimeMs, trusted, book, yesBids: yes.bids, yesAsks: yes.asks },
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

  /** The strike has become known, or another is better; it makes no row of its own. */
  strike(strike: Pick<TapeMarket, 'strikePrice' | 'strikeKnownTimeMs'>): void {
    this.#builder.strike(strike);
  }

  gapKnown(gap: Omit<TapeGap, 'endMs'>): true {
    this.#builder.gapKnown(gap);
    return true;
  }

  gapEnded(endMs: number): true {
    this.#builder.gapEnded(endMs);
    return true;
  }
}

/** An order is matched when the book after its due time has come, against the one before: two are enough. */
class NewestBooks implements Ladders {
  readonly #slots = Array.from({ length: SLOTS }, () => ({
    yesBids: new KeptSide(),
    yesAsks: new KeptSide(),
    noBids: new KeptSide(),
    noAsks: new KeptSide(),
    mirrored: true,
  }));
  #next = 0;

  keep({ yes, no, mirrored }: BookRecord): number {
    const slot = this.#slots[this.#next % SLOTS];
    if (slot === undefined) throw new RangeError('no slot');
    slot.yesBids.copy(yes.bids);
    slot.yesAsks.copy(yes.asks);
    slot.mirrored = mirrored;
    if (!mirrored) {
      slot.noBids.copy(no.bids);
      slot.noAsks.copy(no.asks);
    }
    return this.#next++;
  }

  side(book: number, token: Token, side: BookSide): SideView {
    const slot = this.#slot(book);
    if (token === 'yes') return side === 'bids' ? slot.yesBids : slot.yesAsks;
    if (slot.mirrored) return mirroredView(side === 'bids' ? slot.yesAsks : slot.yesBids);
    return side === 'bids' ? slot.noBids : slot.noAsks;
  }

  isMirrored(book: number): boolean {
    return this.#slot(book).mirrored;
  }

  #slot(book: number) {
    const slot = this.#slots[book % SLOTS];
    if (slot === undefined || book < this.#next - SLOTS)
      throw new RangeError(`book ${book} is no longer kept`);
    return slot;
  }
}

class KeptSide implements SideView {
  count = 0;
  prices = new Uint16Array(INITIAL_LEVELS);
  sizes = new Float64Array(INITIAL_LEVELS);

  copy({ count, prices, sizes }: SideView): void {
    if (count > this.prices.length) {
      this.prices = new Uint16Array(prices.length);
      this.sizes = new Float64Array(sizes.length);
    }
    this.prices.set(prices.subarray(0, count));
    this.sizes.set(sizes.subarray(0, count));
    this.count = count;
  }
}
