/**
 * Merges the recordings of markets and prices into the one sequence of items that a run receives. Rows come in the
 * order of their arrival numbers. A listing comes right before the first row of its market, or when its window opens.
 * What the recording keeps without an arrival number (a strike, a resolution) comes before the first row that was
 * received at or after its time.
 */
import type { RunItem } from '../core/run/runner.ts';
import {
  type Ladders,
  type Resolution,
  TAPE_TRADE_SIDES,
  type TapeBooks,
  type TapeGap,
  TapeLadders,
  type TapeMarket,
  type TapeTrades,
} from '../core/session/tape.ts';
import type { BookSide, SideView, TradeSide } from '../schema/records.ts';
import type { PerpTape, PriceTape, RunSegment, RunTape } from './runTape.ts';

type Body<K extends RunItem['kind']> = Omit<Extract<RunItem, { kind: K }>, 'seq' | 'timeMs'>;
type ItemBody = { [K in RunItem['kind']]: Body<K> }[RunItem['kind']];
type OnItem = (item: RunItem) => void;

/** Rows of one kind in the order of arrival. */
interface Cursor {
  readonly seqs: Float64Array | readonly number[];
  readonly timesMs: Float64Array | readonly number[];
  readonly item: (at: number) => ItemBody;
  /** Whose listing must come first. */
  readonly market: MergedMarket | null;
  at: number;
}

/** A fact that comes before the first row with this arrival number or a later one, or received at this time or later. */
interface Fact {
  readonly seq: number;
  readonly timeMs: number;
  readonly order: number;
  readonly items: () => readonly ItemBody[];
}

export class ItemMerger {
  readonly #markets = new Map<string, MergedMarket>();
  /** A heap by the next arrival number. */
  readonly #cursors: Cursor[] = [];
  #bySeq: Fact[] = [];
  #byTime: Fact[] = [];
  #order = 0;
  /** Newest arrival number of each price feed and venue: spans may overlap. */
  readonly #lastSeq = new Map<string, number>();
  #seq = 0;
  #timeMs = 0;

  add({ markets, prices, perpDepth }: Omit<RunSegment, 'beforeMs'>): void {
    for (const market of markets) this.#addMarket(market);
    for (const price of prices) this.#addPrices(price);
    for (const depth of perpDepth) this.#addPerpDepth(depth);
  }

  /** Emits what was received before a time. @returns How many items. */
  drain(beforeMs: number, onItem: OnItem): number {
    let count = 0;
    const emit = (seq: number, timeMs: number, body: ItemBody) => {
      this.#seq = seq;
      this.#timeMs = Math.max(this.#timeMs, timeMs);
      onItem({ seq, timeMs: this.#timeMs, ...body } as RunItem);
      count++;
    };
    for (let next = this.#cursors[0]; next !== undefined; next = this.#cursors[0]) {
      const [seq, timeMs] = [next.seqs[next.at] as number, next.timesMs[next.at] as number];
      if (timeMs >= beforeMs) break;
      this.#emitFacts(seq, timeMs, emit);
      if (next.market?.list()) emit(seq, timeMs, { kind: 'market', market: next.market.listed });
      emit(seq, timeMs, next.item(next.at));
      next.at++;
      this.#sink();
    }
    return count;
  }

  /** Emits everything, and the facts known by the end. */
  finish(endMs: number, onItem: OnItem): number {
    const rows = this.drain(Number.POSITIVE_INFINITY, onItem);
    let facts = 0;
    this.#emitFacts(Number.POSITIVE_INFINITY, endMs, (_seq, timeMs, body) => {
      this.#timeMs = Math.max(this.#timeMs, timeMs);
      onItem({ seq: this.#seq, timeMs: this.#timeMs, ...body } as RunItem);
      facts++;
    });
    return rows + facts;
  }

  #emitFacts(seq: number, timeMs: number, emit: (seq: number, timeMs: number, body: ItemBody) => void): void {
    for (;;) {
      const [numbered, timed] = [this.#bySeq[0], this.#byTime[0]];
      if (numbered !== undefined && numbered.seq <= seq) {
        this.#bySeq.shift();
        for (const item of numbered.items()) emit(Math.max(this.#seq, numbered.seq), numbered.timeMs, item);
      } else if (timed !== undefined && timed.timeMs <= timeMs) {
        this.#byTime.shift();
        const at = Number.isFinite(seq) ? seq : this.#seq;
        for (const item of timed.items()) emit(at, timed.timeMs, item);
      } else return;
    }
  }

  #addMarket(tape: RunTape): void {
    const { market, quotes, books, trades, gaps } = tape.tape;
    const { marketId } = market;
    const known = this.#markets.get(marketId);
    const merged = known ?? new MergedMarket(market);
    this.#markets.set(marketId, merged);
    for (const fact of merged.factsOf(market, tape.resolution)) this.#fact(null, fact.timeMs, fact.items);
    for (const gap of gaps) this.#addGap(merged, gap);
    const { seq, receivedMs, trusted, yesBid, yesAsk, noBid, noAsk, underlying } = quotes;
    this.#cursor(merged, { seqs: seq, timesMs: receivedMs }, (at) => ({
      ...{ kind: 'quote', marketId, trusted: trusted[at] === 1, underlying: underlying[at] as number },
      ...{ yesBid: yesBid[at] as number, yesAsk: yesAsk[at] as number },
      ...{ noBid: noBid[at] as number, noAsk: noAsk[at] as number },
    }));
    if (books !== null) this.#addBooks(merged, books);
    if (trades) this.#addTrades(merged, trades);
  }

