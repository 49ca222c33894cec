/** Reads stored books as the engine's binary columns: see `bookColumns` for the columns and their order. */
import { TICKS_PER_USDC } from '../../core/money.ts';
import { NativeBlockReader, type NativeColumn } from './nativeBlockReader.ts';

/** The format of the engine that `BookRowReader` reads. */
export const BOOK_FORMAT = 'Native';

/** One side of a stored ladder, best first. Its prices begin at `start`, its sizes at `sizesStart`. */
export interface RowSide {
  count: number;
  start: number;
  /** Ticks of 1/10000 USDC. */
  prices: Uint16Array;
  sizesStart: number;
  /**
   * Whether the sizes are too large or too fine for hundredths: they are then in `shares`, else in `hundredths` of a
   * share.
   */
  wide: boolean;
  hundredths: Uint32Array;
  shares: Float64Array;
}

/** The size of the level at `index`, counted from the best. */
export function sharesOfLevel({ wide, hundredths, shares, sizesStart }: RowSide, index: number): number {
  const at = sizesStart + index;
  return wide ? (shares[at] as number) : (hundredths[at] as number) / HUNDREDTHS;
}

/** One stored book. The reader reuses it and its arrays: copy what you keep. */
export interface BookRow {
  timeMs: number;
  trusted: boolean;
  /** Whether NO is the exact mirror of YES. */
  mirrored: boolean;
  underlyingPrice: number | null;
  readonly yesBids: RowSide;
  readonly yesAsks: RowSide;
  /** For a mirrored book these show the YES side converted to NO. */
  readonly noBids: RowSide;
  readonly noAsks: RowSide;
}

const HUNDREDTHS = 100;
const SIDES = 4;
const [TIME, TRUSTED, MIRRORED, UNDERLYING, WIDE, PRICES, NARROW_SIZES, WIDE_SIZES] = [
  0, 1, 2, 3, 4, 5, 9, 13,
];
/** Later columns do not belong to the book. */
const COLUMNS = 17;

export class BookRowReader {
  readonly #blocks = new NativeBlockReader();
  readonly #sides = Array.from({ length: SIDES }, () => new StoredSideReader());
  readonly #row: BookRow = {
    timeMs: 0,
    trusted: false,
    mirrored: false,
    underlyingPrice: null,
    yesBids: emptySide(),
    yesAsks: emptySide(),
    noBids: emptySide(),
    noAsks: emptySide(),
  };
  #rows = 0;
  #at = 0;

  /** Adds bytes, cut at any position. */
  add(bytes: Buffer): void {
    this.#blocks.add(bytes);
  }

  /** Whether the next row was received completely. */
  hasNext(): boolean {
    while (this.#at === this.#rows) {
      const rows = this.#blocks.next();
      if (rows === null) return false;
      this.#load(rows);
    }
    return true;
  }

  /** The next complete row; null until more bytes arrive. */
  next(): BookRow | null {
    return this.hasNext() ? this.#decode(this.#at++) : null;
  }

  /** The integer array after the columns of the next row (after `hasNext`); empty where there is none. */
  extra(): readonly bigint[] {
    const column = this.#blocks.columns[COLUMNS];
    if (column === undefined) return [];
    const [from, to] = [column.starts[this.#at * 2] as number, column.starts[this.#at * 2 + 2] as number];
    return Array.from({ length: to - from }, (_, index) => column.unsigned(from + index));
  }

  /** Bytes of memory in use. */
  get memory(): number {
    return this.#blocks.memory;
  }

  /** Drops all added bytes, and keeps its memory. */
  reset(): void {
    this.#blocks.reset();
    this.#rows = 0;
    this.#at = 0;
  }

  /** Whether the last row was received completely; call it when there is no next row. */
  get isWhole(): boolean {
    return this.#blocks.isWhole;
  }

  #column(index: number): NativeColumn {
    return this.#blocks.columns[index] as NativeColumn;
  }

  #load(rows: number): void {
    if (this.#blocks.columns.length < COLUMNS) throw new TypeError('these are not the columns of books');
    this.#rows = rows;
    this.#at = 0;
    for (let index = 0; rows > 0 && index < SIDES; index++) {
      this.#sides[index]?.load(rows, {
        prices: this.#column(PRICES + index),
        narrow: this.#column(NARROW_SIZES + index),
        wide: this.#column(WIDE_SIZES + index),
      });
    }
  }

  #decode(index: number): BookRow {
    const row = this.#row;
    const underlying = this.#column(UNDERLYING);
    row.timeMs = this.#column(TIME).integer(index);
    row.trusted = this.#column(TRUSTED).flags[index] === 1;
    row.mirrored = this.#column(MIRRORED).flags[index] === 1;
    row.underlyingPrice = underlying.nulls[index] === 1 ? null : (underlying.doubles[index] as number);
    const [yesBids, yesAsks, noBids, noAsks] = this.#sides as [
      StoredSideReader,
      StoredSideReader,
      StoredSideReader,
      StoredSideReader,
    ];
    const wide = this.#column(WIDE).flags[index] === 1;
    yesBids.show(row.yesBids, index, wide);
    yesAsks.show(row.yesAsks, index, wide);
    if (row.mirrored) {
      yesAsks.showMirrored(row.noBids, index, wide);
      yesBids.showMirrored(row.noAsks, index, wide);
    } else {
      noBids.show(row.noBids, index, wide);
      noAsks.show(row.noAsks, index, wide);
    }
    return row;
  }
}

