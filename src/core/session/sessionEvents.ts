/** The events that a session emits. */
import type { OrderTerms } from '../desk/order.ts';
import type { MissReason } from '../desk/report.ts';
import type { Fill } from '../fills/walk.ts';

/** Outcomes of the orders of one session or of several. */
export interface OrderCounts {
  readonly placed: number;
  /** Filled in whole or in part, and not reversed. */
  readonly filled: number;
  readonly missed: Readonly<Record<MissReason, number>>;
  /** Filled, then reversed because a gap covers the fill. */
  readonly takenBack: number;
  /** Only of strategies whose purchases rest. */
  readonly resting?: RestingCounts;
}

/** Purchases that rested, or should have, without any fill. */
interface RestingCounts {
  /** The price moved, so that they would have traded at once. */
  readonly refused: number;
  /** Cancelled after their timeout, or ended with the market. */
  readonly notReached: number;
}

export const NO_ORDERS: OrderCounts = {
  ...{ placed: 0, filled: 0, takenBack: 0 },
  missed: { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 },
};

/** The events of a session, in order. `knownMs`: receive time of the row at which the event became known. */
export type SessionEvent =
  | { readonly kind: 'order'; readonly knownMs: number; readonly dueMs: number; readonly order: OrderTerms }
  | {
      readonly kind: 'fill';
      readonly knownMs: number;
      readonly timeMs: number;
      readonly order: OrderTerms;
      readonly fill: Fill;
    }
  | {
      readonly kind: 'miss';
      readonly knownMs: number;
      readonly order: OrderTerms;
      readonly reason: MissReason | 'refused' | 'not_reached';
    }
  /** A gap that reaches back to `sinceMs` was detected: fills since then are reversed. */
  | { readonly kind: 'taken_back'; readonly knownMs: number; readonly sinceMs: number };

export type SessionListener = (event: SessionEvent) => void;
