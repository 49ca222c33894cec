/** What a desk reports to its owner. */
import type { Fill } from '../fills/walk.ts';
import type { OrderTerms } from './order.ts';

/** Why an order that reached the venue was not filled. */
export type MissReason =
  /** Nothing was for sale (bid). */
  | 'no_depth'
  /** All levels were beyond the order's limit. */
  | 'price'
  /** The book in force was not proven, or was in a gap. */
  | 'untrusted'
  /** No later message of the market arrived. */
  | 'unconfirmed';

/** An order as its desk knows it. */
export interface DeskOrder {
  readonly orderId: number;
  readonly terms: OrderTerms;
  /** Time of the decision. */
  readonly placedMs: number;
  /** When it meets the book. */
  readonly dueMs: number;
}

/** Reports of a desk, in order. `knownMs`: receive time of the message at which the event became known. */
export type DeskReport =
  | {
      readonly kind: 'fill';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly timeMs: number;
      readonly fill: Fill;
    }
  | {
      readonly kind: 'miss';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly reason: MissReason;
    }
  /** A gap that reaches back to `sinceMs` was detected: fills after it do not count. */
  | { readonly kind: 'taken_back'; readonly knownMs: number; readonly sinceMs: number };

export interface DeskListener {
  onReport(report: DeskReport): void;
}
