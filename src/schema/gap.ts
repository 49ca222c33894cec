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
] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** A gap of one market. `startTimeMs` is the last good receipt; `endTimeMs` is null while it is open. */
export interface Gap {
  gapId: string;
  marketId: string;
  startTimeMs: number;
  endTimeMs: number | null;
  /** When it came to be known, by receipt, and its place in the order of arrival; null in rows of earlier releases. */
  knownTimeMs: number | null;
  knownSeq: number | null;
  cause: GapCause;
  /** Which feed failed, e.g. `polymarket.clob`. */
  feed: string;
  repairedBy: string | null;
}
