/**
 * A small venue with strict price-time priority, written for readability. It publishes its book without our orders, as a
 * recording would have it, and its trades. It knows whose order each fill belongs to.
 */
import type { VenueTrade } from '../../src/core/desk/limitOrder.ts';
import type { Ladders } from '../../src/core/session/tape.ts';
import { mirroredView } from '../../src/core/session/tape.ts';
import type { BookSide } from '../../src/schema/records.ts';
import { type Level, ladder } from './tapes.ts';

interface Queued {
  readonly id: number;
  readonly isOurs: boolean;
  readonly side: BookSide;
  readonly price: number;
  left: number;
}

export interface VenueFill {
  readonly id: number;
  readonly timeMs: number;
  readonly size: number;
}

const SHARE = 1_000_000;

/** One price level per side and price; sizes in whole shares, prices in ticks. */
export class ScriptedVenue {
  /** Oldest first. */
  #orders: Queued[] = [];
  readonly ourFills: VenueFill[] = [];
  #nextId = 1_000_000;

  /** @returns The order's id. */
  rest(side: BookSide, price: number, size: number, ours: number | null = null): number {
    const id = ours ?? this.#nextId++;
    this.#orders.push({ id, isOurs: ours !== null, side, price, left: size });
    return id;
  }

  cancel(id: number): void {
    this.#orders = this.#orders.filter((order) => order.id !== id);
  }

  /** Orders of others at a price, first in the queue first. */
  othersAt(side: BookSide, price: number): { id: number; isAheadOfUs: boolean }[] {
    const queue = this.#orders.filter((order) => order.side === side && order.price === price);
    const ours = queue.findIndex(({ isOurs }) => isOurs);
    return queue
      .filter(({ isOurs }) => !isOurs)
      .map(({ id }) => ({ id, isAheadOfUs: ours < 0 || queue.findIndex((order) => order.id === id) < ours }));
  }

  best(side: BookSide): number | null {
    const prices = this.#orders.filter((order) => order.side === side).map(({ price }) => price);
    if (prices.length === 0) return null;
    return side === 'bids' ? Math.max(...prices) : Math.min(...prices);
  }

  /** A taker meets a side of the book. @returns The trades as a recording without us has them, one for each price. */
  take(side: BookSide, size: number, timeMs: number): VenueTrade[] {
    const trades: VenueTrade[] = [];
    let left = size;
    while (left > 0) {
      const price = this.best(side);
      if (price === null) break;
      let traded = 0;
      for (const order of this.#orders) {
        if (order.side !== side || order.price !== price || left === 0) continue;
        const filled = Math.min(left, order.left);
        order.left -= filled;
        left -= filled;
        traded += filled;
        if (order.isOurs) this.ourFills.push({ id: order.id, timeMs, size: filled });
      }
      this.#orders = this.#orders.filter((order) => order.left > 0);
      const taker = side === 'bids' ? 'SELL_YES' : 'BUY_YES';
      trades.push({ side: taker, price, size: traded * SHARE, eventTimeMs: timeMs, timeMs });
    }
    return trades;
  }

  /** The displayed levels without our orders. */
  levels(side: BookSide): Level[] {
    const sizes = new Map<number, number>();
    for (const order of this.#orders) {
      if (order.side !== side || order.isOurs) continue;
      sizes.set(order.price, (sizes.get(order.price) ?? 0) + order.left);
    }
    return [...sizes].map(([price, size]) => [price / 10_000, size]);
  }
}

/** The books that were shown, by their number. */
export class ShownBooks implements Ladders {
  readonly #books: Record<BookSide, ReturnType<typeof ladder>>[] = [];

  /** @returns Its number. */
  add(bids: readonly Level[], asks: readonly Level[]): number {
    return this.#books.push({ bids: ladder('bids', bids), asks: ladder('asks', asks) }) - 1;
  }

  side(book: number, token: 'yes' | 'no', side: BookSide) {
    const shown = this.#books[book];
    if (shown === undefined) throw new RangeError(`no book ${book}`);
    return token === 'yes' ? shown[side] : mirroredView(shown[side === 'bids' ? 'asks' : 'bids']);
  }

  isMirrored(): boolean {
    return true;
  }
}
