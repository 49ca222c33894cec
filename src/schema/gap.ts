/** Why a part of a market's recording cannot be trusted. */
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
  'retention',
  'thinned',
] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** Causes of gaps of one table alone: the operator had rows of it removed or thinned. */
export const REMOVAL_CAUSES = ['retention', 'thinned'] as const satisfies readonly GapCause[];

/** Before the name of the table, the feed of a gap whose rows were removed or thinned. */
export const REMOVAL_FEED = 'underround.';

/** The feed of the gaps of a table whose rows were removed or thinned. */
export const removalFeed = (table: string) => `${REMOVAL_FEED}${table}`;

/** Whether a gap concerns the rows of a table. A removal that names no table concerns all. */
export function isGapOf(table: string, { cause, feed }: { cause: string; feed: string }): boolean {
  const isRemoval = (REMOVAL_CAUSES as readonly string[]).includes(cause) && feed.startsWith(REMOVAL_FEED);
  return !isRemoval || feed === removalFeed(table);
}

/** The two clocks of a stored row: the venue's time (its `ts`) and the receive time. */
export interface RowTimes {
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
}

/**
 * A gap of one market, between two verified rows that do not belong to it. `startTimeMs` and `endTimeMs` are the `ts`
 * of the last durable verified row before it and of the first one after it, on the venue's clock; both ends are null
 * while it is open.
 */
export interface Gap {
  gapId: string;
  marketId: string;
  startTimeMs: number;
  endTimeMs: number | null;
  /**
   * Receive times of the same two rows. Rows of earlier releases have only receive times: there both clocks are equal.
   */
  startReceivedMs: number;
  endReceivedMs: number | null;
  /**
   * When it was detected, by receive time, and the arrival number of its detection; null in rows of earlier releases.
   */
  knownTimeMs: number | null;
  knownSeq: number | null;
  cause: GapCause;
  /** The feed that failed, e.g. `polymarket.clob`. */
  feed: string;
  repairedBy: string | null;
}
