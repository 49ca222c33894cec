import type {
  BookChangeEvent,
  BookSnapshotEvent,
  TickSizeChangeEvent,
  TokenTradeEvent,
} from '../../../schema/events.ts';

/** How long an action with an unverified hash waits for more frames. */
export const ACTION_QUIET_MS = 20;

/** A frame that one connection lost may be this much older, in venue time, than the state that contains it. */
export const LATE_FRAME_MS = 1_000;

/** An event of one market that its book applies. */
export type BookEvent = BookSnapshotEvent | BookChangeEvent | TokenTradeEvent | TickSizeChangeEvent;

/** Why an action ended: its hash verified, the next action began, no frame followed, or the feed was lost. */
export type ActionEnd = 'verified' | 'superseded' | 'quiet' | 'disconnected';

/**
 * The frames of an action: level changes, a whole book of a token, a late frame, one that came too late (states that
 * should have been published lie between it and this one), or the rest of the last action.
 */
export type ActionForm = 'changes' | 'book' | 'late' | 'overdue' | 'rest';

/** A finished action: the book's levels at the time of its return are the state to publish. */
export interface FinishedAction {
  readonly end: ActionEnd;
  readonly form: ActionForm;
  /** Venue time, made monotonic per market. */
  readonly eventTimeMs: number;
  /** Receive time of the action's last frame. */
  readonly receivedTimeMs: number;
  /** Levels of either token changed since the last finished action, even if they changed back. */
  readonly changed: boolean;
  /** It includes a book sent on subscription or answered over REST, as opposed to one that follows a trade. */
  readonly isFirstBook: boolean;
  readonly trusted: boolean;
}

/** What an event did to the book; a `late` one set only levels that nothing newer had set. */
type Outcome = 'applied' | 'late' | 'stale' | 'before_snapshot' | 'unknown_token';

/** The outcome of applying an event, and the action that it finished, if any. */
export interface Applied {
  readonly outcome: Outcome;
  readonly finished: FinishedAction | null;
}

/** Most events finish no action: their results are not allocated. */
const UNFINISHED: { readonly [outcome in Outcome]: Applied } = {
  applied: { outcome: 'applied', finished: null },
  late: { outcome: 'late', finished: null },
  stale: { outcome: 'stale', finished: null },
  before_snapshot: { outcome: 'before_snapshot', finished: null },
  unknown_token: { outcome: 'unknown_token', finished: null },
};

export function applied(outcome: Outcome, finished: FinishedAction | null = null): Applied {
  return finished === null ? UNFINISHED[outcome] : { outcome, finished };
}
