/** What a desk reports to its owner. */
import type { Fill } from '../fills/walk.ts';
import type { OrderTerms, Refusal } from './order.ts';

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

/**
 * Reports of a desk, in order. `timeMs`: when it happened at the venue. `knownMs`: receive time of the message at which
 * it became known.
 */
export type DeskReport =
  /** It rests. `ahead`: units ahead of it; null: not known. */
  | {
      readonly kind: 'accepted';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly timeMs: number;
      readonly ahead: number | null;
    }
  | {
      readonly kind: 'fill';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly timeMs: number;
      readonly fill: Fill;
      readonly liquidity: 'taker' | 'maker';
      /** Whether the order may fill again. */
      readonly isOpen: boolean;
    }
  /** It ended without any fill. */
  | {
      readonly kind: 'miss';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly reason: MissReason;
    }
  | {
      readonly kind: 'refused';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly reason: Refusal;
    }
  /** Its rest was cancelled by us, by a replacement, or by a gap that became known. */
  | {
      readonly kind: 'cancelled';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly timeMs: number;
      readonly reason: 'asked' | 'replaced' | 'gap';
    }
  /** Its expiry or the market's end came first. */
  | {
      readonly kind: 'expired';
      readonly order: DeskOrder;
      readonly knownMs: number;
      readonly timeMs: number;
    }
  /** A gap that reaches back to `sinceMs` was detected: fills after it do not count. */
  | { readonly kind: 'taken_back'; readonly knownMs: number; readonly sinceMs: number };

export interface DeskListener {
  onReport(report: DeskReport): void;
}
