/**
 * Liquidity that our own orders have consumed. The recorded book does not know our orders, so that each displayed size
 * fills only one order of ours, once. A level that grows has been refilled by others and is available again. A level
 * that shrinks may have lost the very orders we filled, so our consumption of it stays.
 */
import type { BookSide, SideView } from '../../schema/records.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Ladders } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { FilledLevel } from './walk.ts';

/** One level of one fill. */
interface ConsumedLevel {
  /** The token whose book the order met, and the level as displayed there. */
  readonly token: Token;
  readonly side: BookSide;
  readonly price: number;
  /**
   * The venue keeps one book, so an order that filled at a level of one token also filled at its mirror of the other.
   */
  readonly yesSide: BookSide;
  readonly yesPrice: number;
  /** Time of the fill. */
  readonly timeMs: number;
  shown: number;
  readonly taken: number;
}

export class Consumption {
  /** Oldest first. */
  #consumed: ConsumedLevel[] = [];

  get isEmpty(): boolean {
    return this.#consumed.length === 0;
  }

  /**
   * Must be called with every proven book while any consumption exists. A level worse than the last displayed one may
   * only have been cut off by the depth: its consumption stays. If NO is the mirror of YES only YES is read, which is
   * cheap.
   */
  observe(ladders: Ladders, book: number): void {
    const mirrored = ladders.isMirrored(book);
    const all = this.#consumed;
    let kept = 0;
    for (const entry of all) {
      const side = mirrored ? entry.yesSide : entry.side;
      const price = mirrored ? entry.yesPrice : entry.price;
      const view = ladders.side(book, mirrored ? 'yes' : entry.token, side);
      if (isInRange(view, side, price)) {
        const shown = shownAt(view, price);
        if (shown === 0 || shown > entry.shown) continue;
        entry.shown = shown;
      }
      all[kept++] = entry;
    }
    if (kept < all.length) all.length = kept;
  }

  /** The levels of one side minus the consumed sizes; a view like the argument, valid until the next call. */
  remaining(token: Token, side: BookSide, view: SideView): SideView {
    if (this.isEmpty) return view;
    let sizes: Float64Array | null = null;
    const [yesSide, isMirrored] = token === 'yes' ? [side, false] : [mirrorSide(side), true];
    for (let i = 0; i < view.count; i++) {
      const price = view.prices[i] as number;
      const taken = this.#consumedAt(yesSide, isMirrored ? TICKS_PER_USDC - price : price);
      if (taken === 0) continue;
      sizes ??= view.sizes.slice(0, view.count);
      sizes[i] = Math.max(0, (sizes[i] as number) - taken);
    }
    return sizes === null ? view : { count: view.count, prices: view.prices, sizes };
  }

  /** @param view As displayed, not as remaining. */
  consume({ token, side, view, filled, timeMs }: ConsumedFill): void {
    const isYes = token === 'yes';
    const yesSide = isYes ? side : mirrorSide(side);
    for (const { price, size } of filled) {
      const yesPrice = isYes ? price : TICKS_PER_USDC - price;
      const shown = shownAt(view, price);
      this.#consumed.push({ token, side, price, yesSide, yesPrice, timeMs, shown, taken: size });
    }
  }

  /** Forgets fills after a time, because they were reversed. */
  reverseSince(timeMs: number): void {
    if (!this.isEmpty) this.#consumed = this.#consumed.filter((entry) => entry.timeMs <= timeMs);
  }

  /** The consumed size of a level, in terms of YES. */
  #consumedAt(side: BookSide, price: number): number {
    let sum = 0;
    for (const { yesPrice, yesSide, taken } of this.#consumed) {
      if (yesPrice === price && yesSide === side) sum += taken;
    }
    return sum;
  }
}

interface ConsumedFill {
  readonly token: Token;
  readonly side: BookSide;
  readonly view: SideView;
  readonly filled: readonly FilledLevel[];
  readonly timeMs: number;
}

function mirrorSide(side: BookSide): BookSide {
  return side === 'bids' ? 'asks' : 'bids';
}

/** Whether a level of this price would be displayed. An empty side is not cut off. */
function isInRange({ count, prices }: SideView, side: BookSide, price: number): boolean {
  if (count === 0) return true;
  const worst = prices[count - 1] as number;
  return side === 'asks' ? price <= worst : price >= worst;
}

function shownAt({ count, prices, sizes }: SideView, price: number): number {
  for (let i = 0; i < count; i++) if (prices[i] === price) return sizes[i] as number;
  return 0;
}
