/**
 * What our own orders have already taken from the recorded book, which does not know of them: displayed size fills
 * one order of ours, once. A level that grows has been refilled by others and counts anew; one that shrinks may
 * have lost the very orders we took, so what we took stays taken.
 */
import type { SideView } from '../../schema/records.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';
import type { FilledLevel } from './walk.ts';

export type BookSide = 'bids' | 'asks';

/** Where the levels of a book are read. */
export type ReadSide = (token: Token, side: BookSide) => SideView;

interface Taken {
  /** The venue keeps one book: a NO level is the mirrored YES level, so only those are kept. */
  readonly side: BookSide;
  readonly price: number;
  shown: number;
  taken: number;
}

export class Consumption {
  #levels: Taken[] = [];

  get isEmpty(): boolean {
    return this.#levels.length === 0;
  }

  /** To be told of every change of the book while anything is taken. */
  observe(read: ReadSide): void {
    this.#levels = this.#levels.filter((level) => {
      const shown = shownAt(read('yes', level.side), level.price);
      if (shown === 0 || shown > level.shown) return false;
      level.shown = shown;
      return true;
    });
  }

  /** The levels of one side less what was taken; a view of the same kind, to be used at once. */
  remaining(token: Token, side: BookSide, view: SideView): SideView {
    if (this.isEmpty) return view;
    let sizes: Float64Array | null = null;
    for (let i = 0; i < view.count; i++) {
      const level = this.#find(token, side, view.prices[i] as number);
      if (level === undefined) continue;
      sizes ??= view.sizes.slice(0, view.count);
      sizes[i] = Math.max(0, (sizes[i] as number) - level.taken);
    }
    return sizes === null ? view : { count: view.count, prices: view.prices, sizes };
  }

  /** @param view As shown, not as remaining. */
  take(token: Token, side: BookSide, view: SideView, filled: readonly FilledLevel[]): void {
    for (const { price, size } of filled) {
      const level = this.#find(token, side, price);
      if (level !== undefined) level.taken += size;
      else this.#levels.push({ ...canonical(token, side, price), shown: shownAt(view, price), taken: size });
    }
  }

  #find(token: Token, side: BookSide, price: number): Taken | undefined {
    const own = canonical(token, side, price);
    return this.#levels.find((level) => level.side === own.side && level.price === own.price);
  }
}

function canonical(token: Token, side: BookSide, price: number): { side: BookSide; price: number } {
  if (token === 'yes') return { side, price };
  return { side: side === 'bids' ? 'asks' : 'bids', price: TICKS_PER_USDC - price };
}

function shownAt({ count, prices, sizes }: SideView, price: number): number {
  for (let i = 0; i < count; i++) if (prices[i] === price) return sizes[i] as number;
  return 0;
}