  #addBooks(market: MergedMarket, books: TapeBooks): void {
    const { ladders } = market;
    const { first, repeats } = ladders.add(books);
    const { marketId } = market.listed;
    const { seq, receivedMs, trusted } = books;
    const rows = { seqs: seq, timesMs: receivedMs };
    const item = (at: number): ItemBody => ({
      ...{ kind: 'book', marketId, trusted: trusted[at] === 1, book: first + at, ladders },
    });
    this.#cursor(market, rows, item, repeats ? 1 : 0);
  }

  #addTrades(market: MergedMarket, trades: TapeTrades): void {
    const { seq, receivedMs, eventMs, side, price, size } = trades;
    this.#cursor(market, { seqs: seq, timesMs: receivedMs }, (at) => ({
      ...{ kind: 'trade', marketId: market.listed.marketId, eventTimeMs: eventMs[at] as number },
      side: TAPE_TRADE_SIDES[side[at] as number] as TradeSide,
      ...{ price: price[at] as number, size: size[at] as number },
    }));
  }

  #addGap(market: MergedMarket, gap: TapeGap): void {
    for (const { seq, timeMs, item } of market.gapFacts(gap)) this.#fact(seq, timeMs, () => [item]);
  }

  #addPrices({ ticker, source, prices }: PriceTape): void {
    const { seq, receivedMs, eventMs, price } = prices;
    this.#span(`${ticker} ${source}`, { seqs: seq, timesMs: receivedMs }, (at) => ({
      kind: 'price',
      price: {
        ...{ kind: 'underlying', ticker, source, price: price[at] as number },
        ...{ eventTimeMs: eventMs[at] as number, receivedTimeMs: receivedMs[at] as number },
      },
    }));
  }

  #addPerpDepth({ ticker, venue, rows }: PerpTape): void {
    const columns = {
      seqs: rows.map(({ seq }) => seq),
      timesMs: rows.map(({ receivedTimeMs }) => receivedTimeMs),
    };
    this.#span(`${ticker} ${venue}`, columns, (at) => {
      const { seq: _, ...depth } = rows[at] as PerpTape['rows'][number];
      return { kind: 'perp_depth', depth };
    });
  }

  /** Rows of a feed that no earlier span contained. */
  #span(feed: string, rows: Pick<Cursor, 'seqs' | 'timesMs'>, item: Cursor['item']): void {
    const after = this.#lastSeq.get(feed) ?? 0;
    let from = 0;
    while (from < rows.seqs.length && (rows.seqs[from] as number) <= after) from++;
    if (rows.seqs.length > 0) this.#lastSeq.set(feed, Math.max(after, rows.seqs.at(-1) as number));
    this.#cursor(null, rows, item, from);
  }

  #cursor(
    market: MergedMarket | null,
    rows: Pick<Cursor, 'seqs' | 'timesMs'>,
    item: Cursor['item'],
    at = 0,
  ): void {
    if (at >= rows.seqs.length) return;
    this.#cursors.push({ ...rows, item, market, at });
    this.#rise();
  }

  #fact(seq: number | null, timeMs: number, items: Fact['items']): void {
    const fact = { seq: seq ?? Number.POSITIVE_INFINITY, timeMs, order: this.#order++, items };
    const list = seq === null ? this.#byTime : this.#bySeq;
    list.push(fact);
    list.sort((a, b) => (seq === null ? a.timeMs - b.timeMs : a.seq - b.seq) || a.order - b.order);
  }

  #next(index: number): number {
    const cursor = this.#cursors[index] as Cursor;
    return cursor.seqs[cursor.at] as number;
  }

  #swap(one: number, other: number): void {
    const cursors = this.#cursors;
    [cursors[one], cursors[other]] = [cursors[other] as Cursor, cursors[one] as Cursor];
  }

  #rise(): void {
    for (let at = this.#cursors.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (this.#next(parent) <= this.#next(at)) return;
      this.#swap(parent, at);
      at = parent;
    }
  }

  /** Restores the order after the first cursor has advanced. */
  #sink(): void {
    const cursors = this.#cursors;
    const first = cursors[0] as Cursor;
    if (first.at >= first.seqs.length) {
      const last = cursors.pop() as Cursor;
      if (cursors.length === 0) return;
      if (last !== first) cursors[0] = last;
    }
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < cursors.length && this.#next(child) < this.#next(least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }
}

