/**
 * The bytes of a book's ladders: flags, the number of levels of each side, then of each side its prices and sizes.
 * A size is a number of 1/100 share in 32 bits, or a double if one size of the book needs it. The NO sides of a
 * mirrored book are left out and computed from the YES sides. All numbers are little-endian.
 */
import { TICKS_PER_USDC } from '../../core/money.ts';
import { HUNDREDTH, isNarrow } from '../../core/narrowSizes.ts';
import type { BookView, SideView } from '../../schema/records.ts';

const MIRRORED = 1;
const WIDE = 2;
const PRICE_BYTES = 2;
const NARROW_BYTES = 4;
const WIDE_BYTES = 8;
const COUNT_BYTES = 2;

interface Ladders {
  readonly yes: BookView;
  readonly no: BookView;
  readonly mirrored: boolean;
}

/** A side has at most one level for each price in ticks, which fits into its number of levels. */
export function encodeLadders({ yes, no, mirrored }: Ladders): Uint8Array {
  const sides = mirrored ? [yes.bids, yes.asks] : [yes.bids, yes.asks, no.bids, no.asks];
  const wide = !sides.every(isNarrow);
  const levels = sides.reduce((sum, { count }) => sum + count, 0);
  const sizeBytes = wide ? WIDE_BYTES : NARROW_BYTES;
  const bytes = new Uint8Array(1 + sides.length * COUNT_BYTES + levels * (PRICE_BYTES + sizeBytes));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, (mirrored ? MIRRORED : 0) | (wide ? WIDE : 0));
  let at = 1;
  for (const { count } of sides) {
    view.setUint16(at, count, true);
    at += COUNT_BYTES;
  }
  for (const { count, prices, sizes } of sides) {
    for (let i = 0; i < count; i++, at += PRICE_BYTES) view.setUint16(at, prices[i] as number, true);
    for (let i = 0; i < count; i++, at += sizeBytes) {
      const size = sizes[i] as number;
      if (wide) view.setFloat64(at, size, true);
      else view.setUint32(at, Math.round(size / HUNDREDTH), true);
    }
  }
  return bytes;
}

/** @throws {RangeError} When the bytes are not those of ladders. */
export function decodeLadders(bytes: Uint8Array): Ladders {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(0);
  const mirrored = (flags & MIRRORED) !== 0;
  const reader = new SideReader(view, (flags & WIDE) !== 0, mirrored ? 2 : 4);
  const yes = { bids: reader.next(), asks: reader.next() };
  const no = mirrored
    ? { bids: mirrorOfSide(yes.asks), asks: mirrorOfSide(yes.bids) }
    : { bids: reader.next(), asks: reader.next() };
  reader.end();
  return { yes, no, mirrored };
}

/** Reads side after side. */
class SideReader {
  readonly #view: DataView;
  readonly #wide: boolean;
  #index = 0;
  #at: number;

  constructor(view: DataView, wide: boolean, sides: number) {
    this.#view = view;
    this.#wide = wide;
    this.#at = 1 + sides * COUNT_BYTES;
  }

  next(): SideView {
    const view = this.#view;
    const count = view.getUint16(1 + this.#index++ * COUNT_BYTES, true);
    const prices = new Uint16Array(count);
    const sizes = new Float64Array(count);
    for (let i = 0; i < count; i++, this.#at += PRICE_BYTES) prices[i] = view.getUint16(this.#at, true);
    if (this.#wide) {
      for (let i = 0; i < count; i++, this.#at += WIDE_BYTES) sizes[i] = view.getFloat64(this.#at, true);
    } else {
      for (let i = 0; i < count; i++, this.#at += NARROW_BYTES) {
        sizes[i] = view.getUint32(this.#at, true) * HUNDREDTH;
      }
    }
    return { count, prices, sizes };
  }

  end(): void {
    const left = this.#view.byteLength - this.#at;
    if (left !== 0) throw new RangeError(`ladders with ${left} bytes more than their levels`);
  }
}

/** The other token's opposite side: best first as well, because the order of prices turns with the side. */
function mirrorOfSide({ count, prices, sizes }: SideView): SideView {
  return { count, prices: prices.map((price) => TICKS_PER_USDC - price), sizes: sizes.slice() };
}
