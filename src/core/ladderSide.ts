import type { Levels } from '../schema/events.ts';
import type { SideView } from '../schema/records.ts';
import { formatPrice, formatSize, TICKS_PER_USDC } from './money.ts';

const INITIAL_CAPACITY = 128;

/**
 * One side of an order book: levels sorted best first, sizes absolute.
 * Sorted arrays beat a tree or a hash here: a full book has about 100 levels, nine changes in ten set the size of an
 * existing level, and readers need the levels in order.
 */
export class LadderSide implements SideView {
  count = 0;
  prices = new Uint16Array(INITIAL_CAPACITY);
  sizes = new Float64Array(INITIAL_CAPACITY);
  /** +1 if the best price is the highest (bids), -1 if it is the lowest (asks). */
  readonly #direction: 1 | -1;
  #fragments: string[] = [];
  /** Wire text of all levels, worst first; null after a change. */
  #json: string | null = '[]';

  constructor(side: 'bids' | 'asks') {
    this.#direction = side === 'bids' ? 1 : -1;
  }

  /** Best price in ticks, null if the side is empty. */
  get best(): number | null {
    return this.count === 0 ? null : (this.prices[0] as number);
  }

  /** Sets the size at a price; 0 removes the level. @returns Whether anything changed. */
  set(price: number, size: number): boolean {
    const at = this.#find(price);
    if (at < this.count && this.prices[at] === price) {
      if (size === 0) this.#remove(at);
      else if (this.sizes[at] === size) return false;
      else {
        this.sizes[at] = size;
        this.#fragments[at] = '';
      }
    } else {
      if (size === 0) return false;
      this.#insert(at, price, size);
    }
    this.#json = null;
    return true;
  }

  /** Replaces all levels, given in any order; a level of size 0 is ignored. @returns Whether anything changed. */
  replace(levels: Levels): boolean {
    const next = this.#direction === 1 ? SORTED_BIDS : SORTED_ASKS;
    next.#clear();
    for (let i = 0; i < levels.prices.length; i++)
      next.set(levels.prices[i] as number, levels.sizes[i] as number);
    if (sameLevels(this, next)) return false;
    this.#copy(next);
    return true;
  }

  /** A copy that later changes of either do not affect. */
  clone(): LadderSide {
    const copy = new LadderSide(this.#direction === 1 ? 'bids' : 'asks');
    copy.#copy(this);
    copy.#fragments = [...this.#fragments];
    copy.#json = this.#json;
    return copy;
  }

  /**
   * The levels as the venue prints them, worst first: `[{"price":"0.01","size":"5"},...]`. Cached until the next
   * change.
   */
  toWireJson(): string {
    if (this.#json !== null) return this.#json;
    let json = '';
    for (let i = this.count - 1; i >= 0; i--) {
      let fragment = this.#fragments[i] as string;
      if (fragment === '') {
        fragment = `{"price":"${formatPrice(this.prices[i] as number)}","size":"${formatSize(this.sizes[i] as number)}"}`;
        this.#fragments[i] = fragment;
      }
      json += json === '' ? fragment : `,${fragment}`;
    }
    this.#json = `[${json}]`;
    return this.#json;
  }

  #clear(): void {
    this.count = 0;
    this.#fragments.length = 0;
    this.#json = null;
  }

  #copy({ count, prices, sizes }: LadderSide): void {
    while (this.prices.length < count) this.#grow();
    for (let i = 0; i < count; i++) {
      this.prices[i] = prices[i] as number;
      this.sizes[i] = sizes[i] as number;
    }
    this.count = count;
    this.#fragments.length = count;
    this.#fragments.fill('');
    this.#json = null;
  }

  /** Index of `price`, or where it would be inserted. */
  #find(price: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (((this.prices[middle] as number) - price) * this.#direction > 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(at: number, price: number, size: number): void {
    if (this.count === this.prices.length) this.#grow();
    this.prices.copyWithin(at + 1, at, this.count);
    this.sizes.copyWithin(at + 1, at, this.count);
    this.prices[at] = price;
    this.sizes[at] = size;
    this.#fragments.splice(at, 0, '');
    this.count++;
  }

  #remove(at: number): void {
    this.prices.copyWithin(at, at + 1, this.count);
    this.sizes.copyWithin(at, at + 1, this.count);
    this.#fragments.splice(at, 1);
    this.count--;
  }

  #grow(): void {
    const prices = new Uint16Array(this.prices.length * 2);
    const sizes = new Float64Array(this.sizes.length * 2);
    prices.set(this.prices);
    sizes.set(this.sizes);
    this.prices = prices;
    this.sizes = sizes;
  }
}

/**
 * Scratch space to sort a snapshot: the venue sends a whole book with every trade, and new arrays for each would be
 * most of its cost.
 */
const SORTED_BIDS = new LadderSide('bids');
const SORTED_ASKS = new LadderSide('asks');

/** Whether two sides have the same levels. */
export function sameLevels(a: SideView, b: SideView): boolean {
  if (a.count !== b.count) return false;
  for (let i = 0; i < a.count; i++) {
    if (a.prices[i] !== b.prices[i] || a.sizes[i] !== b.sizes[i]) return false;
  }
  return true;
}

/** Whether `b` is the exact mirror of `a`: each price p has the same size at 1 - p on the other side. */
export function isMirror(a: SideView, b: SideView): boolean {
  if (a.count !== b.count) return false;
  for (let i = 0; i < a.count; i++) {
    if ((a.prices[i] as number) + (b.prices[i] as number) !== TICKS_PER_USDC || a.sizes[i] !== b.sizes[i])
      return false;
  }
  return true;
}

/** The levels as displayed in the other outcome's book, on its other side. */
export function mirrorOf({ prices, sizes }: Levels): Levels {
  return { prices: prices.map((price) => TICKS_PER_USDC - price), sizes };
}