interface StoredSide {
  readonly prices: NativeColumn;
  readonly narrow: NativeColumn;
  readonly wide: NativeColumn;
}

/** Idle readers with their allocated memory, which would otherwise be allocated for each answer. */
const resting: BookRowReader[] = [];
const RESTING_MAX = 4;
const RESTING_BYTES_MAX = 16 * 1024 * 1024;

export function borrowBookRowReader(): BookRowReader {
  return resting.pop() ?? new BookRowReader();
}

/** @param rows Must no longer be in use. */
export function returnBookRowReader(rows: BookRowReader): void {
  if (resting.length >= RESTING_MAX || rows.memory > RESTING_BYTES_MAX) return;
  rows.reset();
  resting.push(rows);
}

/** One side of all books of a block. */
class StoredSideReader {
  #prices = new Uint16Array(0);
  #priceStarts = new Uint32Array(0);
  #hundredths = new Uint32Array(0);
  #narrowStarts = new Uint32Array(0);
  #shares = new Float64Array(0);
  #wideStarts = new Uint32Array(0);
  #levels = 0;
  #mirrored = new Uint16Array(0);
  #isMirrored = false;

  load(rows: number, { prices, narrow, wide }: StoredSide): void {
    [this.#prices, this.#priceStarts] = [prices.ticks, prices.starts];
    [this.#hundredths, this.#narrowStarts] = [narrow.words, narrow.starts];
    [this.#shares, this.#wideStarts] = [wide.doubles, wide.starts];
    this.#levels = prices.starts[rows * 2] as number;
    this.#isMirrored = false;
  }

  show(into: RowSide, row: number, isWide: boolean): void {
    const at = row * 2;
    const start = this.#priceStarts[at] as number;
    into.start = start;
    into.count = (this.#priceStarts[at + 2] as number) - start;
    into.prices = this.#prices;
    into.wide = isWide;
    into.sizesStart = (isWide ? this.#wideStarts : this.#narrowStarts)[at] as number;
    into.hundredths = this.#hundredths;
    into.shares = this.#shares;
  }

  /** Shows the other token's side: price p there is 1 - p here, for the same shares. */
  showMirrored(into: RowSide, row: number, isWide: boolean): void {
    this.show(into, row, isWide);
    if (!this.#isMirrored) this.#mirror();
    into.prices = this.#mirrored;
  }

  #mirror(): void {
    const [prices, levels] = [this.#prices, this.#levels];
    if (this.#mirrored.length < levels) this.#mirrored = new Uint16Array(levels * 2);
    const mirrored = this.#mirrored;
    for (let i = 0; i < levels; i++) mirrored[i] = TICKS_PER_USDC - (prices[i] as number);
    this.#isMirrored = true;
  }
}

/** A side without levels, to be filled. */
export function emptySide(): RowSide {
  return {
    count: 0,
    start: 0,
    prices: new Uint16Array(0),
    sizesStart: 0,
    wide: false,
    hundredths: new Uint32Array(0),
    shares: new Float64Array(0),
  };
}
