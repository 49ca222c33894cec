import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordSink,
  SideView,
  TradeRecord,
  UnderlyingRecord,
} from '../../src/schema/records.ts';

type Level = [price: number, size: number];

interface CapturedBook {
  marketId: string;
  seq: number;
  eventTimeMs: number;
  receivedTimeMs: number;
  trusted: boolean;
  mirrored: boolean;
  underlyingPrice: number | null;
  yes: { bids: Level[]; asks: Level[] };
  no: { bids: Level[]; asks: Level[] };
}

function levels(side: SideView): Level[] {
  return Array.from({ length: side.count }, (_, i): Level => [side.prices[i]!, side.sizes[i]!]);
}

/** Keeps copies of all records, in order. */
export class MemorySink implements RecordSink {
  readonly books: CapturedBook[] = [];
  readonly quotes: QuoteRecord[] = [];
  readonly trades: TradeRecord[] = [];
  readonly underlyings: UnderlyingRecord[] = [];
  readonly depths: PerpDepthRecord[] = [];
  readonly markets: MarketRecord[] = [];
  readonly gaps: GapRecord[] = [];

  book(record: BookRecord): void {
    const { yes, no, ...rest } = record;
    this.books.push({
      ...rest,
      yes: { bids: levels(yes.bids), asks: levels(yes.asks) },
      no: { bids: levels(no.bids), asks: levels(no.asks) },
    });
  }

  quote(record: QuoteRecord): void {
    this.quotes.push(record);
  }

  trade(record: TradeRecord): void {
    this.trades.push(record);
  }

  underlying(record: UnderlyingRecord): void {
    this.underlyings.push(record);
  }

  perpDepth(record: PerpDepthRecord): void {
    this.depths.push(record);
  }

  market(record: MarketRecord): void {
    this.markets.push(record);
  }

  gap(record: GapRecord): void {
    this.gaps.push(record);
  }
}