/** What a run has been told of one market. */
class MergedMarket {
  readonly ladders = new MarketLadders();
  /** As it was listed: without what became known later. */
  readonly listed: TapeMarket;
  #isListed = false;
  #isOpened = false;
  #strikeKnownMs: number | null = null;
  #isResolved = false;
  /** Facts of gaps already given, by what identifies them. */
  readonly #gaps = new Set<string>();

  constructor(market: TapeMarket) {
    this.listed = { ...market, strikePrice: null, strikeKnownTimeMs: null };
  }

  /** @returns Whether the listing is due now. */
  list(): boolean {
    const isDue = !this.#isListed;
    this.#isListed = true;
    return isDue;
  }

  /** New facts without an arrival number. */
  factsOf(market: TapeMarket, resolution: Resolution | null): { timeMs: number; items: () => ItemBody[] }[] {
    const facts: { timeMs: number; items: () => ItemBody[] }[] = [];
    const listing = (): ItemBody[] => (this.list() ? [{ kind: 'market', market: this.listed }] : []);
    if (!this.#isOpened) facts.push({ timeMs: market.startTimeMs, items: listing });
    this.#isOpened = true;
    const knownMs = market.strikeKnownTimeMs;
    if (knownMs !== null && knownMs !== this.#strikeKnownMs) {
      this.#strikeKnownMs = knownMs;
      facts.push({ timeMs: knownMs, items: () => [...listing(), { kind: 'market', market }] });
    }
    if (resolution !== null && !this.#isResolved) {
      this.#isResolved = true;
      const item: ItemBody = { kind: 'resolved', marketId: market.marketId, resolution };
      facts.push({ timeMs: resolution.resolvedTimeMs, items: () => [...listing(), item] });
    }
    return facts;
  }

  /** A gap's detection and its end, where they became known, each once. */
  gapFacts(gap: TapeGap): { seq: number | null; timeMs: number; item: ItemBody }[] {
    const { startMs, knownMs, endMs, knownSeq, endSeq } = gap;
    const { marketId } = this.listed;
    const key = `${knownSeq ?? startMs}`;
    const facts: ReturnType<MergedMarket['gapFacts']> = [];
    if (this.#isNew(key)) {
      facts.push({ seq: knownSeq ?? null, timeMs: knownMs, item: { kind: 'gap', marketId, startMs } });
    }
    if (endMs !== null && this.#isNew(`${key} end`)) {
      const seq = knownSeq === undefined ? null : (endSeq ?? knownSeq);
      const timeMs = Math.max(knownMs, endMs);
      facts.push({ seq, timeMs, item: { kind: 'gap_end', marketId, endMs: timeMs } });
    }
    return facts;
  }

  #isNew(key: string): boolean {
    const isNew = !this.#gaps.has(key);
    this.#gaps.add(key);
    return isNew;
  }
}

/** Parts of a market's books that stay readable: an order meets the newest ones. */
const PARTS_KEPT = 3;

/** The books of a market whose recording arrives in parts, numbered through. */
class MarketLadders implements Ladders {
  #parts: { readonly first: number; readonly ladders: TapeLadders; readonly books: TapeBooks }[] = [];
  #count = 0;

  /** @returns The number of the first book, and whether it repeats the last one before it. */
  add(books: TapeBooks): { first: number; repeats: boolean } {
    const before = this.#parts.at(-1);
    const part = { first: this.#count, ladders: new TapeLadders(books), books };
    if (books.seq.length === 0) return { first: this.#count, repeats: false };
    this.#parts = [...this.#parts.slice(1 - PARTS_KEPT), part];
    this.#count += books.seq.length;
    const last = before === undefined ? -1 : before.books.seq.length - 1;
    const repeats = before !== undefined && before.books.trusted[last] === books.trusted[0];
    return { first: part.first, repeats: repeats && this.#isSame(part.first - 1, part.first) };
  }

  side(book: number, token: 'yes' | 'no', side: BookSide): SideView {
    const part = this.#part(book);
    return part.ladders.side(book - part.first, token, side);
  }

  isMirrored(book: number): boolean {
    return this.#part(book).ladders.isMirrored();
  }

  #part(book: number) {
    const part = this.#parts.findLast(({ first }) => first <= book);
    if (part === undefined) throw new RangeError(`book ${book} is no longer kept`);
    return part;
  }

  #isSame(one: number, other: number): boolean {
    for (const token of ['yes', 'no'] as const) {
      for (const kind of ['bids', 'asks'] as const) {
        const [a, b] = [this.side(one, token, kind), this.side(other, token, kind)];
        if (a.count !== b.count) return false;
        for (let i = 0; i < a.count; i++) {
          if (a.prices[i] !== b.prices[i] || a.sizes[i] !== b.sizes[i]) return false;
        }
      }
    }
    return true;
  }
}
