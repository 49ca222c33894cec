/** What a session says of what it does. */
import type { TakerOrder } from '../fills/engine.ts';
import type { Fill } from '../fills/walk.ts';

/** Why an order got nothing. */
export type MissReason =
  /** Nothing was for sale (bid) within the limit. */
  | 'no_depth'
  /** The book in force was not proven, or lay in a gap. */
  | 'untrusted'
  /** No later message of the market came. */
  | 'unconfirmed';

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
