import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordSink,
  TradeRecord,
  UnderlyingRecord,
} from '../../schema/records.ts';

/** Passes records on and counts them, for commands that report what they recorded. */
export class CountingSink implements RecordSink {
  readonly counts = { books: 0, quotes: 0, trades: 0, underlying: 0, perp_depth: 0, gaps: 0 };
  /** Markets whose record was written. */
  readonly marketIds = new Set<string>();
  readonly #next: RecordSink;

  constructor(next: RecordSink) {
    this.#next = next;
  }

  book(record: BookRecord): void {
    this.counts.books++;
    this.#next.book(record);
  }

  quote(record: QuoteRecord): void {
    this.counts.quotes++;
    this.#next.quote(record);
  }

  trade(record: TradeRecord): void {
    this.counts.trades++;
    this.#next.trade(record);
  }

  underlying(record: UnderlyingRecord): void {
    this.counts.underlying++;
    this.#next.underlying(record);
  }

  perpDepth(record: PerpDepthRecord): void {
    this.counts.perp_depth++;
    this.#next.perpDepth(record);
  }

  market(record: MarketRecord): void {
    this.marketIds.add(record.marketId);
    this.#next.market(record);
  }

  gap(record: GapRecord): void {
    this.counts.gaps++;
    this.#next.gap(record);
  }
}
