/** Converts a tape into rows once; every strategy and every cell of a sweep then reads the same rows. */

import { MarketRules } from '../marketRules.ts';
import { ReadingColumns } from '../strategies/readingColumns.ts';
import { GapEnds } from './gapEnds.ts';
import { GapReplay } from './gapReplay.ts';
import { lacksBooks } from './lostBooks.ts';
import { ROW_GAP_KNOWN, RowBuilder, type RowNeeds, type Rows } from './rows.ts';
import { type Ladders, type MarketTape, type TapeBooks, TapeLadders } from './tape.ts';
import type { TradeRows } from './tradeRows.ts';
import { PRICE_FRESH_MS, UnderlyingState } from './underlyingState.ts';

/** A market ready to be replayed. */
export interface PreparedMarket {
  readonly market: MarketTape['market'];
  readonly rows: Rows;
  readonly ladders: Ladders | null;
  readonly rules: MarketRules;
  readonly columns: ReadingColumns;
  /** Null: the tape has none. */
  readonly trades: TradeRows | null;
  /** The last row at which a gap becomes known, which may reverse trades; -1: none. */
  readonly lastGapRow: number;
  /** Rows inside the window, those of them with a proven book, and how long one was valid. */
  readonly inside: { readonly rows: number; readonly trusted: number; readonly coveredMs: number };
  /** `none`: the tape has no book. `late`: best prices of the window were proven long before its first book. */
  readonly missingBooks: 'none' | 'late' | null;
}

/** Merges the streams of a tape in their order of arrival. */
export function prepareMarket(tape: MarketTape, needs: RowNeeds): PreparedMarket {
  const { market, quotes, books, prices, trades = null } = tape;
  const openMs = market.startTimeMs;
  const underlying = needs.model
    ? new UnderlyingState({ sigmaFromMs: openMs - PRICE_FRESH_MS, openMs })
    : null;
  const capacity = Math.max(
    2,
    quotes.seq.length + (books?.seq.length ?? 0) + (prices?.seq.length ?? 0) + 2 * tape.gaps.length,
  );
  const builder = new RowBuilder(market, { underlying, capacity, measures: needs.measures });
  const ladders = books === null ? null : new TapeLadders(books);
  const gaps = new GapRows(tape, builder);
  const streams = { quote: quotes.seq, book: books?.seq ?? NO_SEQ, price: prices?.seq ?? NO_SEQ };
  const at = { quote: 0, book: 0, price: 0, trade: 0 };
  const nextRow = new Int32Array(trades?.seq.length ?? 0);
  for (;;) {
    const quoteSeq = streams.quote[at.quote] ?? Number.POSITIVE_INFINITY;
    const bookSeq = streams.book[at.book] ?? Number.POSITIVE_INFINITY;
    const priceSeq = streams.price[at.price] ?? Number.POSITIVE_INFINITY;
    const next = Math.min(quoteSeq, bookSeq, priceSeq);
    for (; (trades?.seq[at.trade] ?? Number.POSITIVE_INFINITY) < next; at.trade++) {
      gaps.beforeTrade(trades?.seq[at.trade] as number, trades?.receivedMs[at.trade] as number);
      nextRow[at.trade] = builder.rows.count;
    }
    if (next === Number.POSITIVE_INFINITY) break;
    gaps.beforeSeq(next);
    if (priceSeq === next && prices !== null) {
      pushPrice(tape, at.price++, { underlying, builder, gaps });
    } else if (bookSeq === next && books !== null && ladders !== null) {
      gaps.beforeRow(books.receivedMs[at.book] as number);
      pushBook(books, at.book++, { builder, ladders });
    } else {
      gaps.beforeRow(quotes.receivedMs[at.quote] as number);
      pushQuote(tape, at.quote++, { underlying, builder });
    }
  }
  gaps.beforeSeq(Number.POSITIVE_INFINITY);
  gaps.beforeRow(Number.POSITIVE_INFINITY);
  const { rows } = builder;
  return {
    market,
    rows,
    ladders,
    rules: new MarketRules(market),
    columns: new ReadingColumns(rows, market),
    trades: trades === null ? null : { trades, nextRow },
    lastGapRow: rows.kind.lastIndexOf(ROW_GAP_KNOWN),
    inside: insideOf(market, rows),
    missingBooks: missingBooksOf(tape),
  };
}

function missingBooksOf({ market, quotes, books }: MarketTape): PreparedMarket['missingBooks'] {
  const firstMs = books?.receivedMs[0];
  if (firstMs === undefined) return 'none';
  const proven = quotes.trusted.indexOf(1);
  if (proven < 0) return null;
  return lacksBooks(market, { provenMs: quotes.receivedMs[proven] as number, firstMs }) ? 'late' : null;
}

