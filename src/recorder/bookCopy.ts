import type { BookView, SideView } from '../schema/records.ts';

const LEVELS_AT_FIRST = 128;

/** One side as of the copy: the live side may be in the middle of an action when a price arrives. */
class SideCopy implements SideView {
  count = 0;
  prices = new Uint16Array(LEVELS_AT_FIRST);
  sizes = new Float64Array(LEVELS_AT_FIRST);

  copyFrom({ count, prices, sizes }: SideView): void {
    if (count > this.prices.length) {
      this.prices = new Uint16Array(2 * count);
      this.sizes = new Float64Array(2 * count);
    }
    for (let i = 0; i < count; i++) {
      this.prices[i] = prices[i] as number;
      this.sizes[i] = sizes[i] as number;
    }
    this.count = count;
  }
}

/** One token's book, copied in place. */
export class BookCopy implements BookView {
  readonly bids = new SideCopy();
  readonly asks = new SideCopy();

  copyFrom({ bids, asks }: BookView): void {
    this.bids.copyFrom(bids);
    this.asks.copyFrom(asks);
  }
}

/** A copy of a live book that later actions do not change. */
export function snapshotOf({ bids, asks }: BookView): BookView {
  return { bids: sideOf(bids), asks: sideOf(asks) };
}

function sideOf({ count, prices, sizes }: SideView): SideView {
  return { count, prices: prices.slice(0, count), sizes: sizes.slice(0, count) };
}
