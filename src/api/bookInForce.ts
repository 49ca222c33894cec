/** Finds the book that an answer about one moment shows: from memory where it is the newest, else from the store. */

import type { StoreLag } from '../http/lifecycle.ts';
import type { FollowedMarkets, NewestBook } from '../recorder/marketMemory.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Gap } from '../schema/gap.ts';
import { findBook } from '../store/queries/orderbook.ts';
import type { StoreReader } from '../store/reader.ts';
import type { BookRow } from '../store/tables/bookRowReader.ts';
import { LiveBookRow } from '../stream/bookText.ts';

/**
 * The last book of a market that nobody follows is called untrusted while the store is further behind than this: its
 * newest rows may wait. Half of it is how long a row waits at rest.
 */
export const LAG_TRUSTED_MS = 2_000;

export interface BookDependencies {
  readonly store: StoreReader;
  readonly live: Pick<StoreLag, 'storeLagMs'> & { readonly followed: FollowedMarkets };
  readonly clock: Clock;
}

interface Moment {
  readonly marketId: string;
  /** Null: now. */
  readonly atMs: number | null;
}

const liveRow = new LiveBookRow();

/** Everything of this moment is stored: nothing newer of it can be waiting. */
function isStored({ live, clock }: Pick<BookDependencies, 'live' | 'clock'>, atMs: number | null): boolean {
  return atMs !== null && atMs <= clock.now() - live.storeLagMs();
}

/**
 * The newest book of a followed market, where it is the one in force. It is trusted where its state is proven and no gap
 * covers it or the time.
 * @returns Null: `storedBook` has to be asked. A row to be read before anything else runs.
 */
export function newestBook(
  parts: Pick<BookDependencies, 'live' | 'clock'>,
  { marketId, atMs }: Moment,
): BookRow | null {
  if (isStored(parts, atMs)) return null;
  const { followed } = parts.live;
  const newest = followed.book(marketId);
  if (newest === null || (atMs !== null && atMs < newest.eventTimeMs)) return null;
  const trusted = newest.trusted && !isInGap(newest, atMs, followed.gaps(marketId));
  return liveRow.of({ ...newest, trusted });
}

/**
 * The last stored book at or before a time; untrusted where a newer one may be waiting, or a gap that covers the time.
 * @returns Null before the first.
 */
export async function storedBook(
  parts: BookDependencies,
  { marketId, atMs }: Moment,
  signal: AbortSignal,
): Promise<BookRow | null> {
  const { live, store } = parts;
  const { followed } = live;
  // Of a followed market memory holds the newest state alone: those between it and the stored ones are waiting.
  const lagMsMax = followed.book(marketId) === null ? LAG_TRUSTED_MS : 0;
  const mayBeOld = !isStored(parts, atMs) && live.storeLagMs() > lagMsMax;
  const book = await findBook(store, { marketId, atMs }, signal);
  const isDoubted = mayBeOld || followed.gaps(marketId).some((gap) => coversTime(gap, atMs));
  if (book !== null && isDoubted) book.trusted = false;
  return book;
}

/** As `TRUSTED_AT` decides it for stored books. */
function isInGap(book: NewestBook, atMs: number | null, gaps: readonly Gap[]): boolean {
  return gaps.some((gap) => liesInside(book, gap) || coversTime(gap, atMs));
}

/** Among rows stamped like those at the gap's ends the receipt decides. */
function liesInside({ eventTimeMs, receivedTimeMs }: NewestBook, gap: Gap): boolean {
  const { startTimeMs, startReceivedMs } = gap;
  const endTimeMs = gap.endTimeMs ?? Number.POSITIVE_INFINITY;
  const endReceivedMs = gap.endReceivedMs ?? Number.POSITIVE_INFINITY;
  if (eventTimeMs > startTimeMs && eventTimeMs < endTimeMs) return true;
  if (eventTimeMs < startTimeMs || eventTimeMs > endTimeMs) return false;
  return receivedTimeMs > startReceivedMs && receivedTimeMs < endReceivedMs;
}

/** @param atMs Null: now, which only an open gap covers. */
function coversTime({ startTimeMs, endTimeMs }: Gap, atMs: number | null): boolean {
  if (atMs === null) return endTimeMs === null;
  return startTimeMs < atMs && (endTimeMs === null || atMs < endTimeMs);
}
