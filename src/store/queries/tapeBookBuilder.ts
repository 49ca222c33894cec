/** Collects the books of one market, read row by row, into the arrays of a tape. */
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../../core/money.ts';
import type { TapeBooks, TapeSide } from '../../core/session/tape.ts';
import { type BookRow, BookRowReader, type RowSide, sharesOfLevel } from '../tables/bookRowReader.ts';
import { SharedColumn } from '../tables/sharedColumn.ts';

/**
 * A row is skipped when its levels, up to the depth read, and its trust equal those of the previous row: nothing
 * changed.
 */
export class TapeBookBuilder {
  readonly #reader = new BookRowReader();
  readonly #seq = new SharedColumn(Float64Array);
  readonly #received = new SharedColumn(Float64Array);
  readonly #trusted = new SharedColumn(Uint8Array);
  readonly #yes = { bids: new TapeSideBuilder(), asks: new TapeSideBuilder() };
  /** Null while NO was the mirror of YES in every book. */
  #no: { readonly bids: TapeSideBuilder; readonly asks: TapeSideBuilder } | null = null;

  read(bytes: Buffer): void {
    this.#reader.add(bytes);
    for (let row = this.#reader.next(); row; row = this.#reader.next()) this.#add(row);
  }

  /** Whether the last row was read completely. */
  get isWhole(): boolean {
    return this.#reader.isWhole;
  }

  get levels(): number {
    const { bids, asks } = this.#yes;
    return bids.levels + asks.levels + (this.#no ? this.#no.bids.levels + this.#no.asks.levels : 0);
  }

  shared(): TapeBooks {
    return {
      seq: this.#seq.shared(),
      receivedMs: this.#received.shared(),
      trusted: this.#trusted.shared(),
      yesBids: this.#yes.bids.shared(),
      yesAsks: this.#yes.asks.shared(),
      noBids: this.#no?.bids.shared() ?? null,
      noAsks: this.#no?.asks.shared() ?? null,
    };
  }

  #add(row: BookRow): void {
    if (!row.mirrored && this.#no === null) {
      this.#no = { bids: this.#yes.asks.mirrored(), asks: this.#yes.bids.mirrored() };
    }
    if (this.#repeats(row)) return;
    // The reader returns `seq` and the receive time in the fields for a book's time and the underlying's price.
    this.#seq.push(row.timeMs);
    this.#received.push(row.underlyingPrice as number);
    this.#trusted.push(row.trusted ? 1 : 0);
    this.#yes.bids.push(row.yesBids);
    this.#yes.asks.push(row.yesAsks);
    this.#no?.bids.push(row.noBids);
    this.#no?.asks.push(row.noAsks);
  }

  #repeats(row: BookRow): boolean {
    if (this.#seq.length === 0 || this.#trusted.last() !== (row.trusted ? 1 : 0)) return false;
    if (!this.#yes.bids.repeats(row.yesBids) || !this.#yes.asks.repeats(row.yesAsks)) return false;
    if (this.#no === null) return true;
    return this.#no.bids.repeats(row.noBids) && this.#no.asks.repeats(row.noAsks);
  }
}

/** One side of all books, concatenated. */
class TapeSideBuilder {
  readonly #offsets = new SharedColumn(Uint32Array);
  readonly #prices = new SharedColumn(Uint16Array);
  readonly #sizes = new SharedColumn(Float64Array);

  constructor() {
    this.#offsets.push(0);
  }

  get levels(): number {
    return this.#prices.length;
  }

  push(side: RowSide): void {
    for (let i = 0; i < side.count; i++) {
      this.#prices.push(side.prices[side.start + i] as number);
      this.#sizes.push(unitsOf(sharesOfLevel(side, i)));
    }
    this.#offsets.push(this.#prices.length);
  }

  /** Whether the last pushed book has the same levels. */
  repeats(side: RowSide): boolean {
    const { start, count, prices } = side;
    const from = this.#offsets.at(this.#offsets.length - 2);
    if (this.#prices.length - from !== count) return false;
    for (let i = 0; i < count; i++) {
      if (this.#prices.at(from + i) !== prices[start + i]) return false;
      if (this.#sizes.at(from + i) !== unitsOf(sharesOfLevel(side, i))) return false;
    }
    return true;
  }

  /** The same levels as shown in the other token's book. */
  mirrored(): TapeSideBuilder {
    const other = new TapeSideBuilder();
    for (let i = 0; i < this.#prices.length; i++) {
      other.#prices.push(TICKS_PER_USDC - this.#prices.at(i));
      other.#sizes.push(this.#sizes.at(i));
    }
    for (let i = 1; i < this.#offsets.length; i++) other.#offsets.push(this.#offsets.at(i));
    return other;
  }

  shared(): TapeSide {
    return { offsets: this.#offsets.shared(), prices: this.#prices.shared(), sizes: this.#sizes.shared() };
  }
}

function unitsOf(shares: number): number {
  return Math.round(shares * UNITS_PER_SHARE);
}