/**
 * Rows are counted with their own knowledge. Coverage uses later knowledge, so it is computed from the end: a gap also
 * covers rows from before its detection that looked proven.
 */
function insideOf({ startTimeMs, endTimeMs }: MarketTape['market'], rows: Rows): PreparedMarket['inside'] {
  const { count, kind, timeMs, trusted, gapStartMs } = rows;
  const inside = { rows: 0, trusted: 0, coveredMs: 0 };
  let [provenUntilMs, nextMs] = [Number.POSITIVE_INFINITY, endTimeMs];
  for (let row = count - 1; row >= 0; row--) {
    const at = timeMs[row] as number;
    if (kind[row] === ROW_GAP_KNOWN) provenUntilMs = Math.min(provenUntilMs, gapStartMs[row] as number);
    if (at >= startTimeMs && at < endTimeMs) {
      inside.rows++;
      inside.trusted += trusted[row] as number;
    }
    if (trusted[row] === 1) {
      const untilMs = Math.min(endTimeMs, nextMs, provenUntilMs);
      inside.coveredMs += Math.max(0, untilMs - Math.max(startTimeMs, at));
    }
    nextMs = at;
  }
  return inside;
}

const NO_SEQ = new Float64Array(0);

function pushPrice(
  { prices, market }: MarketTape,
  at: number,
  { underlying, builder, gaps }: { underlying: UnderlyingState | null; builder: RowBuilder; gaps: GapRows },
): void {
  if (prices === null) return;
  const receivedMs = prices.receivedMs[at] as number;
  const eventMs = prices.eventMs[at] as number;
  underlying?.push({ receivedMs, eventMs, price: prices.price[at] as number });
  // The hour before the window only feeds the volatility.
  if (receivedMs < market.startTimeMs) return;
  gaps.beforeRow(receivedMs);
  builder.price(receivedMs);
}

function pushBook(
  books: TapeBooks,
  at: number,
  { builder, ladders }: { builder: RowBuilder; ladders: TapeLadders },
): void {
  const side = (token: 'yes' | 'no', kind: 'bids' | 'asks') => ladders.side(at, token, kind);
  const best = (kind: 'bids' | 'asks') => {
    const view = side('no', kind);
    return view.count === 0 ? Number.NaN : (view.prices[0] as number);
  };
  builder.book({
    receivedMs: books.receivedMs[at] as number,
    trusted: books.trusted[at] === 1,
    book: at,
    yesBids: side('yes', 'bids'),
    yesAsks: side('yes', 'asks'),
    ...(books.noBids === null ? {} : { no: { bid: best('bids'), ask: best('asks') } }),
  });
}

function pushQuote(
  { quotes }: MarketTape,
  at: number,
  { underlying, builder }: { underlying: UnderlyingState | null; builder: RowBuilder },
): void {
  const receivedMs = quotes.receivedMs[at] as number;
  underlying?.pushBesideQuote({ receivedMs, price: quotes.underlying[at] as number });
  builder.quote({
    receivedMs,
    trusted: quotes.trusted[at] === 1,
    yesBid: quotes.yesBid[at] as number,
    yesAsk: quotes.yesAsk[at] as number,
    noBid: quotes.noBid[at] as number,
    noAsk: quotes.noAsk[at] as number,
  });
}

/** Makes rows of gaps when they are detected, and when their ends are passed. */
class GapRows {
  readonly #builder: RowBuilder;
  readonly #gapReplay: GapReplay;
  readonly #ends = new GapEnds();

  constructor({ gaps }: MarketTape, builder: RowBuilder) {
    this.#builder = builder;
    this.#gapReplay = new GapReplay({
      gapDetected: (gap) => {
        this.#passEnds(gap.knownMs);
        builder.gapDetected(gap);
      },
      gapEnded: ({ endMs }) => this.#ends.add(endMs),
    });
    this.#gapReplay.add(gaps);
  }

  /** Applies the reports made before an arrival number. */
  beforeSeq(seq: number): void {
    this.#gapReplay.beforeSeq(seq);
  }

  /** Applies the reports and gap ends before a trade, so that its session may place an order that it fills. */
  beforeTrade(seq: number, receivedMs: number): void {
    this.beforeSeq(seq);
    this.#passEnds(receivedMs);
  }

  /** Applies the reports and gap ends before a row with this receive time. */
  beforeRow(receivedMs: number): void {
    this.#gapReplay.beforeTime(receivedMs);
    this.#passEnds(receivedMs);
  }

  #passEnds(receivedMs: number): void {
    for (let endMs = this.#ends.pass(receivedMs); endMs !== null; endMs = this.#ends.pass(receivedMs))
      this.#builder.gapEnded(endMs);
  }
}
