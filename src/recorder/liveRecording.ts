import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { BookRecord } from '../schema/records.ts';

/** The newest published book of a market. A live view: read it before other code runs. */
export type LiveBookView = Pick<BookRecord, 'eventTimeMs' | 'trusted' | 'underlyingPrice' | 'yes' | 'no'> & {
  /** Receive time of the last change of a best price or of the trust. */
  readonly quotedTimeMs: number;
};

/** One market that is being recorded. */
export interface LiveMarketRecording {
  /** Null before the first book; `unfinished` between two states. */
  liveBook(): LiveBookView | 'unfinished' | null;
}

/**
 * The newest state of the markets being recorded. Its forms: the recorder of this process, and a follower of the
 * processes that record.
 */
export interface LiveRecording {
  /** False while a follower receives nothing, or a recorder is late with what it received: no book is trusted then. */
  readonly isReceiving: boolean;
  /** Wall time up to which all records are known while it is not receiving; else infinite. */
  readonly knownToMs: number;
  markets(): Iterable<Market>;
  /** Null: not followed. */
  market(marketId: string): Market | null;
  /** Null: not followed. */
  recorded(marketId: string): LiveMarketRecording | null;
  readonly gaps: {
    /** The open gap of a market, or null. */
    of(marketId: string): Gap | null;
  };
  /** Book snapshots received in the last minutes. */
  readonly recent: { readonly latestTimeMs: number | null; count(nowMs: number): number };
}

/** A resolved market is forgotten this long after its end; later duplicates of its frames are then unknown. */
export const FORGET_AFTER_END_MS = 900_000;
/** How long after a market's end its outcome is awaited. */
export const OUTCOME_AWAITED_MS = 86_400_000;

/** Whether a market is followed: until its end, then until the listing has confirmed its outcome. */
export function isFollowed({ endTimeMs, confirmedTimeMs }: Market, nowMs: number): boolean {
  return endTimeMs > nowMs - (confirmedTimeMs === null ? OUTCOME_AWAITED_MS : FORGET_AFTER_END_MS);
}
