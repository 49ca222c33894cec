/** Why a stretch of a market's recording cannot be trusted. */
export const GAP_CAUSES = [
  'disconnected',
  'silent_feed',
  'silent_market',
  'book_mismatch',
  'crossed_book',
  'frame_rejected',
  'clock_step',
  'process_down',
  'store_down',
  'late_feed',
  'venue_restart',
  'data_lost',
] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** Both clocks of one stored row: the venue's time as its `ts` has it, and ours when it was received. */
export interface RowTimes {
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
}

/**
 * A gap of one market, between two proven rows that lie outside it. `startTimeMs` and `endTimeMs` are the `ts` of the
 * last durable proven row before and of the first after it, on the venue's clock; both ends are null while it is open.
 */
export interface Gap {
  gapId: string;
  marketId: string;
  startTimeMs: number;
  endTimeMs: number | null;
  /** Receipts of the same two rows. Rows of earlier releases have receipts alone: there the two clocks are one. */
  startReceivedMs: number;
  endReceivedMs: number | null;
  /** When it came to be known, by receipt, and its place in the order of arrival; null in rows of earlier releases. */
  knownTimeMs: number | null;
  knownSeq: number | null;
  cause: GapCause;
  /** Which feed failed, e.g. `polymarket.clob`. */
  feed: string;
  repairedBy: string | null;
}
