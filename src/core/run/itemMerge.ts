/** Merges recordings into the items of a run, in their order of arrival. */
import { AFTER_MS } from '../session/gapEnds.ts';
import { decidingSource } from '../venueRules.ts';
import { type Cursor, DepthCursor, MarketCursor, PriceCursor } from './cursors.ts';
import type { RunItem } from './runner.ts';
import { payoutTimeMs, type RunTape, type TickerTape } from './runTape.ts';

/** An item without an arrival number of its own: it comes before the first record received from a time on. */
interface TimedItem {
  readonly fromMs: number;
  readonly make: (seq: number) => RunItem;
}

export class ItemMerge {
  /** A binary heap, the next one first; exhausted cursors leave it. */
  readonly #cursors: Cursor[] = [];
  /** Soonest first. */
  readonly #timed: TimedItem[] = [];
  /** Markets of which no record has come yet, by their cursor. */
  readonly #unseen = new Map<Cursor, RunTape>();
  /** Arrival number of the newest price of each feed: tapes of neighbouring windows repeat prices. */
  readonly #priceSeqs = new Map<string, number>();
  #seq = 0;

  /**
   * @param isListedEmpty Whether a market without a record is listed, at its start.
   * @returns When the first record of its books, trades and gaps was received; infinite without one.
   */
  addMarket(run: RunTape, isListedEmpty = true): number {
    const { market, prices } = run.tape;
    const cursor = new MarketCursor(run.tape);
    const firstMs = cursor.timeMs;
    if (cursor.order < Number.POSITIVE_INFINITY) {
      this.#unseen.set(cursor, run);
      this.#add(cursor);
    } else if (isListedEmpty)
      this.#schedule(market.startTimeMs, (seq) => this.#show(run, { seq, timeMs: market.startTimeMs }));
    const feed = { ticker: market.ticker, source: decidingSource(market) };
    if (prices !== null) this.#add(new PriceCursor(feed, prices));
    return firstMs;
  }

  addTicker({ ticker, prices, perpDepth }: TickerTape): void {
    for (const { source, rows } of prices) this.#add(new PriceCursor({ ticker, source }, rows));
    this.#add(new DepthCursor(perpDepth));
  }

  /** The items received before a time. */
  *before(timeMs: number): Generator<RunItem> {
    for (let top = this.#cursors[0]; top !== undefined; top = this.#cursors[0]) {
      if (top.timeMs >= timeMs) return;
      if (this.#timed.length > 0) yield* this.#timedUntil(top.timeMs, top.order);
      const unseen = this.#unseen.size === 0 ? undefined : this.#unseen.get(top);
      if (unseen !== undefined) {
        this.#unseen.delete(top);
        yield this.#show(unseen, { seq: Math.floor(top.order), timeMs: top.timeMs });
      }
      const item = top.take();
      this.#sink();
      this.#seq = item.seq;
      if (item.kind !== 'price' || this.#isNew(item)) yield item;
    }
    yield* this.#timedUntil(timeMs, this.#seq);
  }

  *#timedUntil(timeMs: number, order: number): Generator<RunItem> {
    for (let next = this.#timed[0]; next !== undefined && next.fromMs <= timeMs; next = this.#timed[0]) {
      this.#timed.shift();
      yield next.make(Math.floor(order));
    }
  }

  /** The listing of a market as known at a time. Its strike and its outcome follow when they became known. */
  #show({ tape, resolution }: RunTape, at: { readonly seq: number; readonly timeMs: number }): RunItem {
    const { market } = tape;
    const { marketId, strikePrice, strikeKnownTimeMs } = market;
    const isKnown = strikeKnownTimeMs !== null && strikeKnownTimeMs <= at.timeMs;
    if (strikePrice !== null && strikeKnownTimeMs !== null && !isKnown) {
      const known = { kind: 'market', timeMs: strikeKnownTimeMs, market } as const;
      this.#schedule(strikeKnownTimeMs, (seq) => ({ ...known, seq }));
    }
    if (resolution !== null) {
      const timeMs = payoutTimeMs(tape, resolution);
      const resolved = { kind: 'resolved', timeMs, marketId, resolution } as const;
      this.#schedule(timeMs + AFTER_MS, (seq) => ({ ...resolved, seq }));
    }
    const hidden = { ...market, strikePrice: null, strikeKnownTimeMs: null };
    return { kind: 'market', ...at, market: isKnown ? market : hidden };
  }

  #schedule(fromMs: number, make: TimedItem['make']): void {
    const later = this.#timed.findIndex((other) => other.fromMs > fromMs);
    this.#timed.splice(later < 0 ? this.#timed.length : later, 0, { fromMs, make });
  }

  #isNew({ price: { ticker, source }, seq }: Extract<RunItem, { kind: 'price' }>): boolean {
    const key = `${ticker} ${source}`;
    if ((this.#priceSeqs.get(key) ?? -1) >= seq) return false;
    this.#priceSeqs.set(key, seq);
    return true;
  }

  #add(cursor: Cursor): void {
    const heap = this.#cursors;
    if (cursor.order === Number.POSITIVE_INFINITY) return;
    heap.push(cursor);
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isBefore(cursor, heap[parent] as Cursor)) return;
      heap[at] = heap[parent] as Cursor;
      heap[parent] = cursor;
      at = parent;
    }
  }

  /** Puts the first cursor, which has moved on, in its place. */
  #sink(): void {
    const heap = this.#cursors;
    if (heap[0]?.order === Number.POSITIVE_INFINITY) {
      const last = heap.pop() as Cursor;
      if (heap.length > 0) heap[0] = last;
      else return;
    }
    const cursor = heap[0] as Cursor;
    for (let at = 0; ; ) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) return;
      if (right !== undefined && isBefore(right, left)) child++;
      const next = heap[child] as Cursor;
      if (!isBefore(next, cursor)) return;
      heap[at] = next;
      heap[child] = cursor;
      at = child;
    }
  }
}

/** Of equal arrival numbers, prices come first: see `prepareMarket`. */
function isBefore(a: Cursor, b: Cursor): boolean {
  if (a.order !== b.order) return a.order < b.order;
  return a instanceof PriceCursor && !(b instanceof PriceCursor);
}
