import type { Opportunity } from '../schema/opportunity.ts';
import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  TradeRecord,
  UnderlyingRecord,
} from '../schema/records.ts';

/** Whether records arrive; while they do not, no book may be shown as trusted. */
export interface Receiving {
  readonly isReceiving: boolean;
  readonly timeMs: number;
}

/** Events on the bus, by topic. Each is published after it was written to the store. */
export interface Topics {
  /** A book after a complete action that changed its levels. It is a reused view: copy the values you keep. */
  book: BookRecord;
  /** A book behind newer ones, which a follower received late: it is stored and shown nowhere as the newest. */
  lateBook: BookRecord;
  /**
   * A changed best price of either token, or changed trust in the book; published before the `book` of the same action.
   */
  quote: QuoteRecord;
  trade: TradeRecord;
  /** A price of an underlying. */
  underlying: UnderlyingRecord;
  perpDepth: PerpDepthRecord;
  /** A gap was opened (`endTimeMs` null) or closed. */
  gap: GapRecord;
  /** A market is new, or its record changed. */
  market: MarketRecord;
  /** A signal that is already in the audit log. */
  opportunity: Opportunity;
  /** This process begins or ceases to have the newest records: those that it receives, or those of its followed collectors. */
  receiving: Receiving;
}
export type Topic = keyof Topics;
