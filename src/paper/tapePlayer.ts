/** Plays a recorded market through the very calls the bus makes, so that a restart goes on where the last run ended. */
import { type MarketTape, TapeLadders } from '../core/replay/tape.ts';
import type { BookRecord, QuoteRecord, SideView } from '../schema/records.ts';
import type { PaperMarket } from './paperMarket.ts';

const EVENTS_AT_ONCE = 64;

/** The last row of each stream that was played; what comes by the bus goes on after it. */
export interface PlayedTo {
  readonly seq: number;
  readonly priceSeq: number;
}

/** Yields now and then, so that whoever plays it can let others go first. */
export function* playTape(market: PaperMarket, tape: MarketTape): Generator<void, PlayedTo> {
  const { quotes, books, prices } = tape;
  const gaps = new KnownGaps(market, tape);
  const at = { quote: 0, book: 0, price: 0 };
  let [seq, played] = [-1, 0];
  for (;;) {
    const quoteSeq = quotes.seq[at.quote] ?? Number.POSITIVE_INFINITY;
    const bookSeq = books?.seq[at.book] ?? Number.POSITIVE_INFINITY;
    const priceSeq = prices?.seq[at.price] ?? Number.POSITIVE_INFINITY;
    const next = Math.min(quoteSeq, bookSeq, priceSeq);
    if (next === Number.POSITIVE_INFINITY) break;
    if (priceSeq === next) playPrice(market, tape, { at: at.price++, gaps });
    else if (bookSeq === next) playBook(market, tape, { at: at.book++, gaps });
    else playQuote(market, tape, { at: at.quote++, gaps });
    if (priceSeq !== next) seq = next;
    if (++played % EVENTS_AT_ONCE === 0) yield;
  }
  gaps.before(Number.POSITIVE_INFINITY);
  return { seq, priceSeq: prices?.seq.at(-1) ?? -1 };
}

interface Place {
  readonly at: number;
  readonly gaps: KnownGaps;
}

function playPrice(market: PaperMarket, { prices }: MarketTape, { at, gaps }: Place): void {
  if (prices === null) return;
  const receivedMs = prices.receivedMs[at] as number;
  if (receivedMs >= market.market.startTimeMs) gaps.before(receivedMs);
  market.price({
    ...{ seq: prices.seq[at] as number, receivedMs },
    ...{ eventMs: prices.eventMs[at] as number, price: prices.price[at] as number },
  });
}

function playBook(market: PaperMarket, { books }: MarketTape, { at, gaps }: Place): void {
  if (books === null) return;
  const receivedTimeMs = books.receivedMs[at] as number;
  gaps.before(receivedTimeMs);
  const ladders = new TapeLadders(books);
  const side = (token: 'yes' | 'no', kind: 'bids' | 'asks'): SideView => ladders.side(at, token, kind);
  const record: BookRecord = {
    ...{ seq: books.seq[at] as number, marketId: market.market.marketId },
    ...{ eventTimeMs: receivedTimeMs, receivedTimeMs, underlyingPrice: null },
    ...{ trusted: books.trusted[at] === 1, mirrored: books.noBids === null },
    yes: { bids: side('yes', 'bids'), asks: side('yes', 'asks') },
    no: { bids: side('no', 'bids'), asks: side('no', 'asks') },
  };
  market.book(record);
}

function playQuote(market: PaperMarket, { quotes }: MarketTape, { at, gaps }: Place): void {
  const receivedTimeMs = quotes.receivedMs[at] as number;
  gaps.before(receivedTimeMs);
  const price = (column: Float64Array) => {
    const value = column[at] as number;
    return Number.isNaN(value) ? null : value;
  };
  const record: QuoteRecord = {
    ...{ seq: quotes.seq[at] as number, marketId: market.market.marketId },
    ...{ eventTimeMs: receivedTimeMs, receivedTimeMs, underlyingPrice: null, yesChanged: true },
    ...{ trusted: quotes.trusted[at] === 1, yesBid: price(quotes.yesBid), yesAsk: price(quotes.yesAsk) },
    ...{ noBid: price(quotes.noBid), noAsk: price(quotes.noAsk) },
  };
  market.quote(record);
}

/** Gaps become known between the events of the market; a gap known at the moment of an event comes first. */
class KnownGaps {
  readonly #market: PaperMarket;
  readonly #gaps: MarketTape['gaps'];
  #next = 0;

  constructor(market: PaperMarket, { gaps }: MarketTape) {
    this.#market = market;
    this.#gaps = [...gaps].sort((a, b) => a.knownMs - b.knownMs);
  }

  before(receivedMs: number): void {
    for (;;) {
      const gap = this.#gaps[this.#next];
      if (gap === undefined || gap.knownMs > receivedMs) return;
      this.#next++;
      this.#market.gapKnown(gap);
      if (gap.endMs !== null) {
        this.#market.gapEnded({ startMs: gap.startMs, endMs: Math.max(gap.endMs, gap.knownMs) });
      }
    }
  }
}
