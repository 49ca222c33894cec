/** The events that a session emits. */
import type { TakerOrder } from '../fills/engine.ts';
import type { Fill } from '../fills/walk.ts';

/** Why an order got nothing. */
export type MissReason =
  /** Nothing was for sale (bid). */
  | 'no_depth'
  /** All that was for sale (bid) was beyond the order's limit. */
  | 'price'
  /** The book in force was not proven, or lay in a gap. */
  | 'untrusted'
  /** No later message of the market came. */
  | 'unconfirmed';

/** Outcomes of the orders of one session or of several. */
export interface OrderCounts {
  readonly placed: number;
  /** In whole or in part, and not taken back. */
  readonly filled: number;
  readonly missed: Readonly<Record<MissReason, number>>;
  /** Filled, then taken back because a gap reached back over the fill. */
  readonly takenBack: number;
}

export const NO_ORDERS: OrderCounts = {
  ...{ placed: 0, filled: 0, takenBack: 0 },
  missed: { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 },
};

/** What a session did, in order. `knownMs`: receipt of the row at which it was known. */
export type SessionEvent =
  | { readonly kind: 'order'; readonly knownMs: number; readonly dueMs: number; readonly order: TakerOrder }
  | {
      readonly kind: 'fill';
      readonly knownMs: number;
      readonly timeMs: number;
      readonly order: TakerOrder;
      readonly fill: Fill;
    }
  | {
      readonly kind: 'miss';
      readonly knownMs: number;
      readonly order: TakerOrder;
      readonly reason: MissReason;
    }
  /** A gap that reaches back to `sinceMs` was found: what was dealt since is taken back. */
  | { readonly kind: 'taken_back'; readonly knownMs: number; readonly sinceMs: number };

export type SessionListener = (event: SessionEvent) => void;
