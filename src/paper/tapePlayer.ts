/** Plays a recorded market through the very calls the bus makes, so that a restart goes on where the last run ended. */
import { type MarketTape, type TapeGap, TapeLadders } from '../core/replay/tape.ts';
import type { BookRecord, QuoteRecord, SideView } from '../schema/records.ts';
import type { TermsVersion } from './marketTerms.ts';
import type { PaperMarket } from './paperMarket.ts';

const EVENTS_AT_ONCE = 64;

/** One market's past, stretch by stretch in order. */
export class TapePlayer {
  readonly #market: PaperMarket;
  readonly #gaps: KnownGaps;
  readonly #terms: TermsVersion[];
  /** Arrival number of the newest row it has played. */
  lastSeq = 0;

  /** @param terms In the order they came; those of the first row are the market's already. */
  constructor(market: PaperMarket, terms: readonly TermsVersion[] = []) {
    this.#market = market;
    this.#gaps = new KnownGaps(market);
    this.#terms = [...terms];
  }

  /**
   * Yields now and then, so that whoever plays can let others go first.
   * @param beforeSeq What arrived from this number on is left out.
   */
  *play(tape: MarketTape, beforeSeq = Number.POSITIVE_INFINITY): Generator<void, void> {
    const { quotes, books, prices } = tape;
    this.#gaps.add(tape.gaps);
    const at = { quote: 0, book: 0, price: 0 };
    let played = 0;
    for (;;) {
      const quoteSeq = quotes.seq[at.quote] ?? Number.POSITIVE_INFINITY;
      const bookSeq = books?.seq[at.book] ?? Number.POSITIVE_INFINITY;
      const priceSeq = prices?.seq[at.price] ?? Number.POSITIVE_INFINITY;
      const next = Math.min(quoteSeq, bookSeq, priceSeq);
      if (next === Number.POSITIVE_INFINITY || next >= beforeSeq) return;
      this.#applyTerms(next);
      this.lastSeq = next;
      if (priceSeq === next) this.#price(tape, at.price++);
      else if (bookSeq === next) this.#book(tape, at.book++);
      else this.#quote(tape, at.quote++);
      if (++played % EVENTS_AT_ONCE === 0) yield;
    }
  }

  /** After the last stretch. @param isToCome Gaps of such a start are told by somebody else. */
  finish(isToCome: (startMs: number) => boolean = () => false): void {
    this.#applyTerms(Number.POSITIVE_INFINITY);
    this.#gaps.drop(isToCome);
    this.#gaps.before(Number.POSITIVE_INFINITY);
  }

  #applyTerms(seq: number): void {
    for (;;) {
      const first = this.#terms[0];
      if (first === undefined || first.afterSeq >= seq) return;
      this.#terms.shift();
      this.#market.update(first.terms);
    }
  }

  #price({ prices }: MarketTape, at: number): void {
    if (prices === null) return;
    const receivedMs = prices.receivedMs[at] as number;
    if (receivedMs >= this.#market.market.startTimeMs) this.#gaps.before(receivedMs);
    this.#market.price({
      ...{ seq: prices.seq[at] as number, receivedMs },
      ...{ eventMs: prices.eventMs[at] as number, price: prices.price[at] as number },
    });
  }

  #book({ books }: MarketTape, at: number): void {
    if (books === null) return;
    const receivedTimeMs = books.receivedMs[at] as number;
    this.#gaps.before(receivedTimeMs);
    const ladders = new TapeLadders(books);
    const side = (token: 'yes' | 'no', kind: 'bids' | 'asks'): SideView => ladders.side(at, token, kind);
    const record: BookRecord = {
      ...{ seq: books.seq[at] as number, marketId: this.#market.market.marketId },
      ...{ eventTimeMs: receivedTimeMs, receivedTimeMs, underlyingPrice: null },
      ...{ trusted: books.trusted[at] === 1, mirrored: books.noBids === null },
      yes: { bids: side('yes', 'bids'), asks: side('yes', 'asks') },
      no: { bids: side('no', 'bids'), asks: side('no', 'asks') },
    };
    this.#market.book(record);
  }

  #quote({ quotes }: MarketTape, at: number): void {
    const receivedTimeMs = quotes.receivedMs[at] as number;
    this.#gaps.before(receivedTimeMs);
    const price = (column: Float64Array) => {
      const value = column[at] as number;
      return Number.isNaN(value) ? null : value;
    };
    const record: QuoteRecord = {
      ...{ seq: quotes.seq[at] as number, marketId: this.#market.market.marketId },
      ...{ eventTimeMs: receivedTimeMs, receivedTimeMs, underlyingPrice: null, yesChanged: true },
      ...{ trusted: quotes.trusted[at] === 1, yesBid: price(quotes.yesBid), yesAsk: price(quotes.yesAsk) },
      ...{ noBid: price(quotes.noBid), noAsk: price(quotes.noAsk) },
    };
    this.#market.quote(record);
  }
}

/** Gaps become known between the events of the market; a gap known at the moment of an event comes first. */
class KnownGaps {
  readonly #market: PaperMarket;
  /** By their start; told of and waiting. */
  readonly #told = new Map<number, TapeGap>();
  #waiting: TapeGap[] = [];

  constructor(market: PaperMarket) {
    this.#market = market;
  }

  /** All that are known now: of those told before only an end is new. */
  add(gaps: readonly TapeGap[]): void {
    this.#waiting = [];
    for (const gap of gaps) {
      const told = this.#told.get(gap.startMs);
      if (told === undefined) this.#waiting.push(gap);
      else if (told.endMs === null && gap.endMs !== null) this.#tell(gap);
    }
    this.#waiting.sort((a, b) => a.knownMs - b.knownMs);
  }

  drop(isUnwanted: (startMs: number) => boolean): void {
    this.#waiting = this.#waiting.filter(({ startMs }) => !isUnwanted(startMs));
  }

  before(receivedMs: number): void {
    for (;;) {
      const gap = this.#waiting[0];
      if (gap === undefined || gap.knownMs > receivedMs) return;
      this.#waiting.shift();
      this.#tell(gap);
    }
  }

  #tell(gap: TapeGap): void {
    const { startMs, knownMs, endMs } = gap;
    if (!this.#told.has(startMs)) this.#market.gapKnown({ startMs, knownMs });
    if (endMs !== null) this.#market.gapEnded({ startMs, endMs: Math.max(endMs, knownMs) });
    this.#told.set(startMs, gap);
  }
}
