import { type BlockColumn, blocksOf } from './tapeBytes.ts';

/** Prices are 1/10000 USDC, sizes 1/1,000,000 share. */
const TICKS_PER_USDC = 10_000;
const UNITS_PER_SHARE = 1_000_000;
const HUNDREDTHS = 100;
/** The columns of a book: its own values, then prices, sizes in hundredths and larger sizes of the four sides. */
const [SEQ, TRUSTED, MIRRORED, RECEIVED, WIDE, PRICES, NARROW_SIZES, WIDE_SIZES] = [0, 1, 2, 3, 4, 5, 9, 13];

/** The levels of one side of many books, best first: those of book `i` are from `offsets[i]` up to `offsets[i + 1]`. */
export interface TapeSide {
  readonly offsets: Uint32Array;
  readonly prices: Uint16Array;
  readonly sizes: Float64Array;
}

/** The book after every change. */
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

/** Prices and sizes of one side. */
type Levels = readonly (readonly [price: number, size: number])[];
/** YES bids, YES asks, NO bids, NO asks. */
type Sides = readonly [Levels, Levels, Levels, Levels];

/** The books of an answer. A row that changes neither levels nor trust is left out, as the service's own reader does. */
export function booksOfTape(bytes: Uint8Array): TapeBooks {
  const [seq, received, trusted]: [number[], number[], number[]] = [[], [], []];
  const books: Sides[] = [];
  let hasOwnNo = false;
  for (const { rows, columns } of blocksOf(bytes)) {
    const value = (column: number, row: number) => columns[column]?.values[row] as number;
    for (let row = 0; row < rows; row++) {
      const isMirrored = value(MIRRORED, row) !== 0;
      hasOwnNo ||= !isMirrored;
      const sides = sidesOf(columns, { row, isMirrored, isWide: value(WIDE, row) !== 0 });
      const last = books.at(-1);
      if (last && trusted.at(-1) === value(TRUSTED, row) && isSame(last, sides)) continue;
      seq.push(value(SEQ, row));
      received.push(value(RECEIVED, row));
      trusted.push(value(TRUSTED, row));
      books.push(sides);
    }
  }
  return {
    seq: Float64Array.from(seq),
    receivedMs: Float64Array.from(received),
    trusted: Uint8Array.from(trusted),
    yesBids: sideOf(books, 0),
    yesAsks: sideOf(books, 1),
    noBids: hasOwnNo ? sideOf(books, 2) : null,
    noAsks: hasOwnNo ? sideOf(books, 3) : null,
  };
}

function sidesOf(
  columns: readonly BlockColumn[],
  { row, isMirrored, isWide }: { row: number; isMirrored: boolean; isWide: boolean },
): Sides {
  const levels = (side: number): Levels => {
    const prices = arrayAt(columns[PRICES + side], row);
    const sizes = arrayAt(columns[(isWide ? WIDE_SIZES : NARROW_SIZES) + side], row);
    return prices.map((price, index) => {
      const size = sizes[index] as number;
      return [price, Math.round((isWide ? size : size / HUNDREDTHS) * UNITS_PER_SHARE)];
    });
  };
  const [bids, asks] = [levels(0), levels(1)];
  const mirror = (side: Levels): Levels => side.map(([price, size]) => [TICKS_PER_USDC - price, size]);
  return isMirrored ? [bids, asks, mirror(asks), mirror(bids)] : [bids, asks, levels(2), levels(3)];
}

function arrayAt(column: BlockColumn | undefined, row: number): number[] {
  if (!column?.ends) return [];
  const start = row === 0 ? 0 : (column.ends[row - 1] as number);
  return Array.prototype.slice.call(column.values, start, column.ends[row]) as number[];
}

function isSame(one: Sides, other: Sides): boolean {
  return one.every((levels, side) => {
    const others = other[side] as Levels;
    return (
      levels.length === others.length &&
      levels.every(([price, size], index) => others[index]?.[0] === price && others[index]?.[1] === size)
    );
  });
}

function sideOf(books: readonly Sides[], side: number): TapeSide {
  const levels = books.flatMap((sides) => sides[side] as Levels);
  const offsets = new Uint32Array(books.length + 1);
  books.forEach((sides, index) => {
    offsets[index + 1] = (offsets[index] as number) + (sides[side] as Levels).length;
  });
  return {
    offsets,
    prices: Uint16Array.from(levels, ([price]) => price),
    sizes: Float64Array.from(levels, ([, size]) => size),
  };
}
