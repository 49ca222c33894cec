import { TICKS_PER_USDC } from '../core/money.ts';
import type { BookRecord, BookView, SideView } from '../schema/records.ts';
import type { LiveBook } from './bookText.ts';

/** A price as an unsigned 16-bit number and a size as a double. */
const LEVEL_BYTES = 10;
/** Estimated memory of the objects that hold the levels. */
const FIXED_BYTES = 300;

type PackedRecord = LiveBook & Pick<BookRecord, 'mirrored'>;

/** A copy of a book in a fraction of its text: a NO side that mirrors YES is left out. */
export class PackedBook {
  readonly #book: Pick<LiveBook, 'eventTimeMs' | 'trusted' | 'underlyingPrice'>;
  /** Levels of each copied side. */
  readonly #counts: readonly number[];
  /** All sizes, then all prices. */
  readonly #levels: ArrayBuffer;

  constructor({ eventTimeMs, trusted, underlyingPrice, mirrored, yes, no }: PackedRecord) {
    this.#book = { eventTimeMs, trusted, underlyingPrice };
    const sides = mirrored ? [yes.bids, yes.asks] : [yes.bids, yes.asks, no.bids, no.asks];
    this.#counts = sides.map(({ count }) => count);
    this.#levels = new ArrayBuffer(this.#levelCount * LEVEL_BYTES);
    const { sizes, prices } = this.#columns();
    let at = 0;
    for (const side of sides) {
      for (let i = 0; i < side.count; i++, at++) {
        sizes[at] = side.sizes[i] as number;
        prices[at] = side.prices[i] as number;
      }
    }
  }

  get bytes(): number {
    return FIXED_BYTES + this.#levels.byteLength;
  }

  unpack(): LiveBook {
    const { sizes, prices } = this.#columns();
    let at = 0;
    const sides = this.#counts.map((count) => {
      const to = at + count;
      const side: SideView = { count, sizes: sizes.subarray(at, to), prices: prices.subarray(at, to) };
      at = to;
      return side;
    });
    const [yesBids, yesAsks, noBids, noAsks] = sides as [SideView, SideView, SideView?, SideView?];
    const yes = { bids: yesBids, asks: yesAsks };
    const no = noBids && noAsks ? { bids: noBids, asks: noAsks } : mirrorOf(yes);
    return { ...this.#book, yes, no };
  }

  get #levelCount(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  #columns(): { sizes: Float64Array; prices: Uint16Array } {
    const count = this.#levelCount;
    const sizes = new Float64Array(this.#levels, 0, count);
    return { sizes, prices: new Uint16Array(this.#levels, sizes.byteLength, count) };
  }
}

function mirrorOf({ bids, asks }: BookView): BookView {
  const mirrored = ({ count, sizes, prices }: SideView): SideView => ({
    count,
    sizes,
    prices: prices.map((price) => TICKS_PER_USDC - price),
  });
  return { bids: mirrored(asks), asks: mirrored(bids) };
}
