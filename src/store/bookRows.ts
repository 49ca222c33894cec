/** Reads stored books as the engine's binary rows: see `bookColumns` for the columns and their order. */
import { TICKS_PER_USDC } from '../core/money.ts';

/** One side of a stored ladder, best first; only the first `count` entries count. */
export interface RowSide {
  count: number;
  /** Ticks of 1/10000 USDC. */
  prices: Uint16Array;
  /** Shares, not micro-shares: the numbers as they were stored. */
  shares: Float64Array;
}

/** One stored book. The reader reuses it and its arrays: copy what you keep. */
export interface BookRow {
  timeMs: number;
  trusted: boolean;
  /** NO is the exact mirror of YES. */
  mirrored: boolean;
  underlyingPrice: number | null;
  readonly yesBids: RowSide;
  readonly yesAsks: RowSide;
  /** Of a mirrored book these are filled from the YES side. */
  readonly noBids: RowSide;
  readonly noAsks: RowSide;
}

/** Levels there is room for at first; a side with more grows. */
const LEVELS_AT_FIRST = 128;
const HUNDREDTHS = 100;
/** Time, two flags, the mark of a missing price and the flag of wide sizes. */
const FIXED_BYTES_MIN = 12;
const PRICE_BYTES = 8;
/** Bytes of an element in the four price arrays, the four narrow and the four wide size arrays. */
const ELEMENT_BYTES = [2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8] as const;

export class BookRows {
  #view: DataView = new DataView(new ArrayBuffer(0));
  readonly #row: BookRow = {
    ...{ timeMs: 0, trusted: false, mirrored: false, underlyingPrice: null },
    ...{ yesBids: side(), yesAsks: side(), noBids: side(), noAsks: side() },
  };
  readonly #sides = [this.#row.yesBids, this.#row.yesAsks, this.#row.noBids, this.#row.noAsks] as const;
  /** The beginning of a row whose end has not come yet. */
  #rest: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Rows may be cut anywhere between two calls. */
  read(bytes: Buffer, onRow: (row: BookRow) => void): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#view = new DataView(all.buffer, all.byteOffset, all.length);
    let start = 0;
    while (this.#hasWholeRow(start)) {
      this.#at = start;
      this.#decode();
      start = this.#at;
      onRow(this.#row);
    }
    this.#rest = all.subarray(start);
  }

  /** Whether the last row came whole. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  #decode(): void {
    const row = this.#row;
    const view = this.#view;
    row.timeMs = Number(view.getBigInt64(this.#at, true));
    row.trusted = view.getUint8(this.#at + 8) === 1;
    row.mirrored = view.getUint8(this.#at + 9) === 1;
    const isNull = view.getUint8(this.#at + 10) === 1;
    this.#at += 11;
    row.underlyingPrice = isNull ? null : view.getFloat64(this.#at, true);
    if (!isNull) this.#at += PRICE_BYTES;
    const wide = view.getUint8(this.#at++) === 1;
    for (const each of this.#sides) this.#prices(each);
    if (wide) this.#at += this.#sides.length;
    for (const each of this.#sides) this.#shares(each, wide);
    if (!wide) this.#at += this.#sides.length;
    if (!row.mirrored) return;
    mirror(row.yesAsks, row.noBids);
    mirror(row.yesBids, row.noAsks);
  }

  #prices(into: RowSide): void {
    const view = this.#view;
    const count = this.#varint();
    makeRoom(into, count);
    into.count = count;
    const { prices } = into;
    let at = this.#at;
    for (let i = 0; i < count; i++, at += 2) prices[i] = view.getUint16(at, true);
    this.#at = at;
  }

  #shares(into: RowSide, wide: boolean): void {
    const view = this.#view;
    const count = this.#varint();
    const { shares } = into;
    let at = this.#at;
    if (wide) for (let i = 0; i < count; i++, at += 8) shares[i] = view.getFloat64(at, true);
    else for (let i = 0; i < count; i++, at += 4) shares[i] = view.getUint32(at, true) / HUNDREDTHS;
    this.#at = at;
  }

  #hasWholeRow(start: number): boolean {
    const { byteLength } = this.#view;
    if (byteLength < start + FIXED_BYTES_MIN) return false;
    this.#at = start + FIXED_BYTES_MIN + (this.#view.getUint8(start + 10) === 1 ? 0 : PRICE_BYTES);
    for (const width of ELEMENT_BYTES) {
      const count = this.#varint();
      this.#at += count * width;
      if (this.#at > byteLength) return false;
    }
    return true;
  }

  /** A number cut by the end of the bytes moves past the end, too. */
  #varint(): number {
    const view = this.#view;
    let value = 0;
    for (let shift = 0; this.#at < view.byteLength; shift += 7) {
      const byte = view.getUint8(this.#at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    this.#at = view.byteLength + 1;
    return 0;
  }
}

function side(): RowSide {
  return { count: 0, prices: new Uint16Array(LEVELS_AT_FIRST), shares: new Float64Array(LEVELS_AT_FIRST) };
}

function makeRoom(into: RowSide, count: number): void {
  if (count <= into.prices.length) return;
  into.prices = new Uint16Array(count * 2);
  into.shares = new Float64Array(count * 2);
}

/** The other token's side: price p there is 1 - p here, for the same shares. */
function mirror(from: RowSide, into: RowSide): void {
  const { count } = from;
  makeRoom(into, count);
  into.count = count;
  for (let i = 0; i < count; i++) {
    into.prices[i] = TICKS_PER_USDC - (from.prices[i] as number);
    into.shares[i] = from.shares[i] as number;
  }
}
