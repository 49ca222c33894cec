import type { BookRecord, BookSide, SideView } from '../../schema/records.ts';
import type { Token } from '../signals/signal.ts';
import { type Ladders, mirroredView } from './tape.ts';

const SLOTS = 2;
const INITIAL_LEVELS = 16;

/**
 * The newest two books. An order is matched after the first book past its due time, against the book before: two are
 * enough.
 */
export class NewestBooks implements Ladders {
  readonly #depth: number;
  readonly #slots = Array.from({ length: SLOTS }, () => new KeptBook());
  #next = 0;
  /** A book from `fromMs` on has arrived. The first one is the first of the tape, even if it repeats the one before. */
  #hasBegun = false;
  readonly #fromMs: number;

  /**
   * @param depth Levels per side; deeper ones are dropped.
   * @param fromMs Books received before it belong to no tape of this market.
   */
  constructor({ depth, fromMs }: { depth: number; fromMs: number }) {
    this.#depth = depth;
    this.#fromMs = fromMs;
  }

  /**
   * @returns The number of the book; null if a tape would leave it out: it repeats the one before, or was received before
   * the tape's begin and read after it.
   */
  keep(record: BookRecord): number | null {
    const isInTape = record.receivedTimeMs >= this.#fromMs;
    if (this.#hasBegun && !isInTape) return null;
    const last = this.#slots[(this.#next + SLOTS - 1) % SLOTS] as KeptBook;
    const isFirst = this.#next === 0 || (isInTape && !this.#hasBegun);
    this.#hasBegun = isInTape;
    if (!isFirst && last.repeats(record, this.#depth)) return null;
    this.#slot(this.#next).copy(record, this.#depth);
    return this.#next++;
  }

  side(book: number, token: Token, side: BookSide): SideView {
    return this.#kept(book).side(token, side);
  }

  isMirrored(book: number): boolean {
    return this.#kept(book).mirrored;
  }

  #kept(book: number): KeptBook {
    if (book < this.#next - SLOTS) throw new RangeError(`book ${book} is no longer kept`);
    return this.#slot(book);
  }

  #slot(book: number): KeptBook {
    const slot = this.#slots[book % SLOTS];
    if (slot === undefined) throw new RangeError('no slot');
    return slot;
  }
}

class KeptBook {
  mirrored = true;
  #trusted = false;
  readonly #yes = { bids: new KeptSide(), asks: new KeptSide() };
  readonly #no = { bids: new KeptSide(), asks: new KeptSide() };

  copy({ yes, no, mirrored, trusted }: BookRecord, depth: number): void {
    this.mirrored = mirrored;
    this.#trusted = trusted;
    this.#yes.bids.copy(yes.bids, depth);
    this.#yes.asks.copy(yes.asks, depth);
    if (mirrored) return;
    this.#no.bids.copy(no.bids, depth);
    this.#no.asks.copy(no.asks, depth);
  }

  repeats({ yes, no, mirrored, trusted }: BookRecord, depth: number): boolean {
    if (trusted !== this.#trusted) return false;
    if (!repeats(this.#yes.bids, yes.bids, depth) || !repeats(this.#yes.asks, yes.asks, depth)) return false;
    if (mirrored && this.mirrored) return true;
    return (
      repeats(this.side('no', 'bids'), no.bids, depth) && repeats(this.side('no', 'asks'), no.asks, depth)
    );
  }

  side(token: Token, side: BookSide): SideView {
    if (token === 'yes') return this.#yes[side];
    return this.mirrored ? mirroredView(this.#yes[side === 'bids' ? 'asks' : 'bids']) : this.#no[side];
  }
}

class KeptSide implements SideView {
  count = 0;
  prices = new Uint16Array(INITIAL_LEVELS);
  sizes = new Float64Array(INITIAL_LEVELS);

  copy({ count, prices, sizes }: SideView, depth: number): void {
    const kept = Math.min(count, depth);
    if (kept > this.prices.length) {
      this.prices = new Uint16Array(Math.min(prices.length, depth));
      this.sizes = new Float64Array(this.prices.length);
    }
    this.count = kept;
    for (let i = 0; i < kept; i++) {
      this.prices[i] = prices[i] as number;
      this.sizes[i] = wholeUnits(sizes[i] as number);
    }
  }
}

/** Whether a side equals the kept one down to the depth. */
function repeats(kept: SideView, { count, prices, sizes }: SideView, depth: number): boolean {
  if (kept.count !== Math.min(count, depth)) return false;
  for (let i = 0; i < kept.count; i++) {
    if (kept.prices[i] !== prices[i] || kept.sizes[i] !== wholeUnits(sizes[i] as number)) return false;
  }
  return true;
}

/** Few sizes are finer than a unit; tapes store whole units. */
function wholeUnits(size: number): number {
  return Math.round(size);
}
