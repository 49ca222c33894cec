/**
 * Items of a recording that arrives in stretches. Each stretch of a market is merged like a recording of its own; what
 * an earlier stretch has already given is left out, and its books are numbered through. The items do not depend on
 * where the stretches end.
 */
import { ItemMerge } from '../core/run/itemMerge.ts';
import type { RunItem } from '../core/run/runner.ts';
import { payoutTimeMs, type TickerTape } from '../core/run/runTape.ts';
import { AFTER_MS } from '../core/session/gapEnds.ts';
import type { Ladders, TapeMarket } from '../core/session/tape.ts';
import type { BookSide, SideView } from '../schema/records.ts';
import type { MarketPart } from './runTape.ts';

type MarketItem = Extract<RunItem, { kind: 'market' }>;
type BookItem = Extract<RunItem, { kind: 'book' }>;

/** What became known without an arrival number: it comes before the first record received from then on. */
interface Fact {
  readonly fromMs: number;
  /** Orders facts of one time. */
  readonly key: string;
  /** Of a market without records: what else is known of it follows. */
  readonly isListing: boolean;
  readonly market: LiveMarket;
  readonly make: () => RunItem;
}

export class LiveItems {
  readonly #merge = new ItemMerge();
  readonly #markets = new Map<string, LiveMarket>();
  /** Soonest first. */
  #facts: Fact[] = [];
  #seq = 0;
  #timeMs = Number.NEGATIVE_INFINITY;

  addMarket({ tape, resolution, paidMs = null }: MarketPart): void {
    const { marketId, endTimeMs, strikePrice, strikeKnownTimeMs } = tape.market;
    const market = this.#market(marketId);
    const listed = { ...tape.market, strikePrice: null, strikeKnownTimeMs: null };
    const firstMs = this.#merge.addMarket({ tape: { ...tape, market: listed }, resolution: null }, false);
    // A market is listed with its first record or at its end, so that the place does not depend on the stretches.
    market.hasRecords ||= firstMs < endTimeMs;
    if (!market.hasRecords && market.isNew('end')) {
      const make = (): MarketItem => ({ kind: 'market', seq: 0, timeMs: endTimeMs, market: listed });
      this.#addFact({ fromMs: endTimeMs, key: `${marketId} listing`, isListing: true, market, make });
    }
    if (strikeKnownTimeMs !== null && market.isNew(`strike ${strikeKnownTimeMs}`)) {
      const at = { seq: 0, timeMs: strikeKnownTimeMs };
      const make = (): RunItem => {
        const known = { ...(market.listed ?? listed), strikePrice, strikeKnownTimeMs };
        return { kind: 'market', ...at, market: known };
      };
      const key = `${marketId} strike`;
      // The output has only the newest strike of a market that is not listed yet.
      this.#facts = this.#facts.filter((fact) => fact.key !== key);
      this.#addFact({ fromMs: strikeKnownTimeMs, key, isListing: false, market, make });
    }
    if (resolution === null || !market.isNew('resolved')) return;
    // A gap that was detected after the payout has not delayed it.
    const gaps = tape.gaps.filter(({ knownMs }) => paidMs === null || knownMs <= paidMs);
    const timeMs = payoutTimeMs({ ...tape, gaps }, resolution);
    const make = (): RunItem => ({ kind: 'resolved', seq: 0, timeMs, marketId, resolution });
    const key = `${marketId} resolved`;
    this.#addFact({ fromMs: timeMs + AFTER_MS, key, isListing: false, market, make });
  }

  addTicker(ticker: TickerTape): void {
    this.#merge.addTicker(ticker);
  }

  *before(timeMs: number): Generator<RunItem> {
    for (const item of this.#merge.before(timeMs)) {
      yield* this.#factsUntil(item.timeMs);
      const given = this.#given(item);
      if (given === null) continue;
      yield given.kind === 'market' ? this.#listing(given) : this.#placed(given);
      // Of a market that was not listed when they became known.
      if (given.kind === 'market') yield* this.#factsUntil(given.timeMs);
    }
    yield* this.#factsUntil(timeMs);
  }

  *#factsUntil(timeMs: number): Generator<RunItem> {
    for (;;) {
      const isDue = ({ fromMs, isListing, market }: Fact) =>
        fromMs <= timeMs && isListing === (market.listed === null);
      const at = this.#facts.findIndex(isDue);
      const [fact] = at < 0 ? [] : this.#facts.splice(at, 1);
      if (fact === undefined) return;
      const item = fact.make();
      yield fact.isListing && item.kind === 'market' ? this.#listing(item) : this.#placed(item);
      if (item.kind === 'resolved') fact.market.payOut();
    }
  }

  /** Later changes of its facts are left out, except its strike. */
  #listing(item: MarketItem): RunItem {
    const market = this.#market(item.market.marketId);
    market.listed = item.market;
    this.#facts = this.#facts.filter((fact) => fact.market !== market || !fact.isListing);
    return this.#placed(item);
  }

  #addFact(fact: Fact): void {
    this.#facts.push(fact);
    this.#facts.sort((one, other) => one.fromMs - other.fromMs || (one.key < other.key ? -1 : 1));
  }

  /** What has no arrival number of its own takes that of the record before it. */
  #placed(item: RunItem): RunItem {
    const isNumbered = item.kind !== 'resolved' && item.kind !== 'market';
    if (isNumbered) this.#seq = item.seq;
    this.#timeMs = Math.max(this.#timeMs, item.timeMs);
    return isNumbered ? item : { ...item, seq: this.#seq, timeMs: this.#timeMs };
  }

  /** The item as it is given; null: an earlier stretch has given it, or its market is listed at its end. */
  #given(item: RunItem): RunItem | null {
    switch (item.kind) {
      case 'price':
      case 'perp_depth':
        return item;
      case 'market': {
        const { hasRecords, listed } = this.#market(item.market.marketId);
        return hasRecords && listed === null ? item : null;
      }
      case 'book':
        return this.#market(item.marketId).onBook(item);
      case 'gap':
        return this.#market(item.marketId).isNewGap(`gap ${item.id}`) ? item : null;
      case 'gap_end':
        return this.#market(item.marketId).isNewGap(`gap_end ${item.id}`) ? item : null;
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
  /** Null: the market was paid out. Runs ignore its later books, so a run over weeks does not keep its last ones. */
  #ladders: StretchedLadders | null = new StretchedLadders();
  readonly #given = new Set<string>();
  /** Whether a stretch has had a record received before the window's end. */
  hasRecords = false;
  /** As it was listed; null: not yet. */
  listed: TapeMarket | null = null;
  #trusted = false;

  isNew(what: string): boolean {
    const isNew = !this.#given.has(what);
    this.#given.add(what);
    return isNew;
  }

  /** Later gaps of a market that was paid out are left out: only a run that goes on would know them. */
  isNewGap(what: string): boolean {
    return this.#ladders !== null && this.isNew(what);
  }

  /** Within a stretch no book repeats the one before it, but its first may repeat the last of the stretch before. */
  onBook(item: BookItem): BookItem | null {
    const ladders = this.#ladders;
    if (ladders === null) return null;
    const isFirst = ladders.begin(item);
    const repeats = isFirst && item.trusted === this.#trusted && ladders.repeatsLast(item);
    this.#trusted = item.trusted;
    return repeats ? null : { ...item, book: ladders.number(item), ladders };
  }

  payOut(): void {
    this.#ladders = null;
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
