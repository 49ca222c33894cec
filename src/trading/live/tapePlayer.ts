/**
 * Replays a recorded market through the same calls that the bus makes, so that a restart continues where the last run
 * ended.
 */

import { GapReplay } from '../../core/session/gapReplay.ts';
import { type MarketTape, TAPE_TRADE_SIDES, TapeLadders } from '../../core/session/tape.ts';
import type { BookRecord, QuoteRecord, SideView } from '../../schema/records.ts';
import type { TermsVersion } from './marketTerms.ts';
import type { PaperMarket } from './paperMarket.ts';

const EVENTS_AT_ONCE = 64;

/** Replays one market's past, stretch by stretch in order. */
export class TapePlayer {
  readonly #market: PaperMarket;
  readonly #gaps: GapReplay;
  readonly #terms: TermsVersion[];
  /** Arrival number of the newest row it has replayed. */
  lastSeq = 0;

  /** @param terms In arrival order, without those of the first row, which the market already has. */
  constructor(market: PaperMarket, terms: readonly TermsVersion[] = []) {
    this.#market = market;
    this.#gaps = new GapReplay(market);
    this.#terms = [...terms];
  }

  /**
   * Yields now and then, so that the caller can let other work run.
   * @param beforeSeq Rows from this arrival number on are left out.
   */
  *play(tape: MarketTape, beforeSeq = Number.POSITIVE_INFINITY): Generator<void, void> {
    const { quotes, books, prices, trades } = tape;
    this.#gaps.add(tape.gaps);
    const ladders = books && new TapeLadders(books);
    const at = { quote: 0, book: 0, price: 0, trade: 0 };
    let played = 0;
    for (;;) {
      const quoteSeq = quotes.seq[at.quote] ?? Number.POSITIVE_INFINITY;
      const bookSeq = books?.seq[at.book] ?? Number.POSITIVE_INFINITY;
      const priceSeq = prices?.seq[at.price] ?? Number.POSITIVE_INFINITY;
      const tradeSeq = trades?.seq[at.trade] ?? Number.POSITIVE_INFINITY;
      const next = Math.min(quoteSeq, bookSeq, priceSeq, tradeSeq);
      if (next === Number.POSITIVE_INFINITY || next >= beforeSeq) return;
      this.#applyTerms(next);
      this.#gaps.beforeSeq(next);
      this.lastSeq = next;
      if (tradeSeq === next) this.#trade(tape, at.trade++);
      else if (priceSeq === next) this.#price(tape, at.price++);
      else if (bookSeq === next) this.#book(tape, at.book++, ladders);
      else this.#quote(tape, at.quote++);
      if (++played % EVENTS_AT_ONCE === 0) yield;
    }
  }

  /** Call after the last stretch. @param beforeSeq As for `play`: from there on the live stream reports gaps too. */
  finish(beforeSeq = Number.POSITIVE_INFINITY): void {
    this.#applyTerms(Number.POSITIVE_INFINITY);
    this.#gaps.beforeSeq(beforeSeq);
    this.#gaps.beforeTime(Number.POSITIVE_INFINITY);
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
    if (receivedMs >= this.#market.market.startTimeMs) this.#gaps.beforeTime(receivedMs);
    this.#market.price({
      ...{ seq: prices.seq[at] as number, receivedMs },
      ...{ eventMs: prices.eventMs[at] as number, price: prices.price[at] as number },
    });
  }

  #book({ books }: MarketTape, at: number, ladders: TapeLadders | null): void {
    if (books === null || ladders === null) return;
    const receivedTimeMs = books.receivedMs[at] as number;
    this.#gaps.beforeTime(receivedTimeMs);
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

  #trade({ trades }: MarketTape, at: number): void {
    const side = TAPE_TRADE_SIDES[trades?.side[at] ?? -1];
    if (!trades || side === undefined) throw new RangeError('not a trade');
    this.#market.trade({
      ...{ seq: trades.seq[at] as number, marketId: this.#market.market.marketId, side },
      ...{ price: trades.price[at] as number, size: trades.size[at] as number },
      ...{ eventTimeMs: trades.eventMs[at] as number, receivedTimeMs: trades.receivedMs[at] as number },
    });
  }

  #quote({ quotes }: MarketTape, at: number): void {
    const receivedTimeMs = quotes.receivedMs[at] as number;
    this.#gaps.beforeTime(receivedTimeMs);
    const price = (column: Float64Array) => {
      const value = column[at] as number;
      return Number.isNaN(value) ? null : value;
    };
    const record: QuoteRecord = {
      ...{ seq: quotes.seq[at] as number, marketId: this.#market.market.marketId },
      ...{ eventTimeMs: receivedTimeMs, receivedTimeMs, yesChanged: true },
      underlyingPrice: price(quotes.underlying),
      ...{ trusted: quotes.trusted[at] === 1, yesBid: price(quotes.yesBid), yesAsk: price(quotes.yesAsk) },
      ...{ noBid: price(quotes.noBid), noAsk: price(quotes.noAsk) },
    };
    this.#market.quote(record);
  }
}
