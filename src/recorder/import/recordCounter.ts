import { forward, type MarketRecord, type RecordSink, recordSink } from '../../schema/records.ts';

/** Counts records and passes them on, for commands that report what they recorded. */
export class RecordCounter {
  readonly counts = { books: 0, quotes: 0, trades: 0, underlying: 0, perp_depth: 0, gaps: 0 };
  /** Markets whose record was written. */
  readonly marketIds = new Set<string>();
  /** Where the counted records go. */
  readonly sink: RecordSink;

  constructor(next: RecordSink) {
    this.sink = recordSink((kind, record) => {
      if (kind === 'market') this.marketIds.add((record as MarketRecord).marketId);
      else this.counts[COUNTS[kind as CountedKind]]++;
      forward(next, kind, record);
    });
  }
}

type CountedKind = keyof typeof COUNTS;

/** The count of each kind of record; markets are counted once each. */
const COUNTS = {
  book: 'books',
  quote: 'quotes',
  trade: 'trades',
  underlying: 'underlying',
  perpDepth: 'perp_depth',
  gap: 'gaps',
} as const;
