/**
 * What our own orders have already taken from the recorded book, which does not know of them: displayed size fills
 * one order of ours, once. A level that grows has been refilled by others and counts anew; one that shrinks may
 * have lost the very orders we took, so what we took stays taken.
 */
import type { BookSide, SideView } from '../../schema/records.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Ladders } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { FilledLevel } from './walk.ts';

/** One level of one fill. */
interface Taken {
  /** Whose book the order met, as it showed the level. */
  readonly token: Token;
  readonly side: BookSide;
  readonly price: number;
  /** The venue keeps one book, so an order that met a level of one token met its mirror of the other. */
  readonly yesSide: BookSide;
  readonly yesPrice: number;
  /** When it was dealt. */
  readonly timeMs: number;
  shown: number;
  readonly taken: number;
}

export class Consumption {
  /** Oldest first. */
  #taken: Taken[] = [];

  get isEmpty(): boolean {
    return this.#taken.length === 0;
  }

  /**
   * Has to see every proven book while anything is taken. A level worse than the last one shown may only have been cut
   * off with the depth: it stays taken.
   * Where NO is the mirror of YES only YES is read, which costs nothing to show.
   */
  observe(ladders: Ladders, book: number): void {
    const mirrored = ladders.isMirrored(book);
    const all = this.#taken;
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

  /** The levels of one side less what was taken; a view of the same kind, to be used at once. */
  remaining(token: Token, side: BookSide, view: SideView): SideView {
    if (this.isEmpty) return view;
    let sizes: Float64Array | null = null;
    const [yesSide, isMirrored] = token === 'yes' ? [side, false] : [mirrorSide(side), true];
    for (let i = 0; i < view.count; i++) {
      const price = view.prices[i] as number;
      const taken = this.#takenAt(yesSide, isMirrored ? TICKS_PER_USDC - price : price);
      if (taken === 0) continue;
      sizes ??= view.sizes.slice(0, view.count);
      sizes[i] = Math.max(0, (sizes[i] as number) - taken);
    }
    return sizes === null ? view : { count: view.count, prices: view.prices, sizes };
  }

  /** @param view As shown, not as remaining. */
  take({ token, side, view, filled, timeMs }: Take): void {
    const isYes = token === 'yes';
    const yesSide = isYes ? side : mirrorSide(side);
    for (const { price, size } of filled) {
      const yesPrice = isYes ? price : TICKS_PER_USDC - price;
      const shown = shownAt(view, price);
      this.#taken.push({ token, side, price, yesSide, yesPrice, timeMs, shown, taken: size });
    }
  }

  /** What was dealt after a moment was not dealt. */
  takeBackSince(timeMs: number): void {
    if (!this.isEmpty) this.#taken = this.#taken.filter((entry) => entry.timeMs <= timeMs);
  }

  /** Of a level as YES shows it. */
  #takenAt(side: BookSide, price: number): number {
    let sum = 0;
    for (const { yesPrice, yesSide, taken } of this.#taken) {
      if (yesPrice === price && yesSide === side) sum += taken;
    }
    return sum;
  }
}

interface Take {
  readonly token: Token;
  readonly side: BookSide;
  readonly view: SideView;
  readonly filled: readonly FilledLevel[];
  readonly timeMs: number;
}

function mirrorSide(side: BookSide): BookSide {
  return side === 'bids' ? 'asks' : 'bids';
}

/** Whether a level of this price would be shown. Of an empty side nothing was cut off. */
function isInRange({ count, prices }: SideView, side: BookSide, price: number): boolean {
  if (count === 0) return true;
  const worst = prices[count - 1] as number;
  return side === 'asks' ? price <= worst : price >= worst;
}

function shownAt({ count, prices, sizes }: SideView, price: number): number {
  for (let i = 0; i < count; i++) if (prices[i] === price) return sizes[i] as number;
  return 0;
}
