import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import type {
  BookRecord,
  PerpDepthRecord,
  QuoteRecord,
  TradeRecord,
  UnderlyingRecord,
} from '../schema/records.ts';

/** What is told on the bus, by topic. Each is told after it was handed to the store. */
export interface Topics {
  /** A book after a finished action that changed its levels. A view that is reused: copy what you keep. */
  book: BookRecord;
  /** A best price of either token, or the trust in the book, changed; before the `book` of the same action. */
  quote: QuoteRecord;
  trade: TradeRecord;
  /** A price of an underlying. */
  underlying: UnderlyingRecord;
  perpDepth: PerpDepthRecord;
  /** A gap was opened (`endTimeMs` null) or closed. */
  gap: Gap;
  /** A market is new, or anything in its record changed. */
  market: Market;
  /** A signal that is written in the audit already. */
  opportunity: Opportunity;
}
export type Topic = keyof Topics;
