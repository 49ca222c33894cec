/**
 * Items of a recording that arrives in stretches. Each stretch of a market is merged like a recording of its own; what
 * an earlier stretch has already given is left out, and its books are numbered through. The items do not depend on
 * where the stretches end.
 */
import { ItemMerge } from '../core/run/itemMerge.ts';
import type { RunItem } from '../core/run/runner.ts';
import type { RunTape, TickerTape } from '../core/run/runTape.ts';
import type { Ladders, TapeMarket } from '../core/session/tape.ts';
import type { BookSide, SideView } from '../schema/records.ts';

type BookItem = Extract<RunItem, { kind: 'book' }>;

export class LiveItems {
  readonly #merge = new ItemMerge();
  readonly #markets = new Map<string, LiveMarket>();
  #seq = 0;

  addMarket(market: RunTape): void {
    this.#merge.addMarket(market);
  }

  addTicker(ticker: TickerTape): void {
    this.#merge.addTicker(ticker);
  }

  *before(timeMs: number): Generator<RunItem> {
    for (const item of this.#merge.before(timeMs)) {
      const given = this.#given(item);
      if (given === null) continue;
      // What has no arrival number of its own takes that of the record before it, wherever a stretch ends.
      const isNumbered = given.kind !== 'resolved' && given.kind !== 'market';
      if (isNumbered) this.#seq = given.seq;
      yield isNumbered ? given : { ...given, seq: this.#seq };
    }
  }

  /** The item as it is given; null: an earlier stretch has given it. */
  #given(item: RunItem): RunItem | null {
    switch (item.kind) {
      case 'price':
      case 'perp_depth':
        return item;
      case 'market':
        return this.#market(item.market.marketId).onMarket(item.market) ? item : null;
      case 'book':
        return this.#market(item.marketId).onBook(item);
      case 'gap':
        return this.#market(item.marketId).isNew(`gap ${item.startMs}`) ? item : null;
      case 'gap_end':
        return this.#market(item.marketId).isNew(`gap_end ${item.endMs}`) ? item : null;
      case 'resolved':
        return this.#market(item.marketId).isNew('resolved') ? item : null;
      case 'quote':
      case 'trade':
        return item;
    }
  }

  #market(marketId: string): LiveMarket {
    const known = this.#markets.get(marketId) ?? new LiveMarket();
    this.#markets.set(marketId, known);
    return known;
  }
}

/** What earlier stretches of a market have given. */
class LiveMarket {
  readonly #ladders = new StretchedLadders();
  readonly #given = new Set<string>();
  #strikeKnownMs: number | null = null;
  #isListed = false;
  #trusted = false;

  isNew(what: string): boolean {
    const isNew = !this.#given.has(what);
    this.#given.add(what);
    return isNew;
  }

  /** @returns Whether the listing is new, or has a strike that was not given yet. */
  onMarket({ strikeKnownTimeMs }: TapeMarket): boolean {
    const isNew =
      !this.#isListed || (strikeKnownTimeMs !== null && strikeKnownTimeMs !== this.#strikeKnownMs);
    this.#isListed = true;
    if (isNew) this.#strikeKnownMs = strikeKnownTimeMs;
    return isNew;
  }

  /** Within a stretch no book repeats the one before it, but its first may repeat the last of the stretch before. */
  onBook(item: BookItem): BookItem | null {
    const ladders = this.#ladders;
    const isFirst = ladders.begin(item);
    const repeats = isFirst && item.trusted === this.#trusted && ladders.repeatsLast(item);
    this.#trusted = item.trusted;
    return repeats ? null : { ...item, book: ladders.number(item), ladders };
  }
}

/** Stretches whose books stay readable: the one in force may be of the stretch before. */
const STRETCHES_KEPT = 2;

/** The books of a market over its stretches. */
class StretchedLadders implements Ladders {
  #stretches: { readonly first: number; readonly ladders: Ladders }[] = [];
  /** Number of the newest book. */
  #last = -1;

  /** @returns Whether the book is the first of a stretch. */
  begin({ ladders }: BookItem): boolean {
    if (this.#stretches.at(-1)?.ladders === ladders) return false;
    const kept = this.#stretches.slice(1 - STRETCHES_KEPT);
    this.#stretches = [...kept, { first: this.#last + 1, ladders }];
    return true;
  }

  repeatsLast({ book, ladders }: BookItem): boolean {
    if (this.#last < 0) return false;
    for (const token of ['yes', 'no'] as const) {
      for (const side of ['bids', 'asks'] as const) {
        const before = this.side(this.#last, token, side);
        if (!isSame(before, ladders.side(book, token, side))) return false;
      }
    }
    return true;
  }

  number({ book }: BookItem): number {
    this.#last = (this.#stretches.at(-1)?.first ?? 0) + book;
    return this.#last;
  }

  side(book: number, token: 'yes' | 'no', side: BookSide): SideView {
    const { first, ladders } = this.#of(book);
    return ladders.side(book - first, token, side);
  }

  isMirrored(book: number): boolean {
    const { first, ladders } = this.#of(book);
    return ladders.isMirrored(book - first);
  }

  #of(book: number) {
    const stretch = this.#stretches.findLast(({ first }) => first <= book);
    if (stretch === undefined) throw new RangeError(`book ${book} is no longer kept`);
    return stretch;
  }
}

function isSame(one: SideView, other: SideView): boolean {
  if (one.count !== other.count) return false;
  for (let i = 0; i < one.count; i++) {
    if (one.prices[i] !== other.prices[i] || one.sizes[i] !== other.sizes[i]) return false;
  }
  return true;
}
