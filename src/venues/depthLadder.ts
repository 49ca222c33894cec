import { VenueMessageError } from '../runtime/errors.ts';

/** A level as a perpetual or spot venue writes it: decimal strings [price, size]. */
export type DepthLevel = readonly [string, string];

/** Most levels per side in a published book. */
const DEPTH_LEVELS_MAX = 50;

const DECIMAL = /^\d{1,15}(\.\d{1,15})?$/;

/** One side of a venue's book, best first. Levels keep the venue's own text; numbers serve only to order them. */
export class DepthSide {
  readonly #prices: number[] = [];
  readonly #levels: DepthLevel[] = [];
  readonly #sign: 1 | -1;

  constructor(side: 'bids' | 'asks') {
    this.#sign = side === 'bids' ? -1 : 1;
  }

  get count(): number {
    return this.#levels.length;
  }

  clear(): void {
    this.#prices.length = 0;
    this.#levels.length = 0;
  }

  /**
   * Sets levels to absolute sizes; a size of zero removes the level.
   * @throws {VenueMessageError} When a price or size is not a plain decimal.
   */
  apply(changes: readonly DepthLevel[]): void {
    for (const level of changes) {
      const [priceText, sizeText] = level;
      if (!DECIMAL.test(priceText) || !DECIMAL.test(sizeText)) {
        throw new VenueMessageError(`not a level: ${priceText.slice(0, 40)} x ${sizeText.slice(0, 40)}`);
      }
      this.#set(Number(priceText), level, Number(sizeText) === 0);
    }
  }

  /** The best levels, at most `max`. */
  top(max = DEPTH_LEVELS_MAX): readonly DepthLevel[] {
    return this.#levels.slice(0, max);
  }

  #set(price: number, level: DepthLevel, remove: boolean): void {
    const at = this.#indexOf(price);
    const exists = this.#prices[at] === price;
    if (remove) {
      if (!exists) return;
      this.#prices.splice(at, 1);
      this.#levels.splice(at, 1);
    } else if (exists) {
      this.#levels[at] = level;
    } else {
      this.#prices.splice(at, 0, price);
      this.#levels.splice(at, 0, level);
    }
  }

  /** Index of the price, or the index at which to insert it. */
  #indexOf(price: number): number {
    let low = 0;
    let high = this.#prices.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sign * (this.#prices[middle] as number) < this.#sign * price) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Sorts levels best first and keeps at most `DEPTH_LEVELS_MAX`. The input may have any order. */
export function bestLevels(side: 'bids' | 'asks', levels: readonly DepthLevel[]): readonly DepthLevel[] {
  const ladder = new DepthSide(side);
  ladder.apply(levels);
  return ladder.top(DEPTH_LEVELS_MAX);
}
